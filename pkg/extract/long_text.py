"""Extract the definitions and imports of a text that is too long to extract whole, without a syntax tree.

A tree and its extraction take up to a thousand times the memory of a dense text. So only classes, functions and imports
of longer texts are kept, found line by line; a class or function ends with its indentation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from pkg.extract.import_statements import parse_import
from pkg.extract.logical_lines import LogicalLine, find_colon, list_logical_lines, skip_string, split_arguments
from pkg.extract.parser import parse
from pkg.extract.summary.outline_summary import summarise_outline
from pkg.extract.token_budget import ONLY_OUTLINE, TOKEN_BUDGET
from pkg.model import Class, CodeUnit, Function, Import, Span, Status

MAX_DEPTH = 100  # of nested definitions; CPython refuses deeper indentation

_HEADER = re.compile(rb"(?P<async>async[ \t]+)?(?P<kind>def|class)[ \t]+(?P<name>[A-Za-z_\x80-\xff][\w\x80-\xff]*)")
_IMPORT = re.compile(rb"(?:import|from)\b")
_TYPE_PARAMETERS = re.compile(rb"\s*\[")
_BASES = re.compile(rb"\s*\(")
_DOCSTRING = re.compile(rb"[rRuU]?(?=[\"'])")
_LINE_BREAKS = re.compile(rb"[ \t\f\r\n\\]*")


def is_over_budget(text: bytes) -> bool:
    """Return whether a text has more tokens than are extracted whole; one with fewer bytes is not scanned."""
    tokens = 0
    for line in list_logical_lines(text) if len(text) > TOKEN_BUDGET else ():
        tokens += line.tokens
        if tokens > TOKEN_BUDGET:
            return True
    return False


def extract_long_text(text: bytes) -> CodeUnit:
    """Extract the classes, functions and imports of a text, and summarise them for resolution."""
    outline = _Outline(text)
    for line in list_logical_lines(text):
        outline.add(line)
    outline.close(-1)
    return CodeUnit(
        text,
        "python",
        Status.PARTIAL,
        f"over {TOKEN_BUDGET:,} tokens: {ONLY_OUTLINE}",
        tuple(outline.definitions),
        imports=tuple(outline.imports),
        summary=summarise_outline(outline.definitions, outline.imports),
    )


class _Open(NamedTuple):
    """An open class or function."""

    column: int  # of its header: code further right is inside
    number: int  # among the definitions


class _Outline:
    """The definitions and imports of a text, collected line by line."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self.definitions: list[Class | Function] = []
        self.imports: list[Import] = []
        self._stack: list[_Open] = []
        self._decorators: list[LogicalLine] = []  # of the next definition
        self._waiting: tuple[int, LogicalLine] | None = None  # a header whose suite begins with the next line
        self._end = LogicalLine(0, 0, 1, 1, 0)  # the line before

    def add(self, line: LogicalLine) -> None:
        """Add the next logical line."""
        text, column = self._text, self._measure(line.start)
        if self._waiting is not None:
            (at, header), self._waiting = self._waiting, None
            if column > at:
                self._open(at, header, line)
            self._decorators = []
        self.close(column)
        if text.startswith(b"@", line.start):
            self._decorators.append(line)
        elif _HEADER.match(text, line.start, line.end):
            if text[line.end - 1] == ord(":"):
                self._waiting = column, line
            else:  # the suite is on the line of the header
                body = self._find_visible(find_colon(text, line.start, line.end) + 1, line.end)
                if body < line.end:
                    first_line = line.first_line + text.count(b"\n", line.start, body)
                    self._open(column, line, line._replace(start=body, first_line=first_line))
                self._decorators = []
        else:
            self._decorators = []
            if _IMPORT.match(text, line.start, line.end):
                self._add_imports(line)
        self._end = line

    def close(self, column: int) -> None:
        """Close the definitions that do not contain a line at a column."""
        while self._stack and self._stack[-1].column >= column:
            found = self._stack.pop()
            definition = self.definitions[found.number]
            end = self._end
            span = Span(definition.span.start, end.end, definition.span.start_line, end.last_line)
            self.definitions[found.number] = definition._replace(span=span)

    def _measure(self, start: int) -> int:
        """Return the column of a place, with tabs expanded as in Python."""
        indentation = self._text[self._text.rfind(b"\n", 0, start) + 1 : start]
        return len(indentation.expandtabs(8)) if b"\t" in indentation else len(indentation)

    def _find_visible(self, start: int, end: int) -> int:
        found = _LINE_BREAKS.match(self._text, start, end)
        return found.end() if found else start

    def _open(self, column: int, header: LogicalLine, body: LogicalLine) -> None:
        """Begin the suite of a header at its first statement."""
        found = _HEADER.match(self._text, header.start, header.end)
        if found is None or len(self._stack) >= MAX_DEPTH:
            return
        first = self._decorators[0] if self._decorators else header
        decorators = tuple(self._read(each.start + 1, each.end) for each in self._decorators)
        outer = self._stack[-1].number if self._stack else None
        around = self.definitions[outer] if outer is not None else None
        name = found["name"].decode("utf-8", "replace")
        qualname = f"{around.qualname}.{name}" if around is not None else name
        span = Span(first.start, header.end, first.first_line, header.last_line)
        docstring = self._find_docstring(body)
        self._stack.append(_Open(column, len(self.definitions)))
        if found["kind"] == b"class":
            bases = tuple(self._list_bases(found.end(), header.end))
            self.definitions.append(Class(name, qualname, span, outer, bases, decorators, body.start, docstring))
        else:
            is_async, is_method = found["async"] is not None, isinstance(around, Class)
            self.definitions.append(Function(name, qualname, span, outer, is_method, is_async, decorators, docstring))

    def _read(self, start: int, end: int) -> str:
        return self._text[start:end].decode("utf-8", "replace").strip()

    def _list_bases(self, start: int, end: int) -> Iterator[str]:
        text = self._text
        if parameters := _TYPE_PARAMETERS.match(text, start, end):
            start = _skip_brackets(text, parameters.end(), end)
        if bases := _BASES.match(text, start, end):
            last = _skip_brackets(text, bases.end(), end)
            for each in split_arguments(text, bases.end(), last - 1):
                yield each.decode("utf-8", "replace")

    def _find_docstring(self, line: LogicalLine) -> Span | None:
        """Return the span of a statement that is only a string."""
        prefix = _DOCSTRING.match(self._text, line.start, line.end)
        if prefix is None or skip_string(self._text, prefix.end()) != line.end:
            return None
        return Span(line.start, line.end, line.first_line, line.last_line)

    def _add_imports(self, line: LogicalLine) -> None:
        text = self._text[line.start : line.end]
        span = Span(line.start, line.end, line.first_line, line.last_line)
        for statement in parse(text).root_node.named_children:
            if statement.type.startswith(("import", "future_import")) and not statement.has_error:
                self.imports += [Import(span, *record) for record in parse_import(statement, text)]


def _skip_brackets(text: bytes, start: int, end: int) -> int:
    """Return the place after the bracket that closes the one opened before a place."""
    depth, position = 1, start
    while depth and position < end:
        character = text[position]
        if character in b"\"'":
            position = skip_string(text, position)
            continue
        depth += (character in b"([{") - (character in b")]}")
        position += 1
    return position
