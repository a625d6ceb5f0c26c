"""Search a graph by another encoder's vectors, for functions only: a transformer takes hours for all blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pkg.encode.encoder import Encoder, Vectors
from pkg.encode.headings import Headings
from pkg.graph.store import GraphStore
from pkg.model import Label, Match, Matches, Node, NodeFilter, Outline


class BesideStore:
    """A store with other vectors for its functions; everything else is delegated to the store."""

    def __init__(self, store: GraphStore, ids: Sequence[str], vectors: Vectors, encoder: str) -> None:
        self._store, self._encoder = store, encoder
        self._ids = ids
        self._vectors = vectors
        self._rows = {node_id: row for row, node_id in enumerate(ids)}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def encoder(self) -> tuple[str, int]:
        """Return the name and dimension of the encoder of the other vectors."""
        return self._encoder, self._vectors.shape[1]

    def vector_search(self, label: Label, vector: Vectors, k: int, where: NodeFilter | None = None) -> Matches:
        """Return the k functions of the highest cosine, without duplicate content; no set uses a filter."""
        if label is not Label.FUNCTION or where not in (None, NodeFilter()):
            return Matches((), len(self._ids), len(self._ids), 0)
        cosines = self._vectors @ vector
        best = np.argsort(-cosines, kind="stable")[:k]
        matches = tuple(Match(self._ids[row], float(cosines[row])) for row in best)
        return Matches(matches, len(self._ids), 0, 0)

    def hybrid_search(
        self, label: Label, vector: Vectors, terms: Mapping[str, float], k: int, where: NodeFilter | None = None
    ) -> tuple[Matches, Matches]:
        """Search functions by the other vectors, and by the store's own terms."""
        return self.vector_search(label, vector, k, where), self._store.text_search(Label.FUNCTION, terms, k, where)

    def outlines(self, ids: Sequence[str], vector: Vectors, blocks_of: Sequence[str] = ()) -> dict[str, Outline]:
        """Return outlines with the cosines of functions by the other vectors; other nodes have none."""
        read = self._store.outlines(ids, np.zeros(self._store.encoder()[1], np.float32), blocks_of)
        found = {node_id: outline for node_id, outline in read.items() if node_id in self._rows}
        cosines = self._vectors[[self._rows[each] for each in found]] @ vector
        pairs = zip(found.items(), cosines.tolist(), strict=True)
        return {node_id: outline._replace(cosine=cosine) for (node_id, outline), cosine in pairs}


def encode_functions(nodes: Sequence[Node], encoder: Encoder, headings: Headings, kept: Path) -> Vectors:
    """Encode functions with their headings, or read the vectors saved by an earlier run."""
    if not kept.exists():
        texts = [node.content.encode("utf-8", "replace") for node in nodes]
        unfinished = kept.with_suffix(".tmp.npy")
        np.save(unfinished, encoder.encode(texts, list(map(headings.of, nodes))))
        unfinished.rename(kept)
    vectors: Vectors = np.load(kept)
    return vectors
