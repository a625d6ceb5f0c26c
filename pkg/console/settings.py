"""Make options that are settings as well; a settings file decides nothing that its user has not trusted it with."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import click

from pkg.config import HARMLESS, Settings
from pkg.console.streams import decode_word

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


_KEPT = f"{__name__}.settings"  # in what contexts of commands share


class SettingOption(click.Option):
    """An option whose value may come from a settings file, if that is trusted where trust is needed."""

    def __init__(self, *declared: Any, only_with: str | None = None, not_with: Sequence[str] = (), **more: Any) -> None:
        """only_with: the switch without which the value is not used, where the command has it.

        not_with: options with which it is not used.
        """
        super().__init__(*declared, **more)
        self._only_with, self._not_with = only_with, not_with

    @property
    def setting(self) -> str:
        """Return the name of the setting, which is that of the flag; the parameter may have another name."""
        return name_setting(self.opts[0])

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """Read the value; raises what Settings.check raises for one of a file."""
        is_by_file = ctx.get_parameter_source(str(self.name)) is click.core.ParameterSource.DEFAULT_MAP
        if is_by_file and self._is_used(ctx) and not ctx.resilient_parsing:
            _find_settings(ctx).check(self.setting)
        return super().process_value(ctx, value)

    def _is_used(self, ctx: click.Context) -> bool:
        """Return whether the command uses the value; what was typed has been read by now, and is in ctx.params."""
        if any(ctx.params.get(name) for name in self._not_with):
            return False
        has_switch = any(each.name == self._only_with for each in ctx.command.params)
        return bool(ctx.params.get(str(self._only_with))) or not has_switch


SETTINGS: dict[str, tuple[type, ...]] = {}
"""The types of every setting that a file may hold; setting() enters each where its option is made."""


def name_setting(flag: str) -> str:
    """Return the name of the setting of a flag: top_k for --top-k, prune for --prune/--no-prune."""
    return flag.partition("/")[0].strip("-").replace("-", "_")


def setting(flag: str, *short: str, help: str, type: click.ParamType[Any] | None = None, **more: Any) -> Decorator:
    """Make an option that a variable and a settings file give as well: --top-k, PKG_TOP_K and top_k are one setting.

    A flag with a slash is a pair of switches. A file needs trust for a setting that pkg.config does not call harmless.
    """
    name = name_setting(flag)
    is_switch = "/" in flag
    kinds = (bool,) if is_switch else _list_kinds(type)
    assert SETTINGS.setdefault(name, kinds) == kinds, f"the setting {name} has two types"
    is_shown = not is_switch and isinstance(more.get("default"), str | int)
    variable = f"PKG_{name.upper()}"
    more |= {"envvar": variable, "type": type, "help": help, "show_default": is_shown}
    return click.option(flag, *short, cls=SettingOption, **more)


def _list_kinds(type: click.ParamType[Any] | None) -> tuple[builtins.type, ...]:
    """Give the types that a settings file may write a value of an option in."""
    if isinstance(type, Switch):
        return str, bool
    return (int,) if isinstance(type, click.IntRange) else (str,)


source_setting = partial(setting, "--source", callback=decode_option)
"""Which source is meant; help says for what."""

jobs_setting = partial(setting, "--jobs", type=click.IntRange(0), default=0)
"""How many work at one time; help says what they are."""


def keep_settings(ctx: click.Context, settings: Settings) -> None:
    """Keep the settings of files where options of commands below look for them."""
    ctx.meta[_KEPT] = settings


def take_setting(ctx: click.Context, name: str) -> Any:
    """Return the value of a setting from a file, None without one; raises what Settings.check raises."""
    settings = _find_settings(ctx)
    if name not in settings.values:
        return None
    settings.check(name)
    return settings.values[name]


def spread_settings(commands: Mapping[str, click.Command], settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Set the defaults of each command from the settings files.

    An argument, or an option that may be given several times, only bears the name of a setting; so does an option that
    is no setting there, and it takes none that needs trust.
    """
    return {
        name: {key: value for key, value in settings.items() if key not in _list_strange(command)}
        | {str(each.name): settings[each.setting] for each in _list_options(command) if each.setting in settings}
        for name, command in commands.items()
    }


def _list_options(command: click.Command) -> list[SettingOption]:
    return [each for each in command.params if isinstance(each, SettingOption)]


def _list_strange(command: click.Command) -> set[str | None]:
    return {
        each.name
        for each in command.params
        if not isinstance(each, SettingOption)
        and (isinstance(each, click.Argument) or each.multiple or each.name not in HARMLESS)
    }


def is_by_default(ctx: click.Context, name: str) -> bool:
    """Tell whether nobody gave the value of an option."""
    return ctx.get_parameter_source(name) is click.core.ParameterSource.DEFAULT


def is_typed(ctx: click.Context, name: str) -> bool:
    """Return whether the value of an option was given on the command line."""
    return ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


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
        name = fault.param.setting if isinstance(fault.param, SettingOption) else fault.param.name
        return f"the setting '{name}' in {_find_settings(fault.ctx).files[name].path}"
    return None


def _find_settings(ctx: click.Context) -> Settings:
    settings: Settings = ctx.meta.get(_KEPT, Settings())
    return settings


model_setting = partial(
    setting,
    "--model",
    metavar="MODEL",
    callback=decode_option,
)
"""Which text model is meant; help says for what."""
