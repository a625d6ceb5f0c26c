"""The exact index of documents: parts of one window each, and the best part of each document (U-02, U-03)."""

from __future__ import annotations

from collections.abc import Sequence

from pkg.encode.encoder import Encoder, encode_in_batches
from pkg.lab.evaluation.documents.document_rows import Document
from pkg.lab.evaluation.documents.document_windows import cut_to_window
from pkg.vectors.exact import Row, make_segment
from pkg.vectors.quantised import pack_vectors


class DocumentIndex:
    """Documents, searched by the cosine of a question with their best parts."""

    def __init__(self, documents: Sequence[Document], encoder: Encoder) -> None:
        """Cut and encode the documents; raises the errors of the encoder."""
        self._documents, self._encoder = documents, encoder
        model = getattr(encoder, "model", None)
        parts = [
            (number, part) for number, document in enumerate(documents) for part in cut_to_window(document.text, model)
        ]
        self._owners = [number for number, _ in parts]
        vectors = encode_in_batches(encoder, (part.encode("utf-8", "replace") for _, part in parts))
        # Equal hashes are one content, of which the search returns the best entry: here one document.
        rows: list[Row] = [
            (place, place, owner, 0, 0, 0, data)
            for place, (owner, data) in enumerate(zip(self._owners, pack_vectors(vectors), strict=True))
        ]
        self._segment = make_segment(iter(rows), encoder.dimension)

    @property
    def parts(self) -> int:
        """Return the number of parts."""
        return len(self._owners)

    def search(self, question: str, k: int) -> list[tuple[Document, float]]:
        """Return the k documents nearest to a question with their cosines, the best first."""
        query = self._encoder.encode_query(question.encode("utf-8", "replace").decode())
        found = self._segment.search(query, k, None).matches
        return [(self._documents[self._owners[int(each.id, 16)]], each.score) for each in found]
