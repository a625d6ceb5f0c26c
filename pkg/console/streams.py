"""Deal with streams and terminals: closed, full, of a poor encoding, interrupted, for programs or people."""

from __future__ import annotations

import errno
import io
import json
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from pkg.quoting.hidden_characters import escape_json, spell_hidden

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType
    from rich.text import Text


OUTPUT_FAULTS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
"""Numbers of the errors that say that an output takes no more."""


def style_words(words: str, style: str = "") -> Text:
    """Give words one style; nothing in them is markup."""
    from rich.text import Text

    return Text().append(spell_hidden(words), style)


def prepare_streams() -> None:
    """Open the null device for a standard stream that is closed; spell what the encoding of an output lacks."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - open as long as the program
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def discard_output() -> None:
    """Send what is still to be written to nowhere, for a reader that went away or a disk that is full."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def decode_word(word: str) -> str:
    """Read a word of the command line as UTF-8 whatever the locale; bytes that are not UTF-8 are replaced."""
    return word.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def read_text(given: str) -> str:
    """Take a text as it was given; of `-` what standard input holds."""
    return sys.stdin.buffer.read().decode("utf-8", "replace") if given == "-" else given


def ask_password(question: str) -> str:
    """Ask for a password that is not shown while it is typed; "" where the person gives none."""
    from getpass import getpass

    try:
        return getpass(f"{question}: ", sys.stderr)
    except EOFError:
        return ""


def can_ask() -> bool:
    """Tell whether somebody is there to answer: both what is read and what is told go to a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def choose_ask() -> Callable[[str], str] | None:
    """Choose how a server's password is got that the environment lacks: from the person, when one is there."""
    return ask_password if can_ask() else None


@contextmanager
def plain_warnings(say: Callable[[str], None]) -> Iterator[None]:
    """Say our own warnings as one line each, without the place in the code, and each only once."""
    with warnings.catch_warnings():
        show_foreign, shown = warnings.showwarning, set[str]()

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if Path(__file__).parents[1] not in Path(filename).parents:
                show_foreign(message, category, filename, lineno, file, line)
            elif str(message) not in shown:
                shown.add(str(message))
                say(spell_hidden(str(message)))

        warnings.showwarning = show
        yield


def emit(as_json: bool, lines: Iterable[dict[str, Any]], view: Callable[[], Iterable[RenderableType]]) -> None:
    """Write JSON lines, or a view for a person."""
    if as_json:
        for line in lines:
            click.echo(escape_json(json.dumps(line, ensure_ascii=False)).encode())
    else:
        show(view())


def show(parts: Iterable[RenderableType]) -> None:
    """Write a view for a person."""
    from rich.console import Console

    class View(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # the reader has seen enough, which is no failure

    console = View(soft_wrap=True, highlight=False)
    for part in parts:
        console.print(part)


_PAUSE = 0.01  # seconds, in which the callback ends


@contextmanager
def keep_interrupts() -> Iterator[None]:
    """Raise KeyboardInterrupt for each interrupt, where Python or what is cleaned up would make something else of it.

    One that comes during a callback of Python's own, as that of a weak reference, is only reported there, and the
    program goes on: it is sent again. One that comes between the halves of a message leaves a connection on which
    closing fails, and that failure would stand in its place.
    """
    report = sys.unraisablehook

    def repeat(unraisable: sys.UnraisableHookArgs) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            threading.Timer(_PAUSE, os.kill, (os.getpid(), signal.SIGINT)).start()
        else:
            report(unraisable)

    sys.unraisablehook = repeat
    try:
        yield
    except Exception as fault:
        if _was_interrupted(fault):
            raise KeyboardInterrupt from fault
        raise
    finally:
        sys.unraisablehook = report


def _was_interrupted(fault: BaseException) -> bool:
    """Tell whether a fault came of an interrupt, or while one was on its way out."""
    found, waiting = [fault], [fault]
    while waiting:
        each = waiting.pop()
        before = [other for other in (each.__cause__, each.__context__) if other is not None and other not in found]
        found += before
        waiting += before
    return any(isinstance(each, KeyboardInterrupt) for each in found)
