"""Extract the definitions and imports of a text that is too long to extract whole, without a syntax tree.

A tree and its extraction take up to a thousand times the memory of a dense text. So only classes, functions and imports
of longer texts are kept, found logical line by logical line; a class or function ends with its indentation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pkg.extract.files import ONLY_OUTLINE, TOKEN_BUDGET
from pkg.extract.import_statements import parse_import
from pkg.extract.parser import parse
from pkg.extract.summary import operations as o
from pkg.extract.summary.file_summary import write_summary
from pkg.extract.summary.frame_operations import Frame, Parameter
from pkg.model import Class, CodeUnit, Function, Import, Span, Status

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


_DOTTED = re.compile(r"\w+(?:\s*\.\s*\w+)*")
_ANY: list[Parameter] = [("", o.REST, False, None), ("", o.NAMED_REST, False, None)]


def summarise_outline(definitions: Sequence[Class | Function], imports: Sequence[Import]) -> bytes:
    """Summarise definitions, parents before children (A-12); bodies and results of functions are unknown."""
    module = Frame(o.MODULE, "", 0, None, b"")
    frames = [module]
    for number, record in enumerate(imports):
        if record.name == "*":
            module.add(o.STAR, number)
        else:
            module.add(o.SET_GLOBAL, record.bound_name, module.add(o.IMPORT, number))
    for number, each in enumerate(definitions):
        parent = frames[each.parent + 1] if each.parent is not None else module
        frames.append(_define(parent, each, len(frames), number))
    return write_summary(frames, imports)


def _define(parent: Frame, definition: Class | Function, place: int, number: int) -> Frame:
    """Open the frame of a definition, and bind its name in the one around."""
    site = parent.add_site(o.SITE_DEFINITION, definition.span.start, definition.span.start)
    if isinstance(definition, Class):
        frame = Frame(o.CLASS_BODY, definition.name, place, parent, b"", number)
        bases = [_read(parent, each) for each in definition.bases if "=" not in each]
        value = parent.add(o.CLASS, place, bases, [], site)
    else:
        frame = Frame(o.FUNCTION, definition.name, place, parent, b"", number)
        receiver = [("self", o.PLACED, False, None)] if definition.is_method else []
        frame.parameters = [*receiver, *_ANY]
        frame.add(o.RETURN, [frame.add(o.UNKNOWN)], [])
        value = parent.add(o.FUNC, place, [])
    if definition.decorators:
        decorators = [(_read(parent, each), int(each.endswith(")"))) for each in definition.decorators]
        value = parent.add(o.DECORATE, value, decorators, site)
    if parent.kind == o.MODULE:
        parent.add(o.SET_GLOBAL, definition.name, value)
    elif parent.kind == o.CLASS_BODY:
        parent.add(o.MEMBER, definition.name, value)
    return frame


def _read(frame: Frame, expression: str) -> int:
    """Read a dotted name; of a call or a subscripted class, that of the callee or class."""
    found = _DOTTED.match(expression)
    if found is None:
        return frame.add(o.UNKNOWN)
    first, *rest = (each.strip() for each in found[0].split("."))
    value = frame.add(o.GLOBAL, first)
    for name in rest:
        value = frame.add(o.ATTR, value, name, -1)
    return value if found.end() == len(expression) or expression[found.end()] == "[" else frame.add(o.UNKNOWN)
