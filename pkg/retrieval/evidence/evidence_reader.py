"""Gather evidence for several questions to one graph; data that does not depend on the question is shared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pkg.retrieval.deps.paths import list_sources
from pkg.retrieval.evidence.evidence import Gathered
from pkg.retrieval.evidence.evidence_options import DEFAULT_EVIDENCE, EvidenceOptions
from pkg.retrieval.evidence.gather_evidence import gather_evidence
from pkg.retrieval.evidence.window_evidence import WindowIndex, index_windows

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder
    from pkg.graph.store import GraphStore


@dataclass
class EvidenceReader:
    """Evidence of a graph, with the chunks of characters of its current generation."""

    store: GraphStore
    options: EvidenceOptions = DEFAULT_EVIDENCE
    windows: WindowIndex | None = None

    def read(self, encoder: Encoder, text: str) -> Gathered:
        """Gather evidence from one generation; raises QueryError for an invalid question."""
        with self.store.snapshot():
            if self.options.retriever != "graph":
                self.index(encoder)
            return gather_evidence(self.store, encoder, text, self.options, self.windows)

    def index(self, encoder: Encoder) -> None:
        """Cut and encode the chunks of characters, unless they exist for this generation."""
        if self.windows is None or self.windows.generation != self.store.generation():
            sources = [each.name for each in list_sources(self.store, self.options.source)]
            self.windows = index_windows(self.store, encoder, sources)
