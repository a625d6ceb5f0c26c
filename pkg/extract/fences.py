"""Find the fenced pieces of an answer: Markdown fences with their language, and [PYTHON] tags (P-21)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pkg.extract.code_lines import take_indent

_OPENING = re.compile(
    rb"(?P<lead>[^`~]*)(?P<mark>`{3,}|~{3}(?!~)|~{4,}(?=[ \t]*\w))[ \t]*(?P<info>[^`\r]*)\r?$",
)
_LEAD = re.compile(rb"[ \t]*(?:(?:[-*+]|\d+[.)])[ \t]+)?$")  # a fence may open a list item
_LABEL = re.compile(rb"[{. \t]*([\w+#-]+)")
_PYTHON = re.compile(rb"(?:i?python[23]?(?:-?(?:repl|console|session))?|py[23]?|pyi|pycon|doctest)$", re.IGNORECASE)
_TRANSPARENT = frozenset({b"markdown", b"md"})  # an answer inside a fence: what counts are the fences in it
_TAGGED = re.compile(rb"\[PYTHON\](.*?)(?:\[/PYTHON\]|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Fence:
    """One fenced piece: its place among the fences, the rows from mark to mark, and the lines between."""

    number: int
    start: int  # row of the opening mark
    end: int  # row behind the closing mark
    label: bytes  # lower case; empty when the fence names no language
    lines: list[bytes]

    @property
    def is_python(self) -> bool:
        """Tell whether the label says Python."""
        return bool(_PYTHON.match(self.label))


def keep_tagged(code: bytes) -> bytes:
    """Blank what stands outside [PYTHON] tags, and the tags; a text without tags stays as it is."""
    if b"[PYTHON]" not in code:
        return code
    kept = []
    position = 0
    for found in _TAGGED.finditer(code):
        kept.append(b"\n" * code.count(b"\n", position, found.start()))
        kept.append(found.group(1))
        position = found.end()
    kept.append(b"\n" * code.count(b"\n", position))
    return b"".join(kept)


def find_fences(lines: list[bytes]) -> Iterator[Fence]:
    """Find the fences from top to bottom; one that is never closed ends with the text."""
    number = row = 0
    while row < len(lines):
        opening = _open_fence(lines[row])
        row += 1
        if opening is None:
            continue
        mark, label, indent = opening
        start = row
        while row < len(lines) and not _ends_fence(lines[row], mark, indent):
            row += 1
        body = lines[start:row]
        if row < len(lines) and _closes(lines[row], mark, indent):
            body.append(lines[row].rstrip().rstrip(mark[:1]))  # code may stand before the closing mark
            row += 1
        number += 1
        yield Fence(number, start - 1, row, label, body)


def _open_fence(line: bytes) -> tuple[bytes, bytes, int] | None:
    """Read an opening mark: the mark, the label and the indentation; behind words only a Python label opens."""
    if b"```" not in line and b"~~~" not in line:
        return None
    found = _OPENING.match(line)
    if found is None:
        return None
    named = _LABEL.match(found["info"])
    label = named.group(1).lower() if named else b""
    if label in _TRANSPARENT or not (_LEAD.match(found["lead"]) or _PYTHON.match(label)):
        return None
    return found["mark"], label, len(take_indent(line))


def _ends_fence(line: bytes, mark: bytes, indent: int) -> bool:
    """Tell whether a line closes the fence, or opens the next one because this one was never closed."""
    if mark[:3] not in line:
        return False
    if _closes(line, mark, indent):
        return True
    opening = _open_fence(line)
    return opening is not None and opening[2] <= indent + 3 and bool(_PYTHON.match(opening[1]))


def _closes(line: bytes, mark: bytes, indent: int) -> bool:
    """Tell whether the line is the mark alone, not much deeper than it opened, or code with the mark behind it."""
    text = line.strip()
    if not text.endswith(mark):
        return False
    if text.strip(mark[:1]):
        return mark[:1] == b"`" and text.count(b"`") == len(mark)
    return len(take_indent(line)) <= indent + 3
