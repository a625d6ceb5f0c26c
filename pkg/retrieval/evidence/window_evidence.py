"""The papers' baseline: chunks of characters of all files, found by their vectors alone (Q-07, Q-14, U-03, A-37).

The chunks are cut from the texts in the graph and kept in memory for one generation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from posixpath import splitext
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pkg.encode.encoder import encode_in_batches
from pkg.extract.text_files.windows import Window, cut_windows
from pkg.graph.path_filter import make_path_pattern
from pkg.retrieval.evidence.evidence import Evidence
from pkg.retrieval.evidence.evidence_options import EvidenceOptions, node_filter

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder, Vectors
    from pkg.graph.store import GraphStore

ENCODING_BATCH = 1000  # chunks: a batch and its vectors stay below ten megabytes


class FileWindow(NamedTuple):
    """One chunk and its file."""

    source: str
    path: str
    window: Window


@dataclass(frozen=True)
class WindowIndex:
    """All chunks of some sources in one generation, with their vectors: float32 [chunks, dimension]."""

    generation: int
    windows: Sequence[FileWindow]
    vectors: Vectors

    def search(self, query: Vectors, options: EvidenceOptions, k: int) -> Iterator[Evidence]:
        """Yield the k chunks nearest to a question, whose vector is float32 [dimension]."""
        cosines, found = self.vectors @ query, 0
        passes = re.compile(make_path_pattern(node_filter(options))).fullmatch
        for row in np.argsort(-cosines, kind="stable").tolist():
            if found == k:
                return
            each = self.windows[row]
            if passes(each.path):
                found += 1
                lines, content = (each.window.start_line, each.window.end_line), each.window.content
                yield Evidence("window", each.source, each.path, *lines, "chunk", content, float(cosines[row]))


def index_windows(store: GraphStore, encoder: Encoder, sources: Sequence[str]) -> WindowIndex:
    """Cut and encode the texts of all files of some sources."""
    windows = [each for source in sources for each in _cut_files(store, source)]
    vectors = encode_in_batches(encoder, (each.window.content.encode() for each in windows), ENCODING_BATCH)
    return WindowIndex(store.generation(), windows, vectors)


def _cut_files(store: GraphStore, source: str) -> Iterator[FileWindow]:
    paths = sorted(path for path, _, _ in store.fingerprints(source))
    for path, text in store.texts(source, paths):
        for window in cut_windows(text.decode("utf-8", "replace"), splitext(path)[1]):
            yield FileWindow(source, path, window)
