"""What a build would send to a service: counted first, and sent only when somebody has agreed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pkg.encode.batched import BatchedEncoder
from pkg.encode.encoder import Vectors
from pkg.encode.registry import load_encoder
from pkg.indexing.prepare import Preparer
from pkg.indexing.reencode import list_texts, needs_reencoding
from pkg.indexing.todo import KnownUnits, compare
from pkg.indexing.workers import cut_batches
from pkg.model import Skip
from pkg.units import hash_bytes

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore
    from pkg.indexing.inputs import Input, LoadedUnit


@dataclass(frozen=True, slots=True)
class Estimate:
    """What would be sent: distinct texts that no earlier build has sent, and about how many tokens they have."""

    texts: int
    tokens: int
    is_complete: bool = True  # False where the input can be read but once

    def describe(self, encoder: str, address: str) -> str:
        """Say in one sentence what leaves the machine."""
        amount = f"{self.texts:,} texts of about {self.tokens:,} tokens" if self.texts else "texts"
        more = "" if self.is_complete else ", and whatever standard input holds (it cannot be counted first)"
        plain = "" if address.startswith("https://") else ", not encrypted on the way"
        return (
            f"encoder '{encoder}' sends code to {address}: {amount}{more}{plain}; they leave this machine, and the"
            " service may charge for them (its price list tells what a token costs)"
        )


class _Census:
    """An encoder that encodes nothing, and counts what the real one would have to."""

    dimension = 1

    def __init__(self, encoder: BatchedEncoder) -> None:
        self.name = encoder.name
        self._encoder = encoder
        self._seen: set[int] = set()
        self.tokens = 0

    @property
    def texts(self) -> int:
        """Count the distinct texts."""
        return len(self._seen)

    def encode(self, texts: Sequence[bytes], headings: Sequence[str] = ()) -> Vectors:
        """Count texts: zeros, float32 [len(texts), 1]."""
        fresh = [text for text in self._encoder.list_missing(texts, headings) if self._is_new(text)]
        self.tokens += sum(self._encoder.model.count_tokens(fresh)) if fresh else 0
        return np.zeros((len(texts), 1), np.float32)

    def _is_new(self, text: str) -> bool:
        key, before = hash_bytes(text.encode("utf-8", "replace")), len(self._seen)
        self._seen.add(key)
        return len(self._seen) > before

    def encode_query(self, text: str) -> Vectors:
        """Count nothing: builds ask no questions."""
        return np.zeros(1, np.float32)


def estimate_build(found: Input, store: GraphStore, name: str) -> Estimate:
    """Count what a build would send, by doing all of it but the sending."""
    encoder = load_encoder(name)
    assert isinstance(encoder, BatchedEncoder), "only services send texts"
    census = _Census(encoder)
    if needs_reencoding(store.encoder()[0], name):
        for batch in list_texts(store):
            census.encode([text for text, _ in batch], [heading for _, heading in batch])
    is_stream = found.source.root == "-"
    if not is_stream:
        preparer = Preparer(found.source.name, census)
        for units in cut_batches(_load_fresh(found, store)):
            preparer.prepare(units)
    return Estimate(census.texts, census.tokens, not is_stream)


def _load_fresh(found: Input, store: GraphStore) -> Iterator[LoadedUnit]:
    """Load the units whose content the store does not have; what cannot be read is left to the build."""
    with closing(KnownUnits(store.fingerprints(found.source.name))) as known:
        for unit in compare(found, known).units:
            loaded = unit if isinstance(unit, Skip) else unit.load()
            if not isinstance(loaded, Skip) and known.find(loaded.path)[1] != loaded.content_hash:
                yield loaded
