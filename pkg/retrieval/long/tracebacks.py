"""Parse the frames of stack traces, as written by Python, IPython and pytest."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_FRAMES = 200  # a trace of infinite recursion has a thousand, all of a few functions
LONGEST_LINE = 2_000  # characters of a line that may be a frame; longer ones are data, and a whole trace may be on one
BELOW = 20  # lines below a frame of IPython, one of which may be marked as current
_PATH = r"(?:[A-Za-z]:)?[^:\"*?<>|]+\.pyx?"
_FRAMES = (
    re.compile(r"File \"(?P<path>[^\"]+)\", line (?P<line>\d+)(?:, in (?P<function>[\w.<>]+))?"),  # Python
    re.compile(
        rf"^[\s>E|]*(?:File )?(?P<path>{_PATH}):(?P<line>\d+)(?:,|:) in (?P<function>[\w.<>]+)"
    ),  # IPython, pytest
    re.compile(rf"^[\s>E|]*(?P<path>{_PATH}) in (?P<function>[\w.<>]+)\("),  # IPython before 8
    re.compile(rf"^[\s>E|]*(?P<path>{_PATH}):(?P<line>\d+)(?:: | *$|:$)"),  # pytest, warnings
)
_ARROW = re.compile(r"^-+> *(\d+) ")  # IPython's mark of the current line


@dataclass(frozen=True, slots=True)
class StackFrame:
    """One call of a stack trace, as far as the trace shows it."""

    path: str
    line: int | None
    function: str | None  # its name, with the class if the trace has it


def read_frames(text: str) -> list[StackFrame]:
    """Return the frames of all stack traces in a text, in order, each place once."""
    lines = text.splitlines()
    frames: dict[StackFrame, None] = {}
    for number, line in enumerate(lines):
        if ".py" in line and len(line) <= LONGEST_LINE and len(frames) < MAX_FRAMES:
            for found in next(filter(None, (list(form.finditer(line)) for form in _FRAMES)), []):
                frames[_make_frame(found.groupdict(), lines[number + 1 : number + 1 + BELOW])] = None
    return list(frames)


def _make_frame(found: dict[str, str | None], below: list[str]) -> StackFrame:
    path, function, line = (found.get(name) for name in ("path", "function", "line"))
    if line is None:
        line = next((mark[1] for mark in map(_ARROW.match, below) if mark), None)
    is_named = function is not None and not function.startswith("<")  # not <module>, <listcomp>
    return StackFrame(
        (path or "").strip().replace("\\", "/"), int(line[:9]) if line else None, function if is_named else None
    )
