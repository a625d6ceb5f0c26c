"""Choose the text of a class, module or constant to encode and index: the declaration itself, not its contents."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from pkg.model import Constant, Span
from pkg.terms.term_weights import Field

Range = tuple[int, int]  # byte offsets [start, end)

MAX_DECLARATION_BYTES = 4_000  # bytes encoded of a class or module; longer texts have vague vectors
MAX_VALUE_BYTES = 1_000  # bytes encoded and indexed of a value, which may be a table of a thousand lines

_SAME_LINE = re.compile(rb"[ \t,;)\]}]*")
_NEXT_LINE = re.compile(rb"[ \t]*\r?\n[ \t]*")


def list_own_ranges(ranges: Iterable[Range], inside: Iterable[Span]) -> list[Range]:
    """Subtract spans from ranges; both ascend, and spans nested in another are ignored."""
    holes = iter([*inside, None])
    hole = next(holes)
    own: list[Range] = []
    for start, end in ranges:
        while hole is not None and hole.start < end:
            if hole.start > start:
                own.append((start, hole.start))
            start = max(start, hole.end)
            if start > end:  # the span reaches into the next range
                break
            hole = next(holes)
        if start < end:
            own.append((start, end))
    return own


def list_own_text(text: bytes, own: Iterable[Range], names: Sequence[str] = ()) -> bytes:
    """Return the text to encode for a class or module: its own ranges, and the names of the definitions in it."""
    parts = [part for start, end in own if (part := text[start:end].strip())]
    parts.append(" ".join(names).encode("utf-8", "replace"))
    return b"\n".join(filter(None, parts))[:MAX_DECLARATION_BYTES]


def extend_to_comments(text: bytes, constant: Constant, comments: Sequence[Range]) -> Range:
    """Extend the range of a constant to the comments above and after it, and to the string below it.

    comments: all comments of the text, ascending. A long value is truncated.
    """
    start, end, *_ = constant.span
    above = bisect_left(comments, (start,)) - 1
    while above >= 0 and _is_above(text, comments[above], start):
        start = comments[above][0]
        above -= 1
    after = bisect_left(comments, (end,))
    if after < len(comments) and _SAME_LINE.fullmatch(text, end, comments[after][0]):
        end = comments[after][1]
    if constant.docstring is not None:
        end = constant.docstring[1]
    value = constant.value
    return start, min(end, value[0] + MAX_VALUE_BYTES) if value else end


def _is_above(text: bytes, comment: Range, start: int) -> bool:
    """Return whether a comment is alone on the line above a place."""
    line = text.rfind(b"\n", 0, comment[0]) + 1
    return bool(_NEXT_LINE.fullmatch(text, comment[1], start)) and not text[line : comment[0]].strip()


def list_field_ranges(constant: Constant, around: Range) -> Iterator[tuple[Field, Range]]:
    """Yield the fields of a constant except its name and scope; around: the range that extend_to_comments returns."""
    start, end, *_ = constant.span
    value, docstring = constant.value, constant.docstring
    if around[0] < start:
        yield Field.COMMENTS, (around[0], start)
    yield Field.SIGNATURE, (start, value[0] if value else end)
    if value is not None:
        yield Field.BODY, (value[0], min(value[1], value[0] + MAX_VALUE_BYTES))
    if docstring is not None:
        yield Field.DOCSTRING, docstring
    after = docstring[0] if docstring else around[1]
    if end < after:
        yield Field.COMMENTS, (end, after)
