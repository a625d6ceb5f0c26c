"""Keep an unexpected exception where it happens: it costs one file, one call site or one candidate, and is recorded.

What is wrong with the store, the machine or the call itself is no local error: it ends the work, as before.
"""

from __future__ import annotations

import sqlite3
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from pkg.errors import PkgError
from pkg.model import LocalError

_PACKAGE = Path(__file__).parent
_GLOBAL = (PkgError, MemoryError, OSError, sqlite3.Error, ImportError)
_DRIVERS = ("neo4j", "httpx", "urllib3")  # whose exceptions tell of a server
INTERNAL = "internal error"  # begins every reason that speaks of one
MOST_TRACES = 20  # tracebacks kept of one build; the others say the same in most cases
MOST_CHARACTERS = 300  # of an exception's own message


class Unwinding(Exception):  # noqa: N818  # no error
    """Leave a computation on purpose; whoever began it catches this, and no net in between does."""


class LocalErrors:
    """The local errors of one piece of work, each recorded once."""

    def __init__(self) -> None:
        self._found: dict[LocalError, LocalError] = {}

    def note(self, fault: Exception, stage: str, path: str, line: int = 0) -> None:
        """Record an exception that was caught; raise it again where it is no local error."""
        if not is_local(fault):
            raise fault
        error = LocalError(path, line, stage, describe_exception(fault), find_version())
        if error not in self._found:
            is_traced = len(self._found) < MOST_TRACES
            trace = "".join(traceback.format_exception(fault)) if is_traced else ""
            self._found[error] = replace(error, trace=trace)

    @contextmanager
    def keep(self, stage: str, path: str, line: int = 0) -> Iterator[None]:
        """Record an exception of the block, which ends there."""
        try:
            yield
        except Exception as fault:
            self.note(fault, stage, path, line)

    def add(self, errors: Iterable[LocalError]) -> None:
        """Add what was recorded elsewhere, such as in another process."""
        self._found.update((error, error) for error in errors if error not in self._found)

    def sorted(self) -> list[LocalError]:
        """Return all of them by path, line and stage."""
        return sorted(self._found.values(), key=lambda each: (each.path, each.line, each.stage, each.exception))

    def __len__(self) -> int:
        return len(self._found)


def is_local(fault: Exception) -> bool:
    """Return whether an exception is a fault of the program on one input: not of the store, the machine or the call."""
    if isinstance(fault, (*_GLOBAL, Unwinding)):
        return False
    return type(fault).__module__.partition(".")[0] not in _DRIVERS


def describe_local(fault: Exception) -> str:
    """Return the reason why one item is lost, in one line; raise the exception again where it is no local error."""
    if not is_local(fault):
        raise fault
    return f"{INTERNAL}: {describe_exception(fault)}"


def describe_exception(fault: BaseException) -> str:
    """Return an exception in one line, with the place in this package where it was raised."""
    message = " ".join(str(fault).split())[:MOST_CHARACTERS]
    said = f"{type(fault).__name__}: {message}" if message else type(fault).__name__
    frames = [frame for frame in traceback.extract_tb(fault.__traceback__) if _PACKAGE in Path(frame.filename).parents]
    if not frames:
        return said
    return f"{said} ({Path(frames[-1].filename).relative_to(_PACKAGE.parent).as_posix()}:{frames[-1].lineno})"


def list_outdated(errors: Sequence[LocalError]) -> set[str]:
    """Return the paths of errors that another version of PKG recorded: this one may do better."""
    return {error.path for error in errors if error.version != find_version()}


def find_version() -> str:
    """Return the version of PKG; the package around this module, which knows it, imports it and is not imported."""
    return str(vars(sys.modules[__name__.partition(".")[0]])["__version__"])
