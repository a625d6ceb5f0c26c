"""Extract one text file: decode it, skip data and binary content, and cut the rest into chunks (Q-06).

A text is cut by its headings; long sections are split between paragraphs, tiny neighbours joined.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import ceil
from typing import NamedTuple

from pkg.extract.discovery import looks_minified
from pkg.extract.files import decode_source
from pkg.extract.text_files.markup_headings import (
    MAX_TITLE_LENGTH,
    Heading,
    Lines,
    find_fenced,
    find_keys,
    find_markdown_headings,
    find_tables,
    find_underlined_headings,
)
from pkg.extract.text_files.text_kinds import TextKind
from pkg.model import HEADINGS, Chunk, Span, Status, TextUnit


def extract_text(raw: bytes, kind: TextKind, path: str) -> TextUnit:
    """Cut the bytes of a text file into chunks; data and generated text are skipped with a reason."""
    text, note = decode_text(raw)
    reason = find_data(text, kind)
    if reason is not None:
        return TextUnit(b"", kind, Status.FAILED, reason)
    return TextUnit(text, kind, Status.OK, note, cut_sections(text, kind, name_document(path)))


def name_document(path: str) -> str:
    """Return the name of a text without headings: its file name without the suffix."""
    name = path[path.rfind("/") + 1 :]
    return name.rpartition(".")[0] or name


def decode_text(raw: bytes) -> tuple[bytes, str | None]:
    """Return a text as UTF-8, and a note on how it was decoded; other bytes are read as Windows-1252."""
    text, note = decode_source(raw)
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("cp1252", "replace").encode(), "not UTF-8: read as Windows-1252; spans count its UTF-8 form"
    return text, note


MIN_DATA_BYTES = 20_000  # bytes; shorter lists and tables do no harm
MIN_LETTER_SHARE = 0.5  # of non-blank characters; prose of any script, and settings, have more
MIN_WORDS_PER_LINE = 2.0  # on average, without blank lines; a list of words or names has one

_BLANKS = b" \t\r\n\f\v"
_LETTERS = bytes(range(0x41, 0x5B)) + bytes(range(0x61, 0x7B)) + bytes(range(0x80, 0x100))


def find_data(text: bytes, kind: TextKind) -> str | None:
    """Return why a text is not prose: binary, minified, a table of numbers, a list of words; None if it is."""
    if b"\0" in text:
        return "binary: it holds NUL bytes"
    if looks_minified(text):
        return "minified or generated: very long lines"
    if kind != "text" or len(text) < MIN_DATA_BYTES:
        return None
    shown = len(text.translate(None, _BLANKS))
    letters = shown - len(text.translate(None, _BLANKS + _LETTERS))
    if letters < MIN_LETTER_SHARE * shown:
        return f"data: {letters / shown:.0%} of its signs are letters"
    lines, words = len(re.findall(rb"\S[^\n]*", text)), len(text.split())
    return f"data: a list of {lines:,} single words" if words < MIN_WORDS_PER_LINE * lines else None


MAX_CHUNK_BYTES = 1_500  # bytes
"""As in the papers; the vector of a longer chunk is vague, and models with a window of 256 tokens, such as MiniLM,
truncate it."""
MIN_CHUNK_BYTES = 200  # bytes; shorter sections, such as a title alone, say too little without their neighbours

_FINDERS: dict[TextKind, Callable[[Lines], Iterable[Heading]]] = {
    "markdown": find_markdown_headings, "rst": find_underlined_headings, "text": find_underlined_headings,
    "toml": find_tables, "ini": find_tables, "yaml": find_keys,
}  # fmt: skip
_BOM = b"\xef\xbb\xbf"
BESIDE = " / "  # between headings of joined sections


def cut_sections(text: bytes, kind: TextKind, name: str) -> tuple[Chunk, ...]:
    """Cut a UTF-8 text into chunks in order; text before the first heading gets the given name.

    Together the chunks contain the text except surrounding white space and a byte order mark.
    """
    first = len(_BOM) if text.startswith(_BOM) else 0
    lines = split_lines(text[first:])
    starts = [0, *accumulate(map(len, lines))]
    sections = _join_tiny(_list_sections(starts, list(_FINDERS[kind](lines))))
    cutter = Cutter(text[first:], (_find_paragraphs(lines, starts, kind), _find_after_blank(lines, starts), starts))
    newlines = [first + start for start in starts]
    return tuple(
        _make_chunk(section, _place(newlines, first + start, first + end), name)
        for section in sections
        for start, end in cutter.cut(section.start, section.end)
    )


def split_lines(text: bytes) -> list[bytes]:
    """Return the lines of a text with their line feeds."""
    lines = [line + b"\n" for line in text.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


class _Section(NamedTuple):
    """A part of a text below some headings, in byte offsets [start, end)."""

    start: int
    end: int
    above: tuple[str, ...]  # enclosing headings
    titles: tuple[str, ...]  # own headings: none before the first heading, several for joined sections

    @property
    def size(self) -> int:
        """Return the number of bytes."""
        return self.end - self.start

    @property
    def path(self) -> tuple[str, ...]:
        """Return the headings that enclose deeper sections after this one."""
        return (*self.above, *self.titles[-1:])


def _list_sections(starts: Sequence[int], headings: Sequence[Heading]) -> Iterator[_Section]:
    """Yield the sections of a text, including the text before the first heading."""
    ends = [*(starts[heading.line] for heading in headings), starts[-1]]
    yield _Section(0, ends[0], (), ())
    open_headings: list[Heading] = []
    for heading, end in zip(headings, ends[1:], strict=True):
        while open_headings and open_headings[-1].level >= heading.level:
            open_headings.pop()
        yield _Section(starts[heading.line], end, tuple(each.title for each in open_headings), (heading.title,))
        open_headings.append(heading)


def _join_tiny(sections: Iterable[_Section]) -> Iterator[_Section]:
    """Join neighbours of which one is tiny, if they are in one chapter and fit into a chunk together."""
    last: _Section | None = None
    for section in sections:
        joined = _join(last, section) if last is not None else section
        if joined is None and last is not None:
            yield last
        last = joined or section
    if last is not None:
        yield last


def _join(one: _Section, other: _Section) -> _Section | None:
    """Join two consecutive sections; return None if they should stay apart."""
    is_tiny = min(one.size, other.size) < MIN_CHUNK_BYTES and one.size + other.size <= MAX_CHUNK_BYTES
    if not one.size:
        return other
    if not is_tiny:
        return None
    if other.above[: len(one.path)] == one.path:  # the other is nested in the one
        named = other if one.size < MIN_CHUNK_BYTES else one
        return _Section(one.start, other.end, named.above, named.titles)
    if one.titles and one.above == other.above:
        return _Section(one.start, other.end, one.above, one.titles + other.titles)
    return None


def _find_paragraphs(lines: Lines, starts: Sequence[int], kind: TextKind) -> list[int]:
    """Return the starts of paragraphs: after a blank line, not indented, and not inside a code block."""
    fenced = find_fenced(lines) if kind == "markdown" else set()
    return [
        starts[number]
        for number in range(1, len(lines))
        if not lines[number - 1].strip() and not lines[number][:1].isspace() and number not in fenced
    ]


def list_marks(text: bytes) -> tuple[Sequence[int], ...]:
    """Return the marks at which a plain text is cut: the lines after a blank one, then all lines."""
    lines = split_lines(text)
    starts = [0, *accumulate(map(len, lines))]
    return _find_after_blank(lines, starts), starts


def _find_after_blank(lines: Lines, starts: Sequence[int]) -> list[int]:
    return [starts[number] for number in range(1, len(lines)) if not lines[number - 1].strip()]


@dataclass(frozen=True, slots=True)
class Cutter:
    """Cut pieces that are too long for a chunk at their strongest marks."""

    text: bytes
    marks: tuple[Sequence[int], ...]  # byte offsets, ascending; the strongest first
    limit: int = MAX_CHUNK_BYTES

    def cut(self, start: int, end: int, level: int = 0) -> Iterator[tuple[int, int]]:
        """Yield the byte offsets of the pieces, without surrounding white space or blank pieces."""
        if end - start <= self.limit:
            yield from self._trim(start, end)
        elif level == len(self.marks):
            yield from self._cut_line(start, end)
        else:
            marks = self.marks[level]
            inside = marks[bisect_right(marks, start) : bisect_left(marks, end)]
            for piece in self._group([start, *inside, end]):
                yield from self.cut(*piece, level + 1)

    def _group(self, ends: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Group neighbouring pieces into chunks of about equal size; a longer piece stays alone."""
        size = ends[-1] - ends[0]
        enough = size / ceil(size / self.limit)
        first = ends[0]
        for start, end in pairwise(ends):
            if first < start and (end - first > self.limit or start - first >= enough):
                yield first, start
                first = start
        yield first, ends[-1]

    def _cut_line(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Cut a line between words, or between characters if there are none."""
        while end - start > self.limit:
            stop = self.text.rfind(b" ", start + self.limit // 2, start + self.limit) + 1
            if not stop:
                stop = start + self.limit
                while self.text[stop] & 0xC0 == 0x80:  # inside a character
                    stop -= 1
            yield from self._trim(start, stop)
            start = stop
        yield from self._trim(start, end)

    def _trim(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Trim the blank lines before a piece and the white space after it."""
        piece = self.text[start:end]
        kept = piece.rstrip()
        if kept.decode("utf-8", "replace").strip():  # Unicode has more white space than bytes.strip knows
            blank = len(kept) - len(kept.lstrip())
            yield start + kept.rfind(b"\n", 0, blank) + 1, start + len(kept)


def _place(newlines: Sequence[int], start: int, end: int) -> Span:
    return Span(start, end, bisect_right(newlines, start), bisect_right(newlines, end - 1))


def _make_chunk(section: _Section, span: Span, name: str) -> Chunk:
    title = BESIDE.join(section.titles) or name
    title = title if len(title) <= MAX_TITLE_LENGTH else f"{title[:MAX_TITLE_LENGTH]}..."
    return Chunk(title, HEADINGS.join((*section.above, title)), span)
