"""Find the functions, classes, constants and module code that differ between two texts of a file.

Changes of comments, docstrings and blank lines, and moves, are not differences.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from pkg.extract.python import extract_unit
from pkg.model import Class, CodeUnit, Import, Label, Status

Key = tuple[Label, str]  # label and qualified name; module code has the label Module and no name
MODULE_CODE: Key = (Label.MODULE, "")


class Piece(NamedTuple):
    """One piece of code that differs, and how: changed, added, deleted, or uses a changed import."""

    label: Label
    qualname: str
    how: str


class CodeDifference(NamedTuple):
    """The pieces that differ, by name; if a text cannot be parsed, the whole file does."""

    pieces: tuple[Piece, ...]
    misfit: str = ""  # the side that does not parse, so that pieces cannot be compared

    @property
    def is_whole(self) -> bool:
        """Return whether the whole file counts as changed."""
        return bool(self.misfit)


@dataclass(slots=True)
class _Code:
    """The code of one text, each piece without its inner pieces."""

    texts: dict[Key, list[bytes]] = field(default_factory=lambda: defaultdict(list))
    imports: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # bound name -> statements
    is_sound: bool = True


def compare_code(old: bytes | None, new: bytes | None) -> CodeDifference:
    """Compare two texts of a file; None if there is none."""
    before, after = _read_code(old), _read_code(new)
    pieces = dict(_list_changed(before, after))
    for key in _list_users(_compare_imports(before, after), before, after):
        pieces.setdefault(key, "uses a changed import")
    found = (Piece(*key, how) for key, how in sorted(pieces.items(), key=lambda each: (each[0][1], each[0][0].value)))
    misfit = "does not parse" if not after.is_sound else "did not parse" if not before.is_sound else ""
    return CodeDifference(tuple(found), misfit)


def _list_changed(before: _Code, after: _Code) -> Iterator[tuple[Key, str]]:
    """Yield the pieces whose texts differ, and how."""
    for key in before.texts.keys() | after.texts.keys():
        if before.texts.get(key) != after.texts.get(key):
            is_changed = key in before.texts and key in after.texts
            yield key, "changed" if is_changed else "added" if key in after.texts else "deleted"


def _compare_imports(before: _Code, after: _Code) -> set[str]:
    """Return the names whose import by module code differs or is gone."""
    names = before.imports.keys() | after.imports.keys()
    return {name for name in names if before.imports.get(name) != after.imports.get(name)}


def _list_users(names: set[str], before: _Code, after: _Code) -> Iterator[Key]:
    """Yield the pieces whose text has one of some names; a star import may provide any of them."""
    if "*" in names:
        yield MODULE_CODE
    wanted = sorted(names - {"*"})
    if not wanted:
        return
    word = re.compile(rb"(?<![\w.])(?:%s)(?!\w)" % b"|".join(re.escape(name.encode()) for name in wanted))
    for key, texts in chain(before.texts.items(), after.texts.items()):
        if any(word.search(text) for text in texts):
            yield key


def _read_code(text: bytes | None) -> _Code:
    code = _Code()
    if text is None:
        return code
    unit = extract_unit(text, with_summary=False)
    code.is_sound = unit.status is Status.OK
    holes = _list_holes(unit)
    for number, definition in enumerate(unit.definitions):
        label = Label.CLASS if isinstance(definition, Class) else Label.FUNCTION
        span = definition.span.start, definition.span.end
        code.texts[label, definition.qualname].append(_cut(text, span, holes[number]))
    for constant in unit.constants:
        span = constant.span.start, constant.span.end
        code.texts[Label.CONSTANT, constant.qualname].append(_cut(text, span, unit.comments))
    left = _cut(text, (0, len(text)), holes[None])
    if left:
        code.texts[MODULE_CODE].append(left)
    for each in _list_imports(unit):
        code.imports[each.bound_name].add(each.statement)
    return code


def _list_imports(unit: CodeUnit) -> Iterator[Import]:
    """List the imports of module code; those inside definitions are part of these."""
    inner = [each.span for each in unit.definitions if each.parent is None]
    for each in unit.imports:
        if not any(span.start <= each.span.start < span.end for span in inner):
            yield each


def _list_holes(unit: CodeUnit) -> dict[int | None, list[tuple[int, int]]]:
    """Return the spans, by definition, None for the module, that are not part of its own code."""
    holes: dict[int | None, list[tuple[int, int]]] = defaultdict(list)
    for each in chain(unit.definitions, unit.constants):
        holes[each.parent].append((each.span.start, each.span.end))
    for number, definition in enumerate(unit.definitions):
        docstring = definition.docstring
        holes[number] += [(docstring.start, docstring.end)] if docstring else []
        holes[number] += unit.comments
    holes[None] += [(each.span.start, each.span.end) for each in _list_imports(unit)]
    holes[None] += unit.comments
    if unit.module is not None and unit.module.docstring is not None:
        holes[None].append((unit.module.docstring.start, unit.module.docstring.end))
    return holes


def _cut(text: bytes, span: tuple[int, int], holes: Iterable[tuple[int, int]]) -> bytes:
    """Return the text of a span without holes, blank lines and trailing white space."""
    parts, place = [], span[0]
    for start, end in sorted(each for each in holes if span[0] <= each[0] and each[1] <= span[1]):
        if start >= place:
            parts.append(text[place:start])
            place = end
    lines = b"".join([*parts, text[place : span[1]]]).splitlines()
    return b"\n".join(line.rstrip() for line in lines if line.strip(b" \t\f\r\n;"))
