"""Find the headings of texts in Markdown and reStructuredText, and the tables and keys of settings files."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

MAX_TITLE_LENGTH = 120  # characters; longer ones are paragraphs that look like headings

Lines = Sequence[bytes]
"""The lines of a text, with line ends."""


class Heading(NamedTuple):
    """A heading: index of its first line (from 0), level (from 1), and title."""

    line: int
    level: int
    title: str


# No pattern backtracks over what it has passed: a line may be as long as a file.
_FENCE = re.compile(rb" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(rb" {0,3}(#{1,6})(?=[ \t\r\n]|$)")
_SETEXT = re.compile(rb" {0,3}(=+|-+)[ \t\r\n]*$")
_NO_PARAGRAPH = re.compile(rb" {4}|\t| {0,3}(?:[-+*>|#<]|\d+[.)] |:?-+:?\|)")
_HTML_HEADING = re.compile(rb"[ \t]*<h([1-6])\b[^>]*>(.*?)</h\1>", re.IGNORECASE | re.DOTALL)
_COMMENT, _COMMENT_END = b"<!--", b"-->"
MAX_FRONT_MATTER_LINES = 200  # lines; two dashed lines further apart are something else
_MATTER, _MATTER_END = re.compile(rb"(?:---|\+\+\+)[ \t\r]*$"), re.compile(rb"(?:---|\+\+\+|\.\.\.)[ \t\r]*$")


def find_markdown_headings(lines: Lines) -> Iterator[Heading]:
    """Find the headings of Markdown: those with #, underlined ones and those in HTML, except in code or comments."""
    fenced, is_comment = find_fenced(lines), False
    for number in range(count_front_matter(lines), len(lines)):
        line = lines[number]
        if number in fenced:
            continue
        if is_comment or line.lstrip().startswith(_COMMENT):
            is_comment = _COMMENT_END not in line
        elif found := _ATX.match(line):
            yield from _make_heading(number, len(found[1]), _cut_closing(line[found.end() :].strip()))
        elif found := _HTML_HEADING.match(line):
            yield from _make_heading(number, int(found[1]), found[2])
        elif (found := _SETEXT.match(line)) and number - 1 not in fenced and _is_single(lines, number - 1):
            yield from _make_heading(number - 1, 1 if found[1][:1] == b"=" else 2, lines[number - 1])


def find_fenced(lines: Lines) -> set[int]:
    """Return the indices of the lines in code blocks, fences included; an unclosed block extends to the end."""
    fence, fenced = b"", set()
    for number, line in enumerate(lines):
        if fence:
            fenced.add(number)
            fence = b"" if _ends_fence(line, fence) else fence
        elif fence := _open_fence(line):
            fenced.add(number)
    return fenced


def count_front_matter(lines: Lines) -> int:
    """Return the number of lines of the front matter, between two lines of dashes or plus signs."""
    if not lines or not _MATTER.match(lines[0]):
        return 0
    return next(
        (
            number + 1
            for number in range(1, min(len(lines), MAX_FRONT_MATTER_LINES))
            if _MATTER_END.match(lines[number])
        ),
        0,
    )


def _open_fence(line: bytes) -> bytes:
    """Return the fence that opens a code block on a line; b"" if there is none, or it is closed on the line."""
    found = _FENCE.match(line)
    return b"" if found is None or (found[1][:1] == b"`" and b"`" in line[found.end() :]) else found[1]


def _cut_closing(title: bytes) -> bytes:
    """Remove the # characters at the end of a heading."""
    rest = title.rstrip(b"#")
    return rest.rstrip() if not rest or rest[-1:] in b" \t" else title


def _ends_fence(line: bytes, fence: bytes) -> bool:
    found = _FENCE.match(line)
    closes = found is not None and found[1][:1] == fence[:1] and len(found[1]) >= len(fence)
    return closes and not line.strip().strip(fence[:1])


def _is_single(lines: Lines, number: int) -> bool:
    """Return whether a line is a paragraph of its own, which an underline can make a heading."""
    if number < 0 or not lines[number].strip() or _NO_PARAGRAPH.match(lines[number]):
        return False
    return number == 0 or not lines[number - 1].strip() or _ATX.match(lines[number - 1]) is not None


_TAG = re.compile(r"<[^<>]*>")
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])?")
_ANCHOR = re.compile(r"\{#[^{}]*\}\s*$")
_ROLE = re.compile(r"(?::[\w.+-]+){1,3}:`([^`<]*)(?:<[^`]*>)?`")
_MARKS = re.compile(r"`+|\*{1,3}|(?<!\w)_{1,2}(?=\w)|(?<=\w)_{1,2}(?!\w)")


