"""Read the frames of stack traces, as Python, IPython and pytest write them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MOST_FRAMES = 200  # a trace of endless recursion has a thousand, all of a few functions
_PATH = r"(?:[A-Za-z]:)?[~\w.@+\\/ -]*?[\w.-]+\.pyx?"
_FRAMES = re.compile(
    rf"""
      ^[\s>E|]*File\ "(?P<python>[^"\n]+)",\ line\ (?P<python_line>\d+)(?:,\ in\ (?P<python_in>[\w.<>]+))?
    | ^[\s>E|]*(?:File\ )?(?P<shell>{_PATH}):(?P<shell_line>\d+)(?:,|:)\ in\ (?P<shell_in>[\w.<>]+)
    | ^[\s>E|]*(?P<old>{_PATH})\ in\ (?P<old_in>[\w.<>]+)\(.*$
    | ^[\s>E|]*(?P<bare>{_PATH}):(?P<bare_line>\d+)(?::|\ *$)
    """,
    re.MULTILINE | re.VERBOSE,
)
_ARROW = re.compile(r"^-+> *(\d+) ", re.MULTILINE)  # IPython's mark of the line that ran


@dataclass(frozen=True, slots=True)
class Frame:
    """One call of a stack trace, as far as the trace tells."""

    path: str
    line: int | None
    function: str | None  # its name, with the class where the trace has it


def read_frames(text: str) -> Iterator[Frame]:
    """Give the frames of all stack traces in a text, in their order, each place once."""
    seen: set[Frame] = set()
    for found in _FRAMES.finditer(text):
        frame = _make_frame(found, text)
        if frame not in seen and len(seen) < MOST_FRAMES:
            seen.add(frame)
            yield frame


def _make_frame(found: re.Match[str], text: str) -> Frame:
    kind = next(name for name in ("python", "shell", "old", "bare") if found[name] is not None)
    groups = found.groupdict()
    function = groups.get(f"{kind}_in")
    line = groups.get(f"{kind}_line")
    if kind == "old":  # the line is marked below
        arrow = _ARROW.search(text, found.end(), found.end() + 1000)
        line = arrow[1] if arrow else None
    path = found[kind].strip().replace("\\", "/")
    return Frame(path, int(line[:9]) if line else None, None if not function or "<" in function else function)
