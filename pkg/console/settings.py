"""Build options that are also settings; an untrusted settings file controls only harmless ones."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import click

from pkg.config import SETTINGS, Settings
from pkg.console.streams import decode_word

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def decode_option(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Decode the value of an option or argument as UTF-8 in any locale."""
    return value if value is None else decode_word(value)


def decode_options(ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Decode the values of a repeatable option as UTF-8 in any locale."""
    return tuple(map(decode_word, values))


def split_names(ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Parse names separated by commas or given several times."""
    return tuple(name for some in values for name in decode_word(some).split(",") if name)


def combine(*options: Decorator) -> Decorator:
    """Compose several decorators into one; help lists the options in this order."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


class Switch(click.Choice[str]):
    """A choice whose option was once a switch: also accepts `true` and `false`, as in settings."""

    def __init__(self, choices: Sequence[str], on: str, off: str) -> None:
        super().__init__(choices)
        self._words = {
            **dict.fromkeys(("true", "1", "yes", "on"), on),
            **dict.fromkeys(("false", "0", "no", "off"), off),
        }

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Convert a choice, or a word for on or off."""
        return super().convert(self._words.get(str(value).lower(), value), param, ctx)


_KEPT = f"{__name__}.settings"  # key in the metadata that contexts of commands share


class SettingOption(click.Option):
    """An option whose value may come from a settings file, which must be trusted if the setting requires it."""

    def __init__(
        self, *declared: Any, only_with: str | None = None, or_with: str = "", not_with: Sequence[str] = (), **more: Any
    ) -> None:
        """only_with: the switch without which the value is not used, if the command has it.

        or_with: an option and its value with which it is used too, such as rerank_hits=questions.

        not_with: options with which it is not used.
        """
        super().__init__(*declared, **more)
        self._only_with, self._or_with, self._not_with = only_with, or_with, not_with

    @property
    def setting(self) -> str:
        """Return the name of the setting, which is that of the flag; the parameter may have another name."""
        return name_setting(self.opts[0])

    def get_default(self, ctx: click.Context, call: bool = True) -> Any:
        """Return the value of a settings file, else the default of the option."""
        values = _find_settings(ctx).values
        if self.setting not in values:
            return super().get_default(ctx, call=call)
        return (values[self.setting],) if self.multiple else values[self.setting]

    def value_from_envvar(self, ctx: click.Context) -> Any:
        """Return the value of the variable, which is one value also for a repeatable option."""
        value = self.resolve_envvar_value(ctx)
        return (value,) if self.multiple and value else super().value_from_envvar(ctx)

    def consume_value(self, ctx: click.Context, opts: Any) -> tuple[Any, click.core.ParameterSource]:
        """Return the value and its source, which for one of a settings file is the default map."""
        value, source = super().consume_value(ctx, opts)
        is_by_file = source is click.core.ParameterSource.DEFAULT and self.setting in _find_settings(ctx).values
        return value, click.core.ParameterSource.DEFAULT_MAP if is_by_file else source

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """Return the converted value; for a value from a file, raises the errors of Settings.check."""
        is_by_file = ctx.get_parameter_source(str(self.name)) is click.core.ParameterSource.DEFAULT_MAP
        if is_by_file and self.is_used(ctx) and not ctx.resilient_parsing:
            _find_settings(ctx).check(self.setting)
        return super().process_value(ctx, value)

    def is_used(self, ctx: click.Context) -> bool:
        """Return whether the command uses the value; typed options are already in ctx.params."""
        if any(ctx.params.get(name) for name in self._not_with):
            return False
        name, _, value = self._or_with.partition("=")
        if name and ctx.params.get(name) == value:
            return True
        has_switch = any(each.name == self._only_with for each in ctx.command.params)
        return bool(ctx.params.get(str(self._only_with))) or not has_switch


def name_setting(flag: str) -> str:
    """Return the name of the setting of a flag: top_k for --top-k, prune for --prune/--no-prune."""
    return flag.partition("/")[0].strip("-").replace("-", "_")


def setting(flag: str, *short: str, help: str, type: click.ParamType[Any] | None = None, **more: Any) -> Decorator:
    """Build an option that a variable and a settings file can also set: --top-k, PKG_TOP_K and top_k are one setting.

    A flag with a slash is a pair of switches. A setting that pkg.config does not list as harmless needs a trusted file.
    """
    name = name_setting(flag)
    is_switch = "/" in flag
    kinds = (bool,) if is_switch else _list_kinds(type)
    assert SETTINGS[name] == kinds, f"the setting {name} is {SETTINGS[name]} in pkg.config"
    is_shown = not is_switch and isinstance(more.get("default"), str | int)
    variable = f"PKG_{name.upper()}"
    more |= {"envvar": variable, "type": type, "help": help, "show_default": is_shown}
    return click.option(flag, *short, cls=SettingOption, **more)


def _list_kinds(type: click.ParamType[Any] | None) -> tuple[builtins.type, ...]:
    """Return the types in which a settings file may write a value of an option."""
    if isinstance(type, Switch):
        return str, bool
    return (int,) if isinstance(type, click.IntRange) else (str,)


source_setting = partial(setting, "--source", callback=decode_option)
"""The option --source; each command adds its help."""

jobs_setting = partial(setting, "--jobs", type=click.IntRange(0), default=0)
"""The option --jobs, the number of concurrent workers; each command adds its help."""


def keep_settings(ctx: click.Context, settings: Settings) -> None:
    """Store the settings of files where options of subcommands look for them."""
    ctx.meta[_KEPT] = settings


def take_setting(ctx: click.Context, name: str) -> Any:
    """Return the value of a setting from a file, or None; raises the errors of Settings.check."""
    settings = _find_settings(ctx)
    if name not in settings.values:
        return None
    settings.check(name)
    return settings.values[name]


def is_by_default(ctx: click.Context, name: str) -> bool:
    """Return whether an option has its default value."""
    return ctx.get_parameter_source(name) is click.core.ParameterSource.DEFAULT


def is_typed(ctx: click.Context, name: str) -> bool:
    """Return whether the value of an option was given on the command line."""
    return ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def is_by_environment(ctx: click.Context, name: str) -> bool:
    """Return whether the value of an option comes from an environment variable."""
    return ctx.get_parameter_source(name) is click.core.ParameterSource.ENVIRONMENT


def name_origin(fault: click.BadParameter) -> str | None:
    """Return the variable or settings file that an invalid value came from; None if it was typed."""
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


def find_model(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Decode the name of a model, and replace the short name of one on this machine by its whole name.

    A variable or settings file may name a model that the command does not use, which is not looked for. Raises
    UsageError for a short name that no model, or more than one, has.
    """
    if value is None:
        return None
    name = decode_word(value)
    is_used = not isinstance(parameter, SettingOption) or is_typed(ctx, str(parameter.name)) or parameter.is_used(ctx)
    return _find_whole_name(name) if is_used else name


def find_each_model(ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Find the models of a repeatable option."""
    return tuple(_find_whole_name(decode_word(value)) for value in values)


def _find_whole_name(name: str) -> str:
    from pkg.models.registry import KINDS, TEMPLATE

    if name == TEMPLATE or name.partition(":")[0] in KINDS:
        return name
    from pkg.models.found_models import find_models, name_model

    return name_model(name, find_models())


model_setting = partial(
    setting,
    "--model",
    metavar="MODEL",
    callback=find_model,
)
"""The option --model; each command adds its help."""

models_setting = partial(
    setting,
    "--model",
    "models",
    metavar="MODEL",
    multiple=True,
    callback=find_each_model,
)
"""The option --model of commands that compare several; each command adds its help."""
