"""Extract the definitions in the code of a document, at their places in its text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from pkg.extract.documents.parts import find_line
from pkg.extract.fences import PROMPT, dedent
from pkg.extract.python import extract_unit
from pkg.extract.text_files.text_sections import split_lines
from pkg.model import Block, Class, CodeUnit, Fact, Function, Span, Status

PYTHON = frozenset({"", "python", "python3", "py", "py3", "python2", "ipython", "ipython3", "pycon", "default"})
_DEFINES = re.compile(rb"^[ \t]*(?:async[ \t]+def|def|class)\b", re.MULTILINE)


def extract_code(
    text: bytes, facts: Sequence[Fact], languages: Sequence[str]
) -> tuple[CodeUnit | None, tuple[int, ...]]:
    """Return the classes, functions and blocks in the code of a document, and the fact that contains each definition.

    Console sessions are left out, because prompts would be part of the text of a function.
    """
    starts = [0, *accumulate(map(len, split_lines(text)))]
    definitions, blocks, owners = list[Class | Function](), list[Block](), list[int]()
    for number, (fact, language) in enumerate(zip(facts, languages, strict=True)):
        code = text[fact.span.start : fact.span.end]
        if fact.kind != "code" or language not in PYTHON or not _DEFINES.search(code) or PROMPT.search(code):
            continue
        found, mapping = _extract_at(text, fact.span, starts)
        first, first_block = len(definitions), len(blocks)
        definitions += [_move(each, mapping, first) for each in found.definitions]
        blocks += [_move_block(each, mapping, first, first_block) for each in found.blocks]
        owners += [number] * len(found.definitions)
    if not definitions:
        return None, ()
    return CodeUnit(text, "python", Status.OK, None, tuple(definitions), tuple(blocks)), tuple(owners)


class _Mapping:
    """Places of dedented code in its document."""

    def __init__(self, starts: Sequence[int], moved: Sequence[int], first_line: int) -> None:
        self._starts, self._moved, self._first_line = starts, moved, first_line

    def place(self, offset: int) -> int:
        row = bisect_right(self._starts, offset) - 1
        return self._moved[row] + offset - self._starts[row]

    def span(self, span: Span) -> Span:
        lines = self._first_line - 1
        return Span(
            self.place(span.start), self.place(span.end - 1) + 1, span.start_line + lines, span.end_line + lines
        )


def _extract_at(text: bytes, span: Span, starts: Sequence[int]) -> tuple[CodeUnit, _Mapping]:
    """Extract indented code without its indentation."""
    first = find_line(starts, span.start)
    begin = starts[first - 1]
    whole = text[begin : span.end].split(b"\n")
    lines = dedent(whole)
    cut = [len(one) - len(other) for one, other in zip(whole, lines, strict=True)]
    before = [begin + each for each in (0, *accumulate(len(line) + 1 for line in whole[:-1]))]
    moved = [start + removed for start, removed in zip(before, cut, strict=True)]
    own = [0, *accumulate(len(line) + 1 for line in lines[:-1])]
    code = extract_unit(b"\n".join(lines), with_summary=False)
    return code, _Mapping(own, moved, first)


def _move(each: Class | Function, mapping: _Mapping, first: int) -> Class | Function:
    parent = None if each.parent is None else each.parent + first
    docstring = None if each.docstring is None else mapping.span(each.docstring)
    moved = each._replace(span=mapping.span(each.span), parent=parent, docstring=docstring)
    return moved._replace(body=mapping.place(moved.body)) if isinstance(moved, Class) else moved


def _move_block(block: Block, mapping: _Mapping, first: int, first_block: int) -> Block:
    parent = None if block.parent is None else block.parent + first_block
    return block._replace(span=mapping.span(block.span), function=block.function + first, parent=parent)
