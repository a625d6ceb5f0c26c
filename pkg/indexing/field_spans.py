"""Find the fields of the functions and imports of one fragment: spans of its text, and of what is written behind it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from pkg.encode.headings import make_heading
from pkg.indexing.fields import FieldCounts, FieldReader, FieldSpan, Range
from pkg.model import Block, Function
from pkg.terms.impacts import TermRows
from pkg.terms.term_weights import Field, load_field_weights


class FieldSpans:
    """Collect fields; what stands in no text, such as the path, is written into a tail."""

    def __init__(self, text: bytes, first: int, path: str, bodies: Iterable[Block], comments: Iterable[Range]) -> None:
        """Begin with the text of a fragment that starts at a byte of its unit, and what the unit has in that piece."""
        self._path = path
        self._first = first
        self._parts = [text]
        self._end = len(text) + 1
        self._written: dict[bytes, Range] = {}
        self._bodies = {block.function: block.span.start for block in bodies if block.kind == "body"}
        self.comments = [(start - first, end - first) for start, end in comments]
        self.spans: list[FieldSpan] = []
        self.nodes = 0

    @property
    def text(self) -> bytes:
        """Give the text that spans point into."""
        return b"\n".join(self._parts)

    def add_function(self, number: int, function: Function) -> None:
        """Add the fields of a function, by its number among the definitions of the unit."""
        owners = function.qualname.rpartition(".")[0]
        start, end, docstring = function.span.start, function.span.end, function.docstring
        body = self._bodies.get(number, docstring.end if docstring else end)
        self._add_written(Field.NAME, function.name)
        self._add_written(Field.SCOPE, make_heading(self._path, owners))
        self._add(Field.SIGNATURE, start, docstring.start if docstring else body)
        if docstring is not None:
            self._add(Field.DOCSTRING, docstring.start, docstring.end)
        self._add(Field.BODY, body, end)
        self.nodes += 1

    def add_import(self, name: str, statement: str) -> None:
        """Add the fields of an import: what it imports, and the statement for it alone."""
        self._add_written(Field.NAME, name)
        self._add_written(Field.BODY, statement)
        self.nodes += 1

    def _add(self, field: Field, start: int, end: int) -> None:
        self.spans.append((start - self._first, end - self._first, self.nodes, field))

    def _add_written(self, field: Field, text: str) -> None:
        """Add a field that is written into the tail, unless it stands there already."""
        written = text.encode("utf-8", "replace")
        place = self._written.get(written)
        if place is None:
            place = self._written[written] = self._end, self._end + len(written)
            self._parts.append(written)
            self._end = place[1] + 1
        self.spans.append((*place, self.nodes, field))


class JoinedFields:
    """Join the texts of several fragments and move their fields along, to count all in one pass."""

    def __init__(self) -> None:
        self.nodes = 0
        self._texts: list[bytes] = []
        self._end = 0
        self._spans: list[FieldSpan] = []
        self._comments: list[Range] = []

    def add(self, fields: FieldSpans) -> None:
        """Add the fields of one more fragment; its nodes are numbered after those before."""
        offset, first, text = self._end, self.nodes, fields.text
        self._spans += [(offset + start, offset + end, first + node, field) for start, end, node, field in fields.spans]
        self._comments += [(offset + start, offset + end) for start, end in fields.comments]
        self._texts.append(text)
        self._end += len(text) + 1
        self.nodes += fields.nodes

    def count(self, reader: FieldReader) -> FieldCounts:
        """Count the terms of all of them."""
        return reader.count(b"\n".join(self._texts), self._spans, self._comments, self.nodes)


def read_terms(reader: FieldReader, fragments: Sequence[FieldSpans]) -> list[TermRows]:
    """Count and weigh the terms of several fragments in one pass; give those of each."""
    if not fragments:
        return []
    joined = JoinedFields()
    for fragment in fragments:
        joined.add(fragment)
    counts, hashes, impacts = joined.count(reader).weigh(load_field_weights())
    of_each = np.split(counts, np.cumsum([fragment.nodes for fragment in fragments])[:-1])
    cuts = np.cumsum([each.sum() for each in of_each], dtype=np.int64)[:-1]
    rows = zip(of_each, np.split(hashes, cuts), np.split(impacts, cuts), strict=True)
    return [TermRows(*each) for each in rows]
