"""Render the reference pages of the site from the code: commands, settings, the HTTP service and the Python API."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

import pkg
import pkg.lab
from pkg.cli import main
from pkg.config import HARMLESS, SETTINGS
from pkg.console.settings import SettingOption
from pkg.service.http.openapi import describe_service
from pkg.service.operations.catalogue import OPERATIONS

SPECIAL = re.compile(r"([\\`*_<>|\[\]])")  # characters with a meaning in Markdown


def render_pages() -> dict[str, str]:
    """Return the reference pages by their paths in the site."""
    return {
        "reference/options.md": render_commands(main),
        "reference/settings.md": render_settings(main),
        "reference/http.md": render_service(describe_service(OPERATIONS, needs_token=False)),
        "reference/python.md": render_api({"pkg": pkg.__all__, "pkg.lab": pkg.lab.__all__}),
    }


def escape(text: str) -> str:
    """Return a text as one line of Markdown that shows the same characters."""
    return SPECIAL.sub(r"\\\1", " ".join(text.split()))


def render_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table, and an empty line; no lines without rows."""
    lines = [head, ["---"] * len(head), *rows] if rows else []
    return [*(f"| {' | '.join(cells)} |" for cells in lines), ""]


def list_commands(group: click.Group, name: str = "pkg") -> Iterator[tuple[str, click.Command]]:
    """Iterate over a group and all commands below it, with their full names; hidden ones are left out."""
    yield name, group
    for word, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from list_commands(command, f"{name} {word}")
        elif not command.hidden:
            yield f"{name} {word}", command


def render_commands(group: click.Group) -> str:
    """Return the page of all commands with their options, from the help of each."""
    lines = ["# Options of every command", ""]
    lines += ["The same as `pkg COMMAND --help`. [Commands](../commands.md) explains them in context.", ""]
    for name, command in list_commands(group):
        lines += render_command(name, command)
    return "\n".join(lines)


def render_command(name: str, command: click.Command) -> list[str]:
    """Return the section of one command: usage, help, example and options."""
    context = click.Context(command, info_name=name)
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    paragraphs = re.split(r"\n\s*\n", (command.help or "").replace("\b\n", ""))
    lines = [f"## {name}", "", "```text", usage, "```", ""]
    lines += [line for paragraph in paragraphs if paragraph.strip() for line in (escape(paragraph), "")]
    if command.epilog:
        lines += ["```text", command.epilog.replace("\b\n", ""), "```", ""]
    records = [each.get_help_record(context) for each in command.params if isinstance(each, click.Option)]
    rows = [(f"`{flags.replace('|', '¦')}`", escape(text)) for flags, text in filter(None, records)]
    return lines + render_table(("option", "description"), [(flags.replace("¦", r"\|"), text) for flags, text in rows])


def render_settings(group: click.Group) -> str:
    """Return the page of all settings: type, variable, flag, default, and whether a file needs trust to set it."""
    rows = []
    options = find_settings(group)
    for name in sorted(SETTINGS):
        option, command = options[name]
        kinds = " or ".join(each.__name__ for each in SETTINGS[name])
        flag = ", ".join(f"`{each}`" for each in (*option.opts, *option.secondary_opts) if each.startswith("--"))
        default = option.get_default(click.Context(command), call=False)
        shown = f"`{default}`" if isinstance(default, bool | int | float | str) else ""
        trust = "no" if name in HARMLESS else "yes"
        rows.append((f"`{name}`", kinds, f"`PKG_{name.upper()}`", flag, shown, trust, escape(option.help or "")))
    head = ("setting", "type", "variable", "flag", "default", "needs trust", "description")
    lines = ["# All settings", ""]
    lines += ["A flag precedes a variable, a variable a settings file: see [Settings](../commands.md#settings).", ""]
    return "\n".join(lines + render_table(head, rows))


def find_settings(group: click.Group) -> dict[str, tuple[SettingOption, click.Command]]:
    """Return the option of each setting, with the first command that has it."""
    found: dict[str, tuple[SettingOption, click.Command]] = {}
    for _, command in list_commands(group):
        for option in command.params:
            if isinstance(option, SettingOption):
                found.setdefault(option.setting, (option, command))
    return found


def render_service(document: Mapping[str, Any]) -> str:
    """Return the page of the HTTP service from its OpenAPI document."""
    schemas = document["components"]["schemas"]
    lines = ["# HTTP operations", ""]
    lines += ["From the document that the service returns at `/openapi.json`. [HTTP](../serve.md) explains it.", ""]
    for path, methods in document["paths"].items():
        operation = methods.get("post") or methods["get"]
        lines += [f"## {path}", "", f"`{'`, `'.join(map(str.upper, methods))}`. {escape(operation['summary'])}", ""]
        body = operation.get("requestBody")
        request = body["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2] if body else None
        lines += render_schema(schemas[request]) if request else []
        answers = [
            (status, escape(answer["description"]), ", ".join(f"`{kind}`" for kind in answer.get("content", {})))
            for status, answer in operation["responses"].items()
        ]
        lines += render_table(("status", "meaning", "content"), answers)
    lines += ["# Objects", ""]
    for name, schema in schemas.items():
        if not name.endswith("Request"):
            lines += [f"## {name}", "", escape(schema.get("description", "")), "", *render_schema(schema)]
    return "\n".join(lines)


def render_schema(schema: Mapping[str, Any]) -> list[str]:
    """Return the table of the properties of an object."""
    required = schema.get("required", [])
    rows = [
        (
            f"`{name}`",
            escape(describe_type(each)),
            "required" if name in required else f"`{each['default']}`" if each.get("default") is not None else "",
            escape(each.get("description", "")),
        )
        for name, each in schema.get("properties", {}).items()
    ]
    return render_table(("name", "type", "default", "description"), rows)


def describe_type(schema: Mapping[str, Any]) -> str:
    """Return the type of a JSON schema in words, such as `list of string`."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "enum" in schema:
        return " or ".join(map(str, schema["enum"]))
    if "anyOf" in schema:
        return " or ".join(describe_type(each) for each in schema["anyOf"] if each.get("type") != "null")
    if schema.get("type") == "array":
        return f"list of {describe_type(schema.get('items', {}))}"
    return str(schema.get("type", "any"))


def render_api(exported: Mapping[str, Sequence[str]]) -> str:
    """Return the page of the Python API: one directive of mkdocstrings for each exported name."""
    lines = ["# Python API", "", "Every exported name. [Python](../python.md) shows them in use.", ""]
    for module, names in exported.items():
        functions_first = sorted(names, key=lambda name: (name[0].isupper(), name))
        lines += [f"## {module}", "", *(line for name in functions_first for line in (f"::: {module}.{name}", ""))]
    return "\n".join(lines)
