"""Classify exceptions of a candidate and describe each in one line (P-24, U-09)."""

from __future__ import annotations

import errno
import os
import traceback

from pkg.sandbox.protocol import Kind

CODE = "<candidate>"
MAX_MESSAGE = 400  # characters of a message, which can be gigabytes long

_KINDS: tuple[tuple[type[BaseException], Kind], ...] = (
    (IndentationError, Kind.INDENTATION),
    (SyntaxError, Kind.SYNTAX),
    (NameError, Kind.NAME),
    (TypeError, Kind.TYPE),
    (AssertionError, Kind.ASSERTION),
    (MemoryError, Kind.MEMORY),
    (PermissionError, Kind.FORBIDDEN),
    (SystemExit, Kind.EXIT),
    (KeyboardInterrupt, Kind.EXIT),
    (GeneratorExit, Kind.EXIT),
)
_REFUSALS = {errno.EROFS, errno.EXDEV, errno.EBUSY, errno.EFBIG, errno.ENOSPC, errno.EMFILE, errno.EAGAIN, errno.ENOSYS}


def classify_fault(error: BaseException) -> Kind:
    """Return the kind of an exception."""
    for fault, kind in _KINDS:
        if isinstance(error, fault):
            return kind
    if isinstance(error, OSError) and (error.errno in _REFUSALS or _is_outside(error)):
        return Kind.FORBIDDEN
    if isinstance(error, RuntimeError) and "can't start new thread" in str(error):
        return Kind.FORBIDDEN
    return Kind.OTHER


def _is_outside(error: OSError) -> bool:
    """Return whether a missing file lies outside the folder of the run."""
    if not isinstance(error, FileNotFoundError) or not isinstance(error.filename, (str, bytes)):
        return False
    name = os.fsdecode(error.filename)
    here = os.getcwd()
    return os.path.commonpath([os.path.realpath(os.path.join(here, name)), here]) != here


def describe_fault(error: BaseException) -> str:
    """Return the exception with its message and its last line in the code, as one short line."""
    try:
        message = " ".join(_find_message(error)[:MAX_MESSAGE].split())
    except BaseException:  # the message itself may be hostile code
        message = "(the message cannot be read)"
    name = type(error).__name__[:MAX_MESSAGE]
    return (f"{name}: {message}" if message else name) + _describe_place(error)


def _find_message(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        text = f": {error.text.strip()[:120]}" if isinstance(error.text, str) else ""
        return f"{error.msg}{text}"
    return str(error)


def _describe_place(error: BaseException) -> str:
    """Return the line in the code, with the column of a syntax error."""
    if isinstance(error, SyntaxError):
        if error.filename != CODE or not isinstance(error.lineno, int):
            return ""
        return f" (line {error.lineno}, column {error.offset})" if error.offset else f" (line {error.lineno})"
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == CODE]
    return f" (line {lines[-1]})" if lines else ""
