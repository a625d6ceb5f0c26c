"""Give the chunks of one text file their ids, the fields of their terms and the spans to encode."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pkg.encode.headings import make_heading
from pkg.indexing.drafts import pack_of
from pkg.indexing.fields import FieldSpans
from pkg.model import Label, TextUnit
from pkg.terms.impacts import TermRows
from pkg.units import Fragment, NodeRow, PieceNames, hash_bytes


class TextDraft:
    """The fragment of a text file while it is made, as pkg.indexing.drafts.Draft is that of code."""

    def __init__(self, unit: TextUnit, source: str, path: str) -> None:
        """Make the rows of its chunks."""
        self.encoded_text = unit.text  # chunks are encoded as they stand in it
        self.fields = FieldSpans(unit.text, 0, path, (), ())
        self.spans = [(chunk.span.start, chunk.span.end) for chunk in unit.chunks]
        self.headings = [make_heading(path, chunk.qualname) for chunk in unit.chunks]
        self._nodes: list[NodeRow] = []
        names = PieceNames(source, path)
        for chunk in unit.chunks:
            self.fields.add_chunk(chunk)
            start, end, first_line, last_line = chunk.span
            identity, hashed = names.name(Label.CHUNK, chunk.qualname), hash_bytes(unit.text[start:end])
            place = start, end, first_line, last_line
            self._nodes.append(
                NodeRow(identity, Label.CHUNK, -1, chunk.name, chunk.qualname, None, *place, hashed, None)
            )

    def finish(self, key: int, vectors: npt.NDArray[np.float16], terms: TermRows) -> Fragment:
        """Make the fragment with the vectors of its chunks, float16 [chunks, dimension], and their terms."""
        return Fragment(key, self.encoded_text, tuple(self._nodes), vectors, pack_of(self._nodes, terms), ())