def _make_heading(line: int, level: int, title: bytes) -> Iterator[Heading]:
    """Yield the heading, unless it is empty."""
    text = clean_title(title)
    if text:
        yield Heading(line, level, text)


def clean_title(title: bytes) -> str:
    """Return a title without markup, on one line; a long one is truncated."""
    text = title[: 8 * MAX_TITLE_LENGTH].decode("utf-8", "replace")
    text = _ROLE.sub(r"\1", _ANCHOR.sub("", _TAG.sub("", text)))
    text = html.unescape(_MARKS.sub("", _LINK.sub(r"\1", text)))
    text = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    return text if len(text) <= MAX_TITLE_LENGTH else f"{text[:MAX_TITLE_LENGTH]}..."


_ADORNED = re.compile(rb"([!-/:-@\[-`{-~])\1*[ \t\r\n]*$")
SHORTEST_LINE = 4  # minimal characters of an underline shorter than its title, as in docutils


def find_underlined_headings(lines: Lines) -> Iterator[Heading]:
    """Find headings with an underline, or an overline too; levels follow the order of first use."""
    levels: dict[tuple[bytes, bool], int] = {}
    number = 0
    while number < len(lines) - 1:
        found = _match_title(lines, number)
        if found is None:
            number += 1
            continue
        title, sign, is_over = found
        level = levels.setdefault((sign, is_over), len(levels) + 1)
        yield from _make_heading(number, level, lines[title])
        number = title + 2


def _match_title(lines: Lines, number: int) -> tuple[int, bytes, bool] | None:
    """Return the line of a title that begins at a line, its adornment, and whether it has an overline."""
    above = _ADORNED.match(lines[number])
    if above is not None:
        is_framed = number + 2 < len(lines) and lines[number].strip() == lines[number + 2].strip()
        if is_framed and _is_title(lines[number + 1].strip(), lines[number + 2]):
            return number + 1, above[1], True
        return None
    below = _ADORNED.match(lines[number + 1])
    is_flush = not lines[number][:1].isspace()
    if below is not None and is_flush and _is_title(lines[number].rstrip(), lines[number + 1]):
        return (number, below[1], False) if number == 0 or not lines[number - 1].strip() else None
    return None


def _is_title(title: bytes, line: bytes) -> bool:
    length = len(line.strip())
    if not title or _ADORNED.match(title):
        return False
    return length >= SHORTEST_LINE or length >= len(title.decode("utf-8", "replace"))


_TABLE = re.compile(rb"\[{1,2}([^\[\]\r\n]+)\]{1,2}[ \t]*(?:[#;].*)?[\r\n]*$", re.DOTALL)
_LONG_TEXT = re.compile(rb'"""|\'\'\'')


def find_tables(lines: Lines) -> Iterator[Heading]:
    """Find the tables of a TOML file, or the sections of an INI file, except in multi-line strings."""
    closing = b""
    for number, line in enumerate(lines):
        if not closing and (found := _TABLE.match(line)):
            title = clean_title(found[1])
            if title:
                yield Heading(number, 1, title)
        for mark in _LONG_TEXT.findall(line):
            closing = mark if not closing else b"" if mark == closing else closing


_KEY = re.compile(rb"([ ]*)(\"[^\"]+\"|'[^']+'|[^\s#\-\[\]{}&*!|>'\"%@`,:][^:#]*):(?=[ \t]|$)(.*)", re.DOTALL)
_SCALAR = re.compile(rb"[ \t]+(?:[|>][+\-0-9]*|[&!]\S+[ \t]+[|>][+\-0-9]*)[ \t]*(?:#.*)?$", re.DOTALL)


def find_keys(lines: Lines) -> Iterator[Heading]:
    """Find the keys of the two upper levels of a YAML file, except in block scalars."""
    inner, is_text = 0, False  # column of the second level's keys, once known
    for number, line in enumerate(lines):
        found = _KEY.match(line.rstrip(b"\r\n"))
        if found is None:
            continue
        indent, title = len(found[1]), clean_title(found[2].strip(b"'\" \t"))
        if not indent:
            inner, is_text = 0, _SCALAR.match(found[3]) is not None
            yield Heading(number, 1, title or "-")
        elif not is_text:
            inner = inner or indent
            if indent == inner and title:
                yield Heading(number, 2, title)
