"""The documentation covers the command line, and its links lead somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click

from pkg.cli import main
from pkg.console.options import SETTINGS

ROOT = Path(__file__).resolve().parents[2]
COMMANDS_PAGE = ROOT / "docs" / "commands.md"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
RELATIVE_LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)")


def walk_commands(group: click.Group, prefix: str = "pkg") -> Iterator[tuple[str, click.Command]]:
    for name, command in sorted(group.commands.items()):
        if isinstance(command, click.Group):
            yield from walk_commands(command, f"{prefix} {name}")
        elif not command.hidden:
            yield f"{prefix} {name}", command


def walk_options(command: click.Command) -> Iterator[str]:
    for option in command.params:
        if isinstance(option, click.Option) and not option.hidden:
            yield from (flag for flag in (*option.opts, *option.secondary_opts) if flag.startswith("--"))


def mentions(text: str, words: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(words)}(?![\w-])", text) is not None


def read_reference() -> str:
    return "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "README.md", COMMANDS_PAGE))


def test_every_command_is_documented() -> None:
    reference = read_reference()
    assert [name for name, _ in walk_commands(main) if not mentions(reference, name)] == []


def test_every_option_is_documented() -> None:
    reference = read_reference()
    options = [("pkg", flag) for flag in walk_options(main)]
    options += [(name, flag) for name, command in walk_commands(main) for flag in walk_options(command)]
    assert [f"{name} {flag}" for name, flag in options if not mentions(reference, flag)] == []


def test_the_help_of_every_command_shows_an_example_of_it() -> None:
    without = [
        name
        for name, command in walk_commands(main)
        if not mentions(f"{command.help or ''}\n{command.epilog or ''}", name)
    ]
    assert without == []


def test_every_option_says_what_it_does() -> None:
    silent = [
        f"{name} {option.opts[-1]}"
        for name, command in walk_commands(main)
        for option in command.params
        if isinstance(option, click.Option) and not option.help
    ]
    assert silent == []


def test_relative_links_lead_to_files_that_exist() -> None:
    links = [(page, link) for page in PAGES for link in RELATIVE_LINK.findall(page.read_text(encoding="utf-8"))]
    assert [f"{page.relative_to(ROOT)}: {link}" for page, link in links if not (page.parent / link).exists()] == []


def test_every_setting_is_listed_with_its_variable_and_its_flag() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \| `(\w+)` \| `(--[\w-]+)`", COMMANDS_PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    known = [(name, f"PKG_{name.upper()}", f"--{name.replace('_', '-')}") for name in SETTINGS]
    assert sorted(rows) == sorted(known)
