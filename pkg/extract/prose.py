"""Pick code out of prose (P-02): line ranges that parse are kept; damage from copying is repaired."""

from __future__ import annotations

import re
from collections.abc import Callable

from pkg.extract.fences import (
    BEGINS,
    CLASS,
    CLAUSE,
    DEFINITION,
    dedent,
    find_continued,
    has_prose,
    measure_indent,
    take_indent,
)
from pkg.extract.parser import is_sound, parse

MAX_REPAIRED_BYTES = 100_000
"""Longer text is generated or not code; repairing it costs more than it finds."""

_SPACES = dict.fromkeys(map(ord, "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"), " ")
_SPACES |= dict.fromkeys(map(ord, "\u2028\u2029\u202f\u205f\u3000\x0b\x0c\x1c\x1d\x1e\x85"), " ")
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"), "")
_TYPESET = {ord(each): plain for each, plain in zip("‘’‚“”„–—−", "'''\"\"\"---", strict=True)}
_CHARACTERS: dict[int, str] = {**_SPACES, **_INVISIBLE, **_TYPESET}

_BARE_HEADER = re.compile(rb"[ \t]*(?:async[ \t]+)?(?:def|class)\b.*:[ \t]*(?:\#.*)?\r?$")
_AFTER_BODY = re.compile(rb"(?:@|(?:async[ \t]+)?def\b|class\b|if[ \t]+__name__)")
_AFTER_CLASS = re.compile(rb"(?:class\b|if[ \t]+__name__)")


def replace_characters(lines: list[bytes]) -> list[bytes]:
    """Replace typographic quotes and dashes, odd spaces and invisible characters by those of Python."""
    return [line.decode("utf-8", "replace").translate(_CHARACTERS).encode() for line in lines]


def expand_tabs(lines: list[bytes]) -> list[bytes]:
    """Expand tabs of the indentation to four spaces."""
    return [take_indent(line).expandtabs(4) + line.lstrip(b" \t") for line in lines]


def align_dedents(lines: list[bytes]) -> list[bytes]:
    """Move a line whose indentation matches no open block into the innermost deeper block."""
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
    """Indent the lines after a bare `def` or `class`, up to the next definition."""
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
    """Return the row after a body at the depth of its header: a new definition or two blank lines end it."""
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
"""Repairs in the order of trial, with their names; each but the first starts from the text with plain characters."""


def repair(lines: list[bytes], accepts: Callable[[list[bytes]], bool]) -> tuple[list[bytes], str, int] | None:
    """Return the first accepted repair: the repaired lines, its name and the first changed row; None if none is."""
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


_MAX_DEPTH = 3  # nesting of broken classes that are searched
_MAX_SHRINKS = 5  # paragraphs cut from the end of a range


def is_sound_text(lines: list[bytes]) -> bool:
    """Return whether the lines parse as they are."""
    code = b"\n".join(lines)
    return not has_prose(code) and is_sound(parse(code), code)


def trim_prose(lines: list[bytes]) -> list[bytes]:
    """Blank the lines before the first and after the last line that may be code."""
    first = next((row for row, line in enumerate(lines) if BEGINS.match(line)), len(lines))
    end = next((row for row in range(len(lines), first, -1) if _may_end(lines[row - 1])), first)
    return [b""] * first + lines[first:end] + [b""] * (len(lines) - end)


def _may_end(line: bytes) -> bool:
    """Return whether code may end with the line: indented (by a wide space too), closing, a comment or a statement."""
    return bool(line.strip() and (line[:1] in b" \t)]}\"'#" or line[0] >= 0x80 or BEGINS.match(line)))


def pick_code(lines: list[bytes]) -> list[bytes]:
    """Keep the statements that parse and drop broken ones whole; the lines keep their number."""
    return _pick_ranges(lines, 0)


def split_ranges(lines: list[bytes]) -> list[tuple[int, int]]:
    """Split the lines into statements with their deeper lines; lines that begin no statement are dropped."""
    continued = find_continued(lines)
    ranges = []
    row = 0
    while row < len(lines):
        if row in continued or not BEGINS.match(lines[row]):
            row += 1
            continue
        end = _find_range_end(lines, row, continued)
        ranges.append((row, end))
        row = end
    return ranges


def _find_range_end(lines: list[bytes], start: int, continued: set[int]) -> int:
    depth = measure_indent(lines[start])
    decorates = lines[start].lstrip(b" \t").startswith(b"@")
    last = start
    for row in range(start + 1, len(lines)):
        line = lines[row]
        if not line.strip():
            last = row if row in continued else last
            continue
        width = measure_indent(line)
        if decorates and width == depth and (DEFINITION.match(line) or line.lstrip(b" \t").startswith(b"@")):
            decorates = not DEFINITION.match(line)
        elif row not in continued and width <= depth and not (width == depth and CLAUSE.match(line)):
            break
        last = row
    return last + 1


def _pick_ranges(lines: list[bytes], depth: int) -> list[bytes]:
    kept = [b""] * len(lines)
    for start, end in split_ranges(lines):
        if depth == 0 and lines[start].lstrip().startswith(b"return"):  # it has lost its function
            continue
        statement = lines[start:end]
        if depth == 0:  # so that it does not become the body of code above the prose
            indent = take_indent(lines[start])
            statement = [line.removeprefix(indent) for line in statement]
        kept[start:end] = _rescue(statement, depth)
    return kept


def _rescue(lines: list[bytes], depth: int) -> list[bytes]:
    """Keep a range as it is, without prose after it, repaired, or (a class) without its broken members."""
    if is_sound_text(lines):
        return lines
    shorter = _shrink(lines)
    if shorter is not None:
        return shorter
    repaired = repair(lines, is_sound_text)
    if repaired is not None:
        return repaired[0]
    return _rescue_class(lines, depth) or [b""] * len(lines)


def _shrink(lines: list[bytes]) -> list[bytes] | None:
    """Drop paragraphs without statements from the end, until the rest parses."""
    ends = [row for row in range(len(lines) - 1, 0, -1) if not lines[row].strip()]
    for end in ends[:_MAX_SHRINKS]:
        if any(BEGINS.match(line) for line in lines[end:]):
            return None
        if is_sound_text(lines[:end]):
            return lines[:end] + [b""] * (len(lines) - end)
    return None


def _rescue_class(lines: list[bytes], depth: int) -> list[bytes] | None:
    header = next((row for row, line in enumerate(lines) if CLASS.match(line)), None)
    if header is None or depth == _MAX_DEPTH or any(DEFINITION.match(line) for line in lines[:header]):
        return None
    members = split_ranges(lines[header + 1 :])
    if not members:
        return None
    first = header + 1 + members[0][0]
    kept = lines[:first] + _pick_ranges(lines[first:], depth + 1)
    return kept if is_sound_text(kept) else None
