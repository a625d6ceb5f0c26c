"""Handle streams and terminals that are closed, full, limited in encoding or interrupted, for programs or people."""

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


NOTHING_FITS = "[bold yellow]nothing fits[/]; nearest, unlikely to help:"
NOTHING_FOUND = 3  # exit code with --exit-code; 1 and 2 are for errors
PIPE_WIDTH = 100_000  # columns of tables in a pipe or file, so that each row is one line, as grep and awk expect
OUTPUT_FAULTS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
"""Error numbers of an output that accepts no more data."""


def style_words(words: str, style: str = "") -> Text:
    """Apply one style to words, without interpreting markup."""
    from rich.text import Text

    return Text().append(spell_hidden(words), style)


def prepare_streams() -> None:
    """Open the null device for a closed standard stream; escape characters that an output's encoding lacks."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - open as long as the program
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def discard_output() -> None:
    """Discard pending output after the reader has closed the pipe or the disk is full."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def decode_word(word: str) -> str:
    """Decode a word of the command line as UTF-8 in any locale; invalid bytes are replaced."""
    return word.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def read_text(given: str) -> str:
    """Return a text as given, or standard input for `-`."""
    return sys.stdin.buffer.read().decode("utf-8", "replace") if given == "-" else given


def ask_password(question: str) -> str:
    """Prompt for a password without echo; return "" if the user enters none."""
    from getpass import getpass

    try:
        return getpass(f"{question}: ", sys.stderr)
    except EOFError:
        return ""


def can_ask() -> bool:
    """Return whether a user can answer: both standard input and standard error are terminals."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def choose_ask() -> Callable[[str], str] | None:
    """Return the function that prompts for a missing server password; None without a terminal."""
    return ask_password if can_ask() else None


@contextmanager
def plain_warnings(say: Callable[[str], None]) -> Iterator[None]:
    """Print PKG's own warnings as one line each, without the code location, and each only once."""
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
            raise BrokenPipeError  # the reader closed the pipe, which is not a failure

    is_wide = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    console = View(soft_wrap=True, highlight=False, width=PIPE_WIDTH if is_wide else None)
    for part in parts:
        console.print(part)


_PAUSE = 0.01  # seconds for the callback to end


@contextmanager
def keep_interrupts() -> Iterator[None]:
    """Raise KeyboardInterrupt for each interrupt, even where Python or cleanup code would swallow or replace it.

    Python only reports an interrupt during one of its callbacks, such as that of a weak reference, and continues; it is
    sent again. An interrupt in the middle of a message leaves a connection whose close fails, and that error would
    replace the interrupt.
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
    """Return whether an error was caused by an interrupt or raised while handling one."""
    found, waiting = [fault], [fault]
    while waiting:
        each = waiting.pop()
        before = [other for other in (each.__cause__, each.__context__) if other is not None and other not in found]
        found += before
        waiting += before
    return any(isinstance(each, KeyboardInterrupt) for each in found)


def view_lines(*lines: str) -> list[RenderableType]:
    """Render lines without interpreting markup."""
    from rich.text import Text

    return [Text(line) for line in lines]


def emit_page(page: Path, as_json: bool) -> None:
    """Write the path of a page that was written."""
    emit(as_json, [{"type": "file", "path": str(page)}], lambda: view_lines(str(page)))
