"""Pick code out of prose: the line ranges that parse stay, every other line is blanked (P-02)."""

from __future__ import annotations

from pkg.extract.code_lines import (
    BEGINS,
    CLASS,
    CLAUSE,
    DEFINITION,
    find_continued,
    has_prose,
    measure_indent,
    take_indent,
)
from pkg.extract.parser import parse
from pkg.extract.repairs import repair
from pkg.extract.soundness import is_sound

_MAX_DEPTH = 3  # classes inside a broken class that are looked into
_MAX_SHRINKS = 5  # paragraphs that are cut from the end of a range


def is_sound_text(lines: list[bytes]) -> bool:
    """Tell whether the lines parse as they stand."""
    code = b"\n".join(lines)
    return not has_prose(code) and is_sound(parse(code), code)


def trim_prose(lines: list[bytes]) -> list[bytes]:
    """Blank what stands before the first line and behind the last line that may be code."""
    first = next((row for row, line in enumerate(lines) if BEGINS.match(line)), len(lines))
    end = next((row for row in range(len(lines), first, -1) if _may_end(lines[row - 1])), first)
    return [b""] * first + lines[first:end] + [b""] * (len(lines) - end)


def _may_end(line: bytes) -> bool:
    """Tell whether code may end with the line: indented (by a wide space too), closing, a comment or a statement."""
    return bool(line.strip() and (line[:1] in b" \t)]}\"'#" or line[0] >= 0x80 or BEGINS.match(line)))


def pick_code(lines: list[bytes]) -> list[bytes]:
    """Keep the statements that parse, a broken one dropped as a whole; the lines keep their number."""
    return _pick_ranges(lines, 0)


def split_ranges(lines: list[bytes]) -> list[tuple[int, int]]:
    """Cut the lines into statements with all that stands deeper; what no statement begins with is left out."""
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
        if depth == 0:  # so that it does not become the body of what stands above the prose
            indent = take_indent(lines[start])
            statement = [line.removeprefix(indent) for line in statement]
        kept[start:end] = _rescue(statement, depth)
    return kept


def _rescue(lines: list[bytes], depth: int) -> list[bytes]:
    """Keep a range as it is, without prose behind it, repaired, or (a class) without its broken members."""
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
    """Drop paragraphs from the end while they hold no statement, until the rest parses."""
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
