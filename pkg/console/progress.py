"""Report progress on standard error, and ask for consent before code leaves the machine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import click

from pkg.api import Listener
from pkg.console.streams import can_ask, choose_ask
from pkg.quoting.hidden_characters import spell_hidden

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import ProgressColumn


class ProgressBar:
    """Shows one bar at a time, from the first report on."""

    def __init__(self) -> None:
        self._bar: Bar | None = None
        self._shown = ""

    def read(self, done: int, total: int) -> None:
        """Show that `done` of `total` bytes were read; a total of 0 is unknown."""
        from rich.progress import DownloadColumn, TimeElapsedColumn

        bar = self._switch("reading", DownloadColumn(), TimeElapsedColumn())
        bar.update(bar.task_ids[0], completed=done, total=total or None)

    def enter(self, stage: str) -> None:
        """Show the stage and its elapsed time, for work of unknown size."""
        from rich.progress import TimeElapsedColumn

        self._switch(stage, TimeElapsedColumn())

    def watch(self, index: str, percent: float) -> None:
        """Show the percentage to which a server's index is populated."""
        from rich.progress import TaskProgressColumn, TimeElapsedColumn

        bar = self._switch(f"indexing {index}", TaskProgressColumn(), TimeElapsedColumn())
        bar.update(bar.task_ids[0], completed=percent, total=100)

    def rank(self, ranked: int, skipped: int) -> None:
        """Show the numbers of tasks ranked and left out."""
        from rich.progress import TimeElapsedColumn

        bar = self._switch("ranking", TimeElapsedColumn())
        bar.update(bar.task_ids[0], description=f"{ranked:,} ranked, {skipped:,} left out")

    def enhance(self, done: int, total: int, seconds: float) -> None:
        """Show that docstrings of `done` of `total` functions were written, the rate, and the remaining time."""
        from rich.progress import MofNCompleteColumn, TimeRemainingColumn

        bar = self._switch("enhancing", MofNCompleteColumn(), TimeRemainingColumn())
        rate = f"{done / seconds:,.1f} functions a second" if seconds else ""
        bar.update(bar.task_ids[0], completed=done, total=total, description=f"enhancing, {rate}")

    def count(self, what: str, done: int, total: int) -> None:
        """Show that `done` of `total` things of one kind are done, and the remaining time."""
        from rich.progress import MofNCompleteColumn, TimeRemainingColumn

        bar = self._switch(what, MofNCompleteColumn(), TimeRemainingColumn())
        bar.update(bar.task_ids[0], completed=done, total=total)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def _switch(self, shown: str, *columns: ProgressColumn) -> Bar:
        """Return the bar for the current display, replacing any other."""
        if self._bar is None or self._shown != shown:
            self.close()
            self._bar, self._shown = _start_bar(shown, columns), shown
        return self._bar


def _start_bar(shown: str, columns: tuple[ProgressColumn, ...]) -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    text = TextColumn("{task.description}")
    bar = Progress(text, BarColumn(), *columns, console=Console(stderr=True), transient=True)
    bar.add_task(shown, total=None)
    bar.start()
    return bar


def say(text: str) -> None:
    """Announce on standard error what is about to happen."""
    click.echo(f"pkg: {spell_hidden(text)}", err=True)


class Consent:
    """Consent to send code: given beforehand, or asked for once per process."""

    def __init__(self, is_given: bool) -> None:
        self._is_given = is_given

    def __call__(self, text: str) -> bool:
        """Show what would be sent; without consent so far, ask if a user can answer. Return the consent."""
        if self._is_given:
            say(text)
        elif can_ask():
            self._is_given = click.confirm(f"pkg: {spell_hidden(text)}.\nSend it?", err=True)
        return self._is_given


@contextmanager
def listen_to_build(is_agreed: bool) -> Iterator[tuple[Listener, Callable[[], None]]]:
    """Yield the build listener of this terminal and a function that removes its progress bar."""
    choose = choose_ask()
    ask = cache(choose) if choose else None  # the store may be opened several times; a password is asked for once
    with closing(ProgressBar()) as bar:
        listener = Listener(say=say, agree=Consent(is_agreed), ask=ask)
        if sys.stderr.isatty():
            listener = replace(listener, progress=bar.read, index_progress=bar.watch, enter=bar.enter)
        yield listener, bar.close
