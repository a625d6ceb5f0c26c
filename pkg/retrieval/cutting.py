"""Take one block out of a text: which bytes go, and what the text looks like bare or with `pass` in the gap."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

_NO_CODE = re.compile(rb"[ \t\f]*(#[^\n]*)?\r?\n?\Z")  # a blank line or a comment, or the end of one
_HEADER = re.compile(rb":[ \t]*(#[^\n]*)?\r?\n?\Z")
_NEWLINE = re.compile(rb"\r?\n?\Z")


class Remainder(NamedTuple):
    """What remains of a text, and what was put into the gap: `pass`, or nothing."""

    text: bytes
    filler: bytes


@dataclass(frozen=True, slots=True)
class Excision:
    """The bytes [start, end) that leave a text, and what remains of it."""

    text: bytes
    start: int
    end: int
    stop: int  # where the block's own lines end; the cut may go on to the next code
    filler: bytes  # `pass`, indented like the block, to stand in the gap
    column: int  # where the block's statement begins, in bytes of white space

    @property
    def remainders(self) -> tuple[Remainder, Remainder]:
        """Give what remains, bare and with `pass` in the place of the block, first the one that is likely right."""
        bare, filled = self._join(b""), self._join(self.filler)
        return (filled, bare) if self._empties_suite() else (bare, filled)

    @property
    def leaves_nothing(self) -> bool:
        """Tell whether the block is all the code there is."""
        return self._line_before() is None and self._line_after() is None

    def _join(self, filler: bytes) -> Remainder:
        joined = self.text[: self.start] + filler + self.text[self.end :]
        is_cut_off = self.end == len(self.text) and not self.text.endswith(b"\n")
        return Remainder(joined.rstrip() if is_cut_off else joined, filler)

    def _empties_suite(self) -> bool:
        """Tell whether the block seems to be the only code of its suite."""
        before, after = self._line_before(), self._line_after()
        is_first = before is None or _HEADER.search(before) is not None
        return is_first and (after is None or len(after) - len(after.lstrip(b" \t\f")) < self.column)

    def _line_before(self) -> bytes | None:
        end = self.start
        while end > 0:
            start = self.text.rfind(b"\n", 0, end - 1) + 1
            if not _NO_CODE.match(line := self.text[start:end]):
                return line
            end = start
        return None

    def _line_after(self) -> bytes | None:
        start = self.stop
        while start < len(self.text):
            end = _end_of_line(self.text, start)
            if not _NO_CODE.match(line := self.text[start:end]):
                return line
            start = end
        return None


def excise(text: bytes, start: int, end: int, indent: bytes) -> Excision:
    """Plan the removal of the block at text[start:end]: whole lines where it stands alone on them.

    A comment behind the block goes with it. ``indent`` is the white space that stood before the text's first line.
    """
    first, stop = text.rfind(b"\n", 0, start) + 1, _end_of_line(text, end)
    head, tail = text[first:start], text[end:stop]
    if head.strip() or not _NO_CODE.match(tail):
        return Excision(text, start, end, end, b"pass", len(head))
    newline = _NEWLINE.search(tail)
    filler = head + b"pass" + (newline.group() if newline else b"")
    if first > 0:
        return Excision(text, first, stop, stop, filler, len(head))
    # The first line's indentation stayed behind when this text was cut from its file; so must that of the next code.
    follower = _skip_to_code(text, stop, indent)
    return Excision(text, 0, follower, stop, filler + text[stop:follower], len(indent))


def _end_of_line(text: bytes, position: int) -> int:
    newline = text.find(b"\n", position)
    return len(text) if newline < 0 else newline + 1


def _skip_to_code(text: bytes, position: int, indent: bytes) -> int:
    """Pass over blank lines, and over the indentation of the line after them."""
    while position < len(text) and not text[position : _end_of_line(text, position)].strip():
        position = _end_of_line(text, position)
    return position + len(indent) if text.startswith(indent, position) else position
