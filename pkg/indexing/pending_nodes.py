"""Nodes of one fragment or text file before they are encoded: ids and parents (P-05), fields of terms, spans to encode.

Of a class, module or constant the declaration itself is encoded and indexed, not its contents.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from pkg.encode.headings import head_text, make_heading
from pkg.graph.graph_records import describe_generated
from pkg.indexing.fields import FieldSpans
from pkg.indexing.written_docstrings import NO_TEXTS, GeneratedTexts, fill_function
from pkg.model import (
    EMBEDDED_LABELS,
    NOT_GENERATED,
    Block,
    Call,
    Class,
    CodeUnit,
    Constant,
    Docstring,
    Function,
    Import,
    Label,
    Module,
    Span,
    TextUnit,
)
from pkg.terms.packed_terms import TERM_LABELS, NodeKeys, TermRows, pack_terms
from pkg.terms.term_weights import Field
from pkg.units import CallSite, Fragment, NodeRow, PieceNames, format_id, hash_bytes, hash_inside, name_module

Range = tuple[int, int]  # byte offsets [start, end)

MAX_FUNCTION_BYTES = 200_000  # bytes encoded: longer functions hold data, and each word takes 1 kB
MAX_DECLARATION_BYTES = 4_000  # bytes encoded of a class or module; longer texts have vague vectors
MAX_VALUE_BYTES = 1_000  # bytes encoded and indexed of a value, which may be a table of a thousand lines

_SAME_LINE = re.compile(rb"[ \t,;)\]}]*")
_NEXT_LINE = re.compile(rb"[ \t]*\r?\n[ \t]*")


def list_own_ranges(ranges: Iterable[Range], inside: Iterable[Span]) -> list[Range]:
    """Subtract spans from ranges; both ascend, and spans nested in another are ignored."""
    holes = iter([*inside, None])
    hole = next(holes)
    own: list[Range] = []
    for start, end in ranges:
        while hole is not None and hole.start < end:
            if hole.start > start:
                own.append((start, hole.start))
            start = max(start, hole.end)
            if start > end:  # the span reaches into the next range
                break
            hole = next(holes)
        if start < end:
            own.append((start, end))
    return own


def list_own_text(text: bytes, own: Iterable[Range], names: Sequence[str] = ()) -> bytes:
    """Return the text to encode for a class or module: its own ranges, and the names of the definitions in it."""
    parts = [part for start, end in own if (part := text[start:end].strip())]
    parts.append(" ".join(names).encode("utf-8", "replace"))
    return b"\n".join(filter(None, parts))[:MAX_DECLARATION_BYTES]


def extend_to_comments(text: bytes, constant: Constant, comments: Sequence[Range]) -> Range:
    """Extend the range of a constant to the comments above and after it, and to the string below it.

    comments: all comments of the text, ascending. A long value is truncated.
    """
    start, end, *_ = constant.span
    above = bisect_left(comments, (start,)) - 1
    while above >= 0 and _is_above(text, comments[above], start):
        start = comments[above][0]
        above -= 1
    after = bisect_left(comments, (end,))
    if after < len(comments) and _SAME_LINE.fullmatch(text, end, comments[after][0]):
        end = comments[after][1]
    if constant.docstring is not None:
        end = constant.docstring[1]
    value = constant.value
    return start, min(end, value[0] + MAX_VALUE_BYTES) if value else end


def _is_above(text: bytes, comment: Range, start: int) -> bool:
    """Return whether a comment is alone on the line above a place."""
    line = text.rfind(b"\n", 0, comment[0]) + 1
    return bool(_NEXT_LINE.fullmatch(text, comment[1], start)) and not text[line : comment[0]].strip()


def list_field_ranges(constant: Constant, around: Range) -> Iterator[tuple[Field, Range]]:
    """Yield the fields of a constant except its name and scope; around: the range that extend_to_comments returns."""
    start, end, *_ = constant.span
    value, docstring = constant.value, constant.docstring
    if around[0] < start:
        yield Field.COMMENTS, (around[0], start)
    yield Field.SIGNATURE, (start, value[0] if value else end)
    if value is not None:
        yield Field.BODY, (value[0], min(value[1], value[0] + MAX_VALUE_BYTES))
    if docstring is not None:
        yield Field.DOCSTRING, docstring
    after = docstring[0] if docstring else around[1]
    if end < after:
        yield Field.COMMENTS, (end, after)


class CodePieces:
    """The pieces of a unit in text order, and its calls by function."""

    def __init__(self, code: CodeUnit) -> None:
        self.code = code

    def comments_in(self, span: Span) -> tuple[tuple[int, int], ...]:
        """Return the comments inside a span."""
        low, high = (bisect_left(self.code.comments, (place,)) for place in (span.start, span.end))
        return self.code.comments[low:high]

    def calls_of(self, owners: Iterable[int | None]) -> list[Call]:
        """Return the calls of some functions by line."""
        return sorted((call for owner in owners for call in self._calls.get(owner, ())), key=lambda call: call.line)

    @cached_property
    def _calls(self) -> dict[int | None, list[Call]]:
        calls: dict[int | None, list[Call]] = defaultdict(list)
        for call in self.code.calls:
            calls[call.function].append(call)
        return calls


def _find_inside(
    pieces: tuple[Class | Function, ...] | tuple[Block, ...] | tuple[Import, ...] | tuple[Constant, ...], span: Span
) -> range:
    """Return the indices of the pieces inside a span, by bisection: pieces are in text order."""
    low = bisect_left(pieces, span.start, key=_start)
    return range(low, bisect_left(pieces, span.end, low, key=_start))


def _start(piece: Class | Function | Block | Import | Constant) -> int:
    return piece.span.start


def pack_node_terms(nodes: Iterable[NodeRow], terms: TermRows) -> bytes:
    """Pack the terms of the nodes that have any, in the order of nodes."""
    indexed = [node for node in nodes if node.label in TERM_LABELS]
    ids, contents = np.array([(node.id, node.content_hash) for node in indexed], np.uint64).reshape(-1, 2).T
    return pack_terms([node.label for node in indexed], NodeKeys(ids, contents), terms)


class PendingNodes:
    """The nodes of a fragment whose vectors and terms are not known yet."""

    def __init__(
        self, pieces: CodePieces, span: Span, place: tuple[str, str], path: str, generated: GeneratedTexts = NO_TEXTS
    ) -> None:
        """Make the rows of a span.

        generated: texts for its functions; docstrings are only for those without one of their own.
        """
        self._pieces = pieces
        self._generated = generated
        self._span = span
        self._text = pieces.code.text[span.start : span.end]
        self._path = path
        self._is_file = bool(path)  # a piece of a row has no path
        self._names = PieceNames(*place)
        self.nodes: list[NodeRow] = []
        self._index: dict[int | None, int] = {}  # definition -> node
        blocks = _find_inside(pieces.code.blocks, span)
        bodies = pieces.code.blocks[blocks.start : blocks.stop]
        self.fields = FieldSpans(self._text, span.start, path, bodies, pieces.comments_in(span))
        self.tail: list[bytes] = []  # encoded texts that differ from the source, such as imports
        self.spans: list[tuple[int, int]] = []  # byte offsets into encoded_text
        self.headings: list[str] = []  # of each span
        self._tail_end = len(self._text) + 1
        self._add_pieces(span)

    def _add_pieces(self, span: Span) -> None:
        code = self._pieces.code
        for number in _find_inside(code.definitions, span):
            self._add_definition(number)
        self._add_blocks(_find_inside(code.blocks, span))
        for number in _find_inside(code.imports, span):
            self._add_import(code.imports[number])
        for number in _find_inside(code.constants, span):
            self._add_constant(code.constants[number])
        if self._is_file and code.module is not None:
            self._add_module(code.module)

    @property
    def encoded_text(self) -> bytes:
        """Return the text that spans point into: the fragment, then encoded texts that differ from the source."""
        return b"\n".join((self._text, *self.tail))

    @property
    def embedded(self) -> list[NodeRow]:
        """Return the nodes that are encoded, one for each span."""
        return [node for node in self.nodes if node.label in EMBEDDED_LABELS]

    def list_encoded(self) -> dict[str, tuple[bytes, str]]:
        """Return the encoded text and heading of each node by id."""
        text = self.encoded_text
        rows = zip(self.embedded, self.spans, self.headings, strict=True)
        return {format_id(row.id): (text[start:end], heading) for row, (start, end), heading in rows}

    def finish(self, key: int, vectors: npt.NDArray[np.float16], terms: TermRows) -> Fragment:
        """Return the fragment, given the vectors of its spans, float16 [spans, dimension], and its terms."""
        packed = pack_node_terms(self.nodes, terms)
        return Fragment(key, self._text, tuple(self.nodes), vectors, packed, tuple(self._list_calls()))

    def _place(self, span: Span) -> tuple[int, int, int, int]:
        base, line = self._span.start, self._span.start_line - 1
        return span.start - base, span.end - base, span.start_line - line, span.end_line - line

    def _add_definition(self, number: int) -> None:
        definition = self._pieces.code.definitions[number]
        label = Label.FUNCTION if isinstance(definition, Function) else Label.CLASS
        place = start, end, _, _ = self._place(definition.span)
        hashed = hash_bytes(self._text[start:end])
        self._index[number] = len(self.nodes)
        parent = self._find_parent(number)
        kind, written = None, NOT_GENERATED
        if isinstance(definition, Function):
            kind = "method" if definition.is_method else "function"
            self.headings.append(make_heading(self._path, definition.qualname))
            if self._generated:
                written = self._generated.get(hashed, NOT_GENERATED)
                written = replace(written, docstring=self._fill(definition, start, end, written.docstring))
            if written.docstring is None:
                self.spans.append((start, min(end, start + MAX_FUNCTION_BYTES)))
            self.fields.add_function(number, definition, written)
        else:
            self._describe_class(number, definition)
        identity = self._names.name(label, definition.qualname)
        properties = _describe(definition)
        if written != NOT_GENERATED:
            properties |= describe_generated(written)
        self.nodes.append(
            NodeRow(
                identity, label, parent, definition.name, definition.qualname, kind, *place, hashed,
                properties or None,
            )
        )  # fmt: skip

    def _find_parent(self, number: int) -> int:
        """Return the index of the node that contains a definition; -1 for the unit."""
        parent = self._pieces.code.definitions[number].parent
        return -1 if parent is None else self._index.get(parent, -1)

    def _fill(self, function: Function, start: int, end: int, written: Docstring | None) -> Docstring | None:
        """Encode a function with the docstring that was generated for it; return that docstring, if it has a place."""
        if written is None or function.docstring:
            return None
        column = start - (self._text.rfind(b"\n", 0, start) + 1)
        filled = fill_function(self._text[start:end], written, column)
        if filled is None:
            return None
        self._encode_also(filled)
        return written

    def _describe_class(self, number: int, definition: Class) -> None:
        """Encode a class without the bodies of its methods and inner classes, but with their names."""
        inside, names = [], list[str]()
        definitions = self._pieces.code.definitions
        for other in _find_inside(definitions, definition.span):
            inner = definitions[other]
            if inner.parent == number:
                inside.append(inner.span)
                names.append(inner.name)
        own = list_own_ranges([(definition.span.start, definition.span.end)], inside)
        self.fields.add_class(definition, own, names)
        self._encode_also(list_own_text(self._pieces.code.text, own, names))
        self.headings.append(make_heading(self._path, definition.qualname))

    def _encode_also(self, text: bytes) -> None:
        """Encode a text that does not occur in the fragment as such."""
        self.spans.append((self._tail_end, self._tail_end + len(text)))
        self.tail.append(text)
        self._tail_end += len(text) + 1

    def _add_blocks(self, numbers: range) -> None:
        code, nodes = self._pieces.code, self.nodes
        first, label = len(nodes) - numbers.start, Label.BLOCK
        for number in numbers:
            block = code.blocks[number]
            place = start, end, _, _ = self._place(block.span)
            owner = nodes[self._index[block.function]]
            parent = self._index[block.function] if block.parent is None else first + block.parent
            identity = hash_inside(owner.id, block.path)
            self.spans.append((start, end))
            self.headings.append(make_heading(self._path, owner.qualname))
            nodes.append(
                NodeRow(
                    identity, label, parent, block.path, owner.qualname, block.kind, *place,
                    hash_bytes(self._text[start:end]), None,
                )
            )  # fmt: skip

    def _add_import(self, record: Import) -> None:
        rendered = record.statement.encode("utf-8", "replace")
        place = self._place(record.span)
        self._encode_also(rendered)
        self.headings.append("")
        name = record.name or record.module
        identity = self._names.name(Label.IMPORT, rendered.decode())
        self.fields.add_import(name, record.statement)
        properties = {"module": record.module, "alias": record.alias, "level": record.level, "imported": record.name}
        kept: dict[str, object] = {key: value for key, value in properties.items() if value}
        self.nodes.append(NodeRow(identity, Label.IMPORT, -1, name, name, None, *place, hash_bytes(rendered), kept))

    def _add_constant(self, constant: Constant) -> None:
        """Add a constant, encoded with the comments around it; constants of a row's own code have no place."""
        parent = -1 if constant.parent is None else self._index.get(constant.parent, -1)
        if parent < 0 and not self._is_file:
            return
        text, first = self._pieces.code.text, self._span.start
        around = extend_to_comments(text, constant, self._pieces.code.comments)
        self.spans.append((around[0] - first, around[1] - first))
        self.headings.append(make_heading(self._path, constant.qualname))
        self.fields.add_constant(constant, list_field_ranges(constant, around))
        place = start, end, _, _ = self._place(constant.span)
        # Names distinguish fields of one statement and constants of equal statements.
        hashed = hash_bytes(b"\0".join((constant.qualname.encode("utf-8", "replace"), self._text[start:end])))
        places = {"value": constant.value, "annotation": constant.annotation, "docstring": constant.docstring}
        base = constant.span.start
        kept: dict[str, object] = {name: [at[0] - base, at[1] - base] for name, at in places.items() if at}
        self.nodes.append(
            NodeRow(
                self._names.name(Label.CONSTANT, constant.qualname), Label.CONSTANT, parent, constant.name,
                constant.qualname, constant.kind, *place, hashed, kept or None,
            )
        )  # fmt: skip

    def _add_module(self, module: Module) -> None:
        """Add the code of a file outside of definitions and imports."""
        code = self._pieces.code
        inside = [each.span for each in code.definitions if each.parent is None] + [each.span for each in code.imports]
        own = list_own_ranges(module.statements, sorted(inside))
        self.fields.add_module(module, own)
        self._encode_also(list_own_text(code.text, own))
        self.headings.append(make_heading(self._path, ""))
        place = start, end, _, _ = self._place(module.span)
        name, at = name_module(self._path), module.docstring
        kept: dict[str, object] | None = None if at is None else {"docstring": [at.start - start, at.end - start]}
        self.nodes.append(
            NodeRow(
                self._names.name(Label.MODULE, name), Label.MODULE, -1, name, name, "module", *place,
                hash_bytes(self._text[start:end]), kept,
            )
        )  # fmt: skip

    def _list_calls(self) -> Iterator[CallSite]:
        """Yield the call sites of the fragment by line; those of module and class code only in a file.

        A piece of a row must not depend on the rest of the row.
        """
        base, index = self._span.start_line - 1, self._index | {None: -1}
        calls = self._pieces.code.calls if self._is_file else self._pieces.calls_of(self._index)
        return (CallSite(call.expression, call.line - base, index[call.function]) for call in calls)


