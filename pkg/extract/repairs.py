"""Repair what copying does to code: odd characters, tabs beside spaces, lost indentation.

A repair is a guess; it counts only when the repaired text parses (P-02). No repair adds or removes a line.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pkg.extract.code_lines import dedent, find_continued, measure_indent, take_indent

MAX_REPAIRED_BYTES = 100_000
"""Longer text is generated or not code; guessing at it costs more than it finds."""

_SPACES = dict.fromkeys(map(ord, "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"), " ")
_SPACES |= dict.fromkeys(map(ord, "\u2028\u2029\u202f\u205f\u3000\x0b\x0c\x1c\x1d\x1e\x85"), " ")
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"), "")
_TYPESET = {ord(sign): plain for sign, plain in zip("‘’‚“”„–—−", "'''\"\"\"---", strict=True)}
_CHARACTERS: dict[int, str] = {**_SPACES, **_INVISIBLE, **_TYPESET}

_BARE_HEADER = re.compile(rb"[ \t]*(?:async[ \t]+)?(?:def|class)\b.*:[ \t]*(?:\#.*)?\r?$")
_AFTER_BODY = re.compile(rb"(?:@|(?:async[ \t]+)?def\b|class\b|if[ \t]+__name__)")
_AFTER_CLASS = re.compile(rb"(?:class\b|if[ \t]+__name__)")


def replace_characters(lines: list[bytes]) -> list[bytes]:
    """Replace typeset quotes and dashes, odd spaces and invisible characters by what Python reads."""
    return [line.decode("utf-8", "replace").translate(_CHARACTERS).encode() for line in lines]


def expand_tabs(lines: list[bytes]) -> list[bytes]:
    """Read a tab of the indentation as four spaces."""
    return [take_indent(line).expandtabs(4) + line.lstrip(b" \t") for line in lines]


def align_dedents(lines: list[bytes]) -> list[bytes]:
    """Move a line whose indentation fits no open block into the innermost block that is deeper."""
    continued = find_continued(lines)
    aligned = list(lines)
    levels = [0]
    for row, line in enumerate(lines):
        text = line.lstrip(b" \t")
        if row in continued or not text.strip() or text.startswith(b"#"):
            continue
        width, deeper = measure_indent(line), None
        while levels[-1] > width:
            deeper = levels.pop()
        if levels[-1] < width:
            levels.append(width if deeper is None else deeper)
            aligned[row] = b" " * levels[-1] + text
    return aligned


def indent_bodies(lines: list[bytes]) -> list[bytes]:
    """Move what follows a bare `def` or `class` under it, up to the next definition."""
    repaired = list(lines)
    continued = find_continued(lines)
    for row, line in enumerate(repaired):
        if row not in continued and _BARE_HEADER.match(line) and _lacks_body(repaired, row):
            for below in range(row + 1, _find_body_end(repaired, row)):
                if repaired[below].strip():
                    repaired[below] = b"    " + repaired[below]
    return repaired


def _lacks_body(lines: list[bytes], header: int) -> bool:
    following = next((line for line in lines[header + 1 :] if line.strip()), b"")
    return measure_indent(following) <= measure_indent(lines[header])


def _find_body_end(lines: list[bytes], header: int) -> int:
    """Find the row behind a body that stands as deep as its header: a new definition or two blank lines end it."""
    depth = measure_indent(lines[header])
    is_class = lines[header].lstrip().startswith(b"class")
    stop = _AFTER_CLASS if is_class else _AFTER_BODY
    for row in range(header + 1, len(lines)):
        line = lines[row]
        if not is_class and row > header + 2 and not line.strip() and not lines[row - 1].strip():
            return row
        if line.strip() and measure_indent(line) <= depth and stop.match(line.lstrip(b" \t")):
            return row
    return len(lines)


REPAIRS: tuple[tuple[str, Callable[[list[bytes]], list[bytes]]], ...] = (
    ("characters", replace_characters),
    ("indentation", dedent),
    ("indentation", expand_tabs),
    ("indentation", align_dedents),
    ("indentation", indent_bodies),
)
"""What is tried, in this order, with the word for it; each but the first begins at the text with plain characters."""


def repair(lines: list[bytes], accepts: Callable[[list[bytes]], bool]) -> tuple[list[bytes], str, int] | None:
    """Find the first repair that is accepted: the repaired lines, what was repaired and the first row that changed."""
    if sum(map(len, lines)) > MAX_REPAIRED_BYTES:
        return None
    start = lines
    for word, mend in REPAIRS:
        mended = mend(start)
        if mended != start and accepts(mended):
            changed = next(row for row, line in enumerate(mended) if line != lines[row])
            return mended, word, changed
        if mend is replace_characters:
            start = mended
    return None
