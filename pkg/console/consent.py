"""Ask the person at the terminal before code leaves the machine, and tell them what takes long."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pkg.console.terminal import can_ask, show_controls

if TYPE_CHECKING:
    from pkg.indexing import BuildOptions, Progress


def choose_build_options(options: dict[str, Any], progress: Progress | None) -> BuildOptions:
    """Take from the options of `pkg build` those that say how it works, and let it speak and ask."""
    from pkg.indexing import BuildOptions

    agree = Consent(is_given=options.pop("yes"))
    return BuildOptions(options.pop("encoder"), options.pop("jobs"), progress, say, agree)


def say(text: str) -> None:
    """Tell on standard error what is about to happen."""
    click.echo(f"pkg: {show_controls(text)}", err=True)


class Consent:
    """The answer to whether code may be sent: given beforehand, or asked for once in a process."""

    def __init__(self, is_given: bool) -> None:
        self._is_given = is_given

    def __call__(self, text: str) -> bool:
        """Show what would be sent; ask when nobody has agreed yet and somebody is there to answer."""
        if self._is_given:
            say(text)
        elif can_ask():
            self._is_given = click.confirm(f"pkg: {show_controls(text)}.\nSend it?", err=True)
        return self._is_given
