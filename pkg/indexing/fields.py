"""Extract the fields of functions, imports and declarations, and compute the weights of their terms in batches."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pkg.encode.headings import make_heading
from pkg.encode.word_table import number_identifiers
from pkg.model import NOT_GENERATED, Block, Chunk, Class, Constant, Function, Generated, Module
from pkg.terms.packed_terms import Numbers, TermRows, expand_runs, quantise
from pkg.terms.term_weights import Field, FieldWeights, load_field_weights
from pkg.terms.words import MAX_WORD, TABLE_LIMIT, WORD_LIMIT, hash_term, split_identifiers, stem_word
from pkg.units import name_module

FieldSpan = tuple[int, int, int, int]  # byte offsets [start, end), number of the node, field
Range = tuple[int, int]  # byte offsets [start, end)

_FIELD_BITS = 3
_TERM_BITS = 32


@dataclass(frozen=True, slots=True)
class FieldCounts:
    """Counts of each term in each field of n nodes: parallel columns, sorted by node, term and field."""

    nodes: Numbers
    hashes: npt.NDArray[np.uint32]
    fields: Numbers
    counts: Numbers
    lengths: Numbers  # [n, fields], number of terms

    def weigh(self, weights: FieldWeights) -> TermRows:
        """Sum the weighted fields of each term and round them; the terms of a node ascend."""
        size = len(self.lengths)
        if not len(self.nodes):
            return TermRows(np.zeros(size, np.int64), self.hashes, np.zeros(0, np.uint8))
        parts = weights.factors(self.lengths)[self.nodes, self.fields] * self.counts
        is_first = (np.diff(self.nodes, prepend=-1) != 0) | (np.diff(self.hashes, prepend=~self.hashes[:1]) != 0)
        starts = np.flatnonzero(is_first)
        return TermRows(
            np.bincount(self.nodes[starts], minlength=size),
            self.hashes[starts],
            quantise(np.add.reduceat(parts, starts)),
        )


class FieldReader:
    """Count terms by field, with a cache of identifiers, because texts repeat them."""

    def __init__(self) -> None:
        self._table = _IdentifierTable()

    def count(
        self, text: bytes, spans: Sequence[FieldSpan] | Numbers, comments: Sequence[Range], nodes: int
    ) -> FieldCounts:
        """Count the terms in the spans of a text; text inside a comment counts as comment in any span.

        spans: also int64 [spans, 4]. comments: ascending, without overlap. nodes: their number.
        """
        table = np.asarray(spans, np.int64).reshape(-1, 4)
        identifiers, starts = self._read_identifiers(text if len(table) else b"")
        first, last = np.searchsorted(starts, table[:, 0]), np.searchsorted(starts, table[:, 1])
        runs = last - first
        places = expand_runs(first, runs)
        owners, fields = np.repeat(table[:, 2], runs), np.repeat(table[:, 3], runs)
        fields[_find_inside(starts, comments)[places] & (fields >= Field.SIGNATURE)] = Field.COMMENTS
        begins, amounts, hashes = self._table.terms()
        chosen = identifiers[places]
        repeats = amounts[chosen]
        groups = np.repeat(owners << _FIELD_BITS | fields, repeats)
        found = hashes[expand_runs(begins[chosen], repeats)].astype(np.int64)
        return _count(groups, found, nodes)

    def _read_identifiers(self, text: bytes) -> tuple[Numbers, Numbers]:
        """Return the table index and the start offset of each identifier of a text, both [identifiers]."""
        self._table.make_room()
        return number_identifiers(text, self._table)


def _count(groups: Numbers, hashes: Numbers, nodes: int) -> FieldCounts:
    """Count equal terms of equal groups (node and field), sorted as one number: node, term, field."""
    lengths = np.bincount(groups, minlength=nodes << _FIELD_BITS).reshape(nodes, 1 << _FIELD_BITS)[:, : len(Field)]
    fields_mask = (1 << _FIELD_BITS) - 1
    owners = groups >> _FIELD_BITS
    keys = (owners << _TERM_BITS | hashes) << _FIELD_BITS | groups & fields_mask
    keys.sort()
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    keys, ends = keys[starts], np.append(starts[1:], len(keys))
    terms = keys >> _FIELD_BITS
    return FieldCounts(
        terms >> _TERM_BITS,
        (terms & (1 << _TERM_BITS) - 1).astype(np.uint32),
        keys & fields_mask,
        ends - starts,
        lengths,
    )


def _find_inside(starts: Numbers, ranges: Sequence[Range]) -> npt.NDArray[np.bool_]:
    """Return for each start whether it lies in one of the ranges."""
    if not ranges:
        return np.zeros(len(starts), bool)
    table = np.array(ranges, np.int64)
    place = np.searchsorted(table[:, 0], starts, "right") - 1
    inside: npt.NDArray[np.bool_] = (place >= 0) & (starts < table[place, 1])
    return inside


class _IdentifierTable(dict[bytes, int]):
    """Number identifiers, and cache the terms of each."""

    def __init__(self) -> None:
        super().__init__()
        self._words = _WordTable()
        self._forget()

    def _forget(self) -> None:
        self.clear()
        self._known: Numbers = np.zeros((0, 2), np.int64)  # start and number of the terms of each identifier
        self._hashes: npt.NDArray[np.uint32] = np.zeros(0, np.uint32)
        self._fresh: list[bytes] = []

    def __missing__(self, identifier: bytes) -> int:
        index = self[identifier] = len(self)
        self._fresh.append(identifier)
        return index

    def make_room(self) -> None:
        """Clear the table if it is full."""
        if len(self) > TABLE_LIMIT:
            self._forget()

    def terms(self) -> tuple[Numbers, Numbers, npt.NDArray[np.uint32]]:
        """Return start and number of the terms of each identifier, and the terms of all."""
        if self._fresh:
            parts = split_identifiers(self._fresh, with_numbers=True)
            found = np.fromiter(map(self._words.__getitem__, parts), np.int64, len(parts))
            ends = np.flatnonzero(found == _END)
            is_term = found >= 0
            stops = len(self._hashes) + np.cumsum(is_term)[ends]
            starts = np.concatenate(([len(self._hashes)], stops[:-1]))
            self._known = np.concatenate((self._known, np.stack((starts, stops - starts), axis=1)))
            self._hashes = np.concatenate((self._hashes, found[is_term].astype(np.uint32)))
            self._fresh = []
        return self._known[:, 0], self._known[:, 1], self._hashes


_END, _NO_TERM = -1, -2  # the end of an identifier; a text too long to be a word


class _WordTable(dict[str, int]):
    """Cache the terms of words by their spelling."""

    def __init__(self) -> None:
        super().__init__()
        self._forget()

    def _forget(self) -> None:
        self.clear()
        self[" "] = _END

    def __missing__(self, word: str) -> int:
        if len(self) > WORD_LIMIT:
            self._forget()
        number = hash_term(stem_word(word)) if len(word) <= MAX_WORD else _NO_TERM
        self[word] = number
        return number


class FieldSpans:
    """Collect fields; texts that do not occur in the source, such as the path, are written into a tail."""

    def __init__(self, text: bytes, first: int, path: str, bodies: Iterable[Block], comments: Iterable[Range]) -> None:
        """Begin with a fragment that starts at a byte of its unit, and the bodies and comments inside it."""
        self._path = path
        self._first = first
        self._parts = [text]
        self._end = len(text) + 1
        self._written: dict[bytes, Range] = {}
        self._bodies = {block.function: block.span.start for block in bodies if block.kind == "body"}
        self.comments = [(start - first, end - first) for start, end in comments]
        self.spans = array("q")  # flat FieldSpans: tuples took five times the memory
        self.nodes = 0

    @property
    def text(self) -> bytes:
        """Return the text that spans point into."""
        return b"\n".join(self._parts)

    def add_function(self, number: int, function: Function, written: Generated = NOT_GENERATED) -> None:
        """Add the fields of a function, by its number among the definitions of the unit.

        written: its generated texts; a docstring only if the function has none of its own.
        """
        owners = function.qualname.rpartition(".")[0]
        start, end, docstring = function.span.start, function.span.end, function.docstring
        body = self._bodies.get(number, docstring.end if docstring else end)
        self._add_written(Field.NAME, function.name)
        self._add_written(Field.SCOPE, make_heading(self._path, owners))
        self._add(Field.SIGNATURE, start, docstring.start if docstring else body)
        if docstring is not None:
            self._add(Field.DOCSTRING, docstring.start, docstring.end)
        elif written.docstring is not None:
            self._add_written(Field.DOCSTRING, written.docstring.text)
            for comment in written.docstring.comments:
                self._add_written(Field.COMMENTS, comment)
        self._add(Field.BODY, body, end)
        for question in written.questions.texts if written.questions else ():
            self._add_written(Field.QUESTIONS, question)
        self.nodes += 1

    def add_import(self, name: str, statement: str) -> None:
        """Add the fields of an import: the imported name and a statement for it alone."""
        self._add_written(Field.NAME, name)
        self._add_written(Field.BODY, statement)
        self.nodes += 1

    def add_chunk(self, chunk: Chunk) -> None:
        """Add the fields of a chunk: its headings as the place field, its text as the docstring field.

        As name and body, whose weights were learned from functions, they found fewer chunks.
        """
        self._add_written(Field.SCOPE, make_heading(self._path, chunk.qualname))
        self._add(Field.DOCSTRING, chunk.span.start, chunk.span.end)
        self.nodes += 1

    def add_fact(self, place: str, own: Iterable[Range], value: str = "") -> None:
        """Add the fields of a fact, as those of a chunk: its keys as the place, its own text as the docstring.

        place: its document and keys. own: its ranges outside of nested facts. value: its text, if written by a model.
        """
        self._add_written(Field.SCOPE, place)
        for start, end in own:
            self._add(Field.DOCSTRING, start, end)
        if value:
            self._add_written(Field.DOCSTRING, value)
        self.nodes += 1

    def add_class(self, definition: Class, own: Iterable[Range], names: Iterable[str]) -> None:
        """Add the fields of a class; own: its ranges outside of inner definitions, which are given by names."""
        docstring = definition.docstring
        self._add_written(Field.NAME, definition.name)
        self._add_written(Field.SCOPE, make_heading(self._path, definition.qualname.rpartition(".")[0]))
        header = docstring.start if docstring else definition.body
        self._add(Field.SIGNATURE, definition.span.start, header)
        if docstring is not None:
            self._add(Field.DOCSTRING, docstring.start, docstring.end)
        self._add_after(docstring.end if docstring else header, own)
        self._add_written(Field.BODY, " ".join(names))
        self.nodes += 1

    def add_module(self, module: Module, own: Iterable[Range]) -> None:
        """Add the fields of the code of a file; own: its ranges outside of definitions and imports."""
        self._add_written(Field.NAME, name_module(self._path))
        self._add_written(Field.SCOPE, make_heading(self._path, ""))
        if module.docstring is not None:
            self._add(Field.DOCSTRING, module.docstring.start, module.docstring.end)
        self._add_after(module.docstring.end if module.docstring else 0, own)
        self.nodes += 1

    def _add_after(self, first: int, own: Iterable[Range]) -> None:
        """Add the ranges after a position as body."""
        for start, end in own:
            if end > first:
                self._add(Field.BODY, max(start, first), end)

    def add_constant(self, constant: Constant, said: Iterable[tuple[Field, Range]]) -> None:
        """Add the fields of a constant; said: the ranges that describe it, each with its field."""
        self._add_written(Field.NAME, constant.name)
        self._add_written(Field.SCOPE, make_heading(self._path, constant.qualname.rpartition(".")[0]))
        for field, (start, end) in said:
            self._add(field, start, end)
        self.nodes += 1

    def _add(self, field: Field, start: int, end: int) -> None:
        self.spans.extend((start - self._first, end - self._first, self.nodes, field))

    def _add_written(self, field: Field, text: str) -> None:
        """Add a field that is written into the tail, unless it is there already."""
        written = text.encode("utf-8", "replace")
        place = self._written.get(written)
        if place is None:
            place = self._written[written] = self._end, self._end + len(written)
            self._parts.append(written)
            self._end = place[1] + 1
        self.spans.extend((*place, self.nodes, field))


class JoinedFields:
    """Join the texts of several fragments and shift their fields, to count all in one pass."""

    def __init__(self) -> None:
        self.nodes = 0
        self._texts: list[bytes] = []
        self._end = 0
        self._spans: list[Numbers] = []  # int64 [spans, 4] for each fragment, a FieldSpan per row
        self._comments: list[Range] = []

    def add(self, fields: FieldSpans) -> None:
        """Add the fields of a fragment; its nodes are numbered after the earlier ones."""
        offset, first, text = self._end, self.nodes, fields.text
        if fields.spans:
            own = np.frombuffer(fields.spans, np.int64).reshape(-1, 4)
            self._spans.append(own + np.array([offset, offset, first, 0]))
        self._comments += [(offset + start, offset + end) for start, end in fields.comments]
        self._texts.append(text)
        self._end += len(text) + 1
        self.nodes += fields.nodes

    def count(self, reader: FieldReader) -> FieldCounts:
        """Count the terms of all fragments."""
        spans = np.concatenate(self._spans) if self._spans else np.zeros((0, 4), np.int64)
        return reader.count(b"\n".join(self._texts), spans, self._comments, self.nodes)


def extract_terms(reader: FieldReader, fragments: Sequence[FieldSpans]) -> list[TermRows]:
    """Count and weigh the terms of several fragments in one pass; return those of each."""
    if not fragments:
        return []
    joined = JoinedFields()
    for fragment in fragments:
        joined.add(fragment)
    counts, hashes, weights = joined.count(reader).weigh(load_field_weights())
    of_each = np.split(counts, np.cumsum([fragment.nodes for fragment in fragments])[:-1])
    cuts = np.cumsum([each.sum() for each in of_each], dtype=np.int64)[:-1]
    rows = zip(of_each, np.split(hashes, cuts), np.split(weights, cuts), strict=True)
    return [TermRows(*each) for each in rows]
