"""Make options that are settings as well, and see that no settings file of strangers decides what it should not."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from pkg.config import find_settings
from pkg.console.streams import decode_word
from pkg.errors import UsageError

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def decode_option(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Read the value of an option or argument as UTF-8 whatever the locale."""
    return value if value is None else decode_word(value)


def decode_options(ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Read the values of an option that is given several times as UTF-8 whatever the locale."""
    return tuple(map(decode_word, values))


def split_names(ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Read names from an option that takes several, with commas between them or given several times."""
    return tuple(name for some in values for name in decode_word(some).split(",") if name)


def combine(*options: Decorator) -> Decorator:
    """Make one decorator of many; help lists the options in this order."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


class Switch(click.Choice[str]):
    """A choice whose option was once a switch: `true` and `false`, as settings have them, are two of the choices."""

    def __init__(self, choices: Sequence[str], on: str, off: str) -> None:
        super().__init__(choices)
        self._words = {
            **dict.fromkeys(("true", "1", "yes", "on"), on),
            **dict.fromkeys(("false", "0", "no", "off"), off),
        }

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Read a choice, or a word for on or off."""
        return super().convert(self._words.get(str(value).lower(), value), param, ctx)


SETTINGS: dict[str, tuple[type, ...]] = {}
"""The types of every setting that a file may hold; setting() enters each where its option is made."""


def setting(flag: str, *short: str, help: str, type: click.ParamType[Any] | None = None, **more: Any) -> Decorator:
    """Make an option that a variable and a settings file give as well: --top-k, PKG_TOP_K and top_k are one setting.

    A flag with a slash is a pair of switches.
    """
    name = flag.partition("/")[0].strip("-").replace("-", "_")
    is_switch = "/" in flag
    kinds = (bool,) if is_switch else _list_kinds(type)
    assert SETTINGS.setdefault(name, kinds) == kinds, f"the setting {name} has two types"
    is_shown = not is_switch and isinstance(more.get("default"), str | int)
    variable = f"PKG_{name.upper()}"
    return click.option(flag, *short, envvar=variable, type=type, help=help, show_default=is_shown, **more)


def _list_kinds(type: click.ParamType[Any] | None) -> tuple[builtins.type, ...]:
    """Give the types that a settings file may write a value of an option in."""
    if isinstance(type, Switch):
        return str, bool
    return (int,) if isinstance(type, click.IntRange) else (str,)


source_setting = partial(setting, "--source", callback=decode_option)
"""Which source is meant; help says for what."""

jobs_setting = partial(setting, "--jobs", type=click.IntRange(0), default=0)
"""How many work at one time; help says what they are."""


def check_follow_links(ctx: click.Context, parameter: click.Parameter, value: bool) -> bool:
    """Let no settings file that is a part of what is built ask for this: a cloned repository could bring one.

    A UsageError where it does.
    """
    file = _find_own_settings([str(ctx.params.get("path"))]) if value and is_by_file(ctx, str(parameter.name)) else None
    if file is not None:
        raise UsageError(
            f"setting 'follow_links' in {file} is a part of the repository that is built, which may not ask for it"
            " itself; give --follow-links or --no-follow-links"
        )
    return value


def spread_settings(commands: Mapping[str, click.Command], settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Give each command the settings, without those that only an argument of it bears the name of."""
    return {
        name: {key: value for key, value in settings.items() if key not in _list_arguments(command)}
        for name, command in commands.items()
    }


def _list_arguments(command: click.Command) -> set[str | None]:
    return {each.name for each in command.params if isinstance(each, click.Argument)}


def is_by_file(ctx: click.Context, name: str) -> bool:
    """Tell whether the value of an option comes from a settings file."""
    return ctx.get_parameter_source(name) is click.core.ParameterSource.DEFAULT_MAP


def is_by_default(ctx: click.Context, name: str) -> bool:
    """Tell whether nobody gave the value of an option."""
    return ctx.get_parameter_source(name) is click.core.ParameterSource.DEFAULT


def is_by_environment(ctx: click.Context, name: str) -> bool:
    """Return whether the value of an option comes from a variable of the environment."""
    return ctx.get_parameter_source(name) is click.core.ParameterSource.ENVIRONMENT


def name_origin(fault: click.BadParameter) -> str | None:
    """Name the variable or the settings file that a wrong value of an option came from; None where it was typed."""
    if fault.ctx is None or fault.param is None or fault.param.name is None:
        return None
    origin = fault.ctx.get_parameter_source(fault.param.name)
    if origin is click.core.ParameterSource.ENVIRONMENT:
        return f"the variable {fault.param.envvar}"
    if origin is click.core.ParameterSource.DEFAULT_MAP:
        return f"the setting '{fault.param.name}' in {find_settings(Path.cwd())}"
    return None


def _find_own_settings(roots: Iterable[str]) -> Path | None:
    """Find the settings file of the current folder, if it is a part of one of these repositories."""
    file = find_settings(Path.cwd())
    for root in roots if file else ():
        built = Path(root).resolve()
        work_tree = next((each for each in (built, *built.parents) if (each / ".git").exists()), built)
        if file is not None and not {built, work_tree}.isdisjoint(file.resolve().parents):
            return file
    return None


def check_settings(model: str, roots: Iterable[str]) -> None:
    """Let no settings file that is a part of the code name the model that the code is given to, or that is loaded.

    A UsageError where it does.
    """
    file = _find_own_settings(roots)
    if file is not None:
        from pkg.services import conceal_name  # brings a parser of mail with it, which no other start needs

        raise UsageError(
            f"setting 'model' in {file} is a part of the code that '{conceal_name(model)}' would get, which may not"
            " choose it itself; give --model"
        )


model_setting = partial(
    setting,
    "--model",
    metavar="MODEL",
    callback=decode_option,
)
"""Which text model is meant; help says for what."""
