"""Nodes of one text file before they are encoded: ids of chunks, fields of terms, spans to encode."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pkg.encode.headings import head_text
from pkg.indexing.fields import FieldSpans
from pkg.indexing.pending_nodes import pack_node_terms
from pkg.model import Label, TextUnit
from pkg.terms.packed_terms import TermRows
from pkg.units import Fragment, NodeRow, PieceNames, hash_bytes


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