def _describe(definition: Class | Function) -> dict[str, object]:
    """Return the properties that only some definitions have; docstring offsets count from the definition (A-13)."""
    properties: dict[str, object] = {}
    if definition.docstring is not None:
        start = definition.span.start
        properties["docstring"] = [definition.docstring.start - start, definition.docstring.end - start]
    if definition.decorators:
        properties["decorators"] = list(definition.decorators)
    if isinstance(definition, Class):
        if definition.bases:
            properties["bases"] = list(definition.bases)
    elif definition.is_async:
        properties["is_async"] = True
    return properties


class PendingChunks:
    """The chunks of a text file whose vectors and terms are not known yet; the counterpart of PendingNodes."""

    def __init__(self, unit: TextUnit, source: str, path: str) -> None:
        """Make the rows of the chunks."""
        self._text = unit.text
        self._nodes: list[NodeRow] = []
        self.fields = FieldSpans(unit.text, 0, path, (), ())
        self.spans: list[tuple[int, int]] = []  # byte offsets into encoded_text
        names, encoded, first = PieceNames(source, path), list[bytes](), 0
        for chunk in unit.chunks:
            self.fields.add_chunk(chunk)
            content = unit.text[chunk.span.start : chunk.span.end]
            identity = names.name(Label.CHUNK, chunk.qualname)
            self._nodes.append(
                NodeRow(
                    identity, Label.CHUNK, -1, chunk.name, chunk.qualname, None, *chunk.span, hash_bytes(content), None
                )
            )  # fmt: skip
            encoded.append(head_text(path, chunk.qualname, content))
            self.spans.append((first, first + len(encoded[-1])))
            first += len(encoded[-1]) + 1
        self.encoded_text = b"\n".join(encoded)
        self.headings = [""] * len(encoded)  # of each span

    def finish(self, key: int, vectors: npt.NDArray[np.float16], terms: TermRows) -> Fragment:
        """Return the fragment, given the vectors of its chunks, float16 [chunks, dimension], and their terms."""
        return Fragment(key, self._text, tuple(self._nodes), vectors, pack_node_terms(self._nodes, terms), ())
