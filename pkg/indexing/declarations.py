"""Choose what of a class, a module or a constant is encoded and indexed: what says what it is, not what lies in it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from pkg.model import Constant, Span
from pkg.terms.term_weights import Field

Range = tuple[int, int]  # byte offsets [start, end)

MOST_OF_A_TEXT = 4_000  # bytes of a class or module that are encoded: the vector of a longer one is of nothing any more
MOST_OF_A_VALUE = 1_000  # bytes that are encoded and indexed of a value, which may be a table of a thousand lines

_SAME_LINE = re.compile(rb"[ \t,;)\]}]*")
_NEXT_LINE = re.compile(rb"[ \t]*\r?\n[ \t]*")


def list_own_ranges(ranges: Iterable[Range], inside: Iterable[Span]) -> list[Range]:
    """Cut pieces out of ranges; both ascend, and pieces that lie in another are ignored."""
    holes = iter([*inside, None])
    hole = next(holes)
    own: list[Range] = []
    for start, end in ranges:
        while hole is not None and hole.start < end:
            if hole.start > start:
                own.append((start, hole.start))
            start = max(start, hole.end)
            if start > end:  # the piece reaches into the next range
                break
            hole = next(holes)
        if start < end:
            own.append((start, end))
    return own


def list_own_text(text: bytes, own: Iterable[Range], names: Sequence[str] = ()) -> bytes:
    """Write what is encoded of a class or module: its own ranges, and the names of what is defined in it."""
    parts = [part for start, end in own if (part := text[start:end].strip())]
    parts.append(" ".join(names).encode("utf-8", "replace"))
    return b"\n".join(filter(None, parts))[:MOST_OF_A_TEXT]


def surround(text: bytes, constant: Constant, comments: Sequence[Range]) -> Range:
    """Widen the place of a constant to the comments above it and behind it, and to the string below it.

    comments: all of the text, ascending. A long value is cut.
    """
    start, end, *_ = constant.span
    above = bisect_left(comments, (start,)) - 1
    while above >= 0 and _is_above(text, comments[above], start):
        start = comments[above][0]
        above -= 1
    behind = bisect_left(comments, (end,))
    if behind < len(comments) and _SAME_LINE.fullmatch(text, end, comments[behind][0]):
        end = comments[behind][1]
    if constant.docstring is not None:
        end = constant.docstring[1]
    value = constant.value
    return start, min(end, value[0] + MOST_OF_A_VALUE) if value else end


def _is_above(text: bytes, comment: Range, start: int) -> bool:
    """Tell whether a comment has the line above a place for itself."""
    line = text.rfind(b"\n", 0, comment[0]) + 1
    return bool(_NEXT_LINE.fullmatch(text, comment[1], start)) and not text[line : comment[0]].strip()


def list_said_ranges(constant: Constant, around: Range) -> Iterator[tuple[Field, Range]]:
    """Give the fields of a constant but for its name and scope; around it is what surround gives."""
    start, end, *_ = constant.span
    value, docstring = constant.value, constant.docstring
    if around[0] < start:
        yield Field.COMMENTS, (around[0], start)
    yield Field.SIGNATURE, (start, value[0] if value else end)
    if value is not None:
        yield Field.BODY, (value[0], min(value[1], value[0] + MOST_OF_A_VALUE))
    if docstring is not None:
        yield Field.DOCSTRING, docstring
    behind = docstring[0] if docstring else around[1]
    if end < behind:
        yield Field.COMMENTS, (end, behind)
