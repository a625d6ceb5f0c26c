"""Split a text into logical lines without a syntax tree; strings, comments and brackets may span lines.

A tree takes a hundred times the memory of a dense text, a logical line a few numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_STOP = re.compile(rb"[\"'#\n\\()\[\]{}]")
_SEPARATOR = re.compile(rb"[\"',:()\[\]{}]")
_VISIBLE = re.compile(rb"[^ \t\f\r\n]")
_TOKEN = re.compile(rb"[\w\x80-\xff]+|[^\w\s\x80-\xff]")
_TOP_HEADER = re.compile(rb"(?:async[ \t]+def|def|class)[ \t]+\w")
_STRING_ENDS = {quote: re.compile(rb"[\\\n%c]" % quote) for quote in b"\"'"}
_BACKSLASH, _NEWLINE, _HASH = b"\\\n#"


class LogicalLine(NamedTuple):
    """A statement, or the header of a compound one, without a comment at its end."""

    start: int  # byte offsets [start, end)
    end: int
    first_line: int
    last_line: int
    tokens: int  # names, numbers, strings and operators


def list_logical_lines(text: bytes) -> Iterator[LogicalLine]:
    """Yield the logical lines of a text in one pass; a definition at column 0 ends open brackets."""
    position, line, depth = 0, 1, 0
    start, end, first_line, last_line, tokens = -1, 0, 1, 1, 0
    size = len(text)
    while position <= size:
        found = _STOP.search(text, position)
        stop = found.start() if found else size
        code = text[position:stop]
        if ink := _VISIBLE.search(code):
            if start < 0:
                start, first_line = position + ink.start(), line
            end, last_line = position + len(code.rstrip()), line
            tokens += len(_TOKEN.findall(code))
        character = text[stop] if found else _NEWLINE
        position = stop + 1
        if character == _NEWLINE:
            if depth and _TOP_HEADER.match(text, position):
                depth = 0
            if start >= 0 and (not depth or not found):
                yield LogicalLine(start, end, first_line, last_line, tokens)
                start, tokens = -1, 0
            line += 1
        elif character == _HASH:
            newline = text.find(b"\n", stop)
            position = newline if newline >= 0 else size
        elif character == _BACKSLASH:
            position += text.startswith(b"\r\n", position)
            line += text.startswith(b"\n", position)
            position += 1
        else:
            if start < 0:
                start, first_line = stop, line
            if character in b"\"'":
                position = skip_string(text, stop)
                line += text.count(b"\n", stop, position)
            else:
                depth = max(depth + (1 if character in b"([{" else -1), 0)
            end, last_line = position, line
            tokens += 1


def skip_string(text: bytes, start: int) -> int:
    """Return the end of the string that starts at a quote; an unclosed one ends with its line."""
    quote = text[start : start + 1]
    if text.startswith(quote * 3, start):
        return _skip_long_string(text, start + 3, quote * 3)
    ends, position = _STRING_ENDS[quote[0]], start + 1
    while found := ends.search(text, position):
        if found[0] == quote:
            return found.end()
        if found[0] == b"\n":
            return found.start()
        position = found.end() + 1  # an escaped character
    return len(text)


def _skip_long_string(text: bytes, position: int, quotes: bytes) -> int:
    end = text.find(quotes, position)
    while end >= 0:
        escape = text.find(b"\\", position, end)
        if escape < 0:
            return end + 3
        position = escape + 2
        if position > end:
            end = text.find(quotes, position)
    return len(text)


def split_arguments(text: bytes, start: int, end: int) -> list[bytes]:
    """Split a bracketed text at its top-level commas."""
    parts, first, depth, position = [], start, 0, start
    while found := _SEPARATOR.search(text, position, end):
        position = found.end()
        if found[0] in b"\"'":
            position = skip_string(text, found.start())
        elif found[0] == b",":
            if not depth:
                parts.append(text[first : found.start()])
                first = position
        elif found[0] != b":":
            depth += 1 if found[0] in b"([{" else -1
    return [stripped for part in (*parts, text[first:end]) if (stripped := part.strip())]


def find_colon(text: bytes, start: int, end: int) -> int:
    """Return the place of the colon that ends a header; the end of the line if there is none."""
    depth, position = 0, start
    while found := _SEPARATOR.search(text, position, end):
        position = found.end()
        if found[0] in b"\"'":
            position = skip_string(text, found.start())
        elif found[0] == b":":
            if not depth:
                return found.start()
        elif found[0] != b",":
            depth += 1 if found[0] in b"([{" else -1
    return end
