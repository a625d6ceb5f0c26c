"""The encoder around any model: headings, batches, cached vectors, retries, long texts and the check of vectors."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from pkg.cache_file import find_cache_file
from pkg.encode.embedding_model import EmbeddingModel, TooLongError, check_answer
from pkg.encode.encoder import Vectors
from pkg.encode.vector_cache import FILE_NAME, VectorCache, make_key
from pkg.errors import EncoderError
from pkg.services import call_patiently

PROBE = "def probe(): pass"  # embedded to find the length of a service's vectors
SHORTEST = 64  # characters; a service that refuses even this has another reason than length


@dataclass(slots=True)
class EncodingCounts:
    """The counts of an encoder so far."""

    encoded: int = 0  # texts embedded by the model
    cached: int = 0  # texts with cached vectors
    tokens: int = 0  # of the encoded texts, counted or estimated
    cut: int = 0  # texts truncated to the model's window


class BatchedEncoder:
    """Encodes texts with a model, in batches of similar length, and caches their vectors (P-09, P-13)."""

    def __init__(
        self, model: EmbeddingModel, cache: VectorCache | None = None, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.model = model
        self.counts = EncodingCounts()
        self._cache = cache
        self._sleep = sleep

    @property
    def name(self) -> str:
        """Return the name of the encoder in the registry."""
        return self.model.name

    @cached_property
    def dimension(self) -> int:
        """Return the length of a vector; if the model does not report it, one text is embedded."""
        known = self.model.dimension
        return len(self._encode([PROBE], is_query=False)[0]) if known is None else known

    @property
    def _known_dimension(self) -> int | None:
        """Return the length of a vector if it is known without embedding a text."""
        cached: int | None = self.__dict__.get("dimension")
        return self.model.dimension if cached is None else cached

    def encode(self, texts: Sequence[bytes], headings: Sequence[str] = ()) -> Vectors:
        """Encode UTF-8 texts: float32 [len(texts), dimension], normalized; a text without words is a zero row."""
        return self._fill(_add_headings(texts, headings), is_query=False)

    def encode_query(self, text: str) -> Vectors:
        """Encode a question with the model's prefix: float32 [dimension], normalized, or zero without words."""
        query: Vectors = self._fill(_add_headings([text.encode("utf-8", "replace")], ()), is_query=True)[0]
        return query

    def list_missing(self, texts: Sequence[bytes], headings: Sequence[str] = ()) -> list[str]:
        """List the distinct texts, with headings, that are not cached."""
        distinct = [text for text in dict.fromkeys(_add_headings(texts, headings)) if text]
        known = self._find(distinct, is_query=False)
        return [text for text in distinct if text not in known]

    def _fill(self, texts: Sequence[str], is_query: bool) -> Vectors:
        """Return the vector of each text, zero for an empty one; equal texts are encoded once."""
        distinct = [text for text in dict.fromkeys(texts) if text]
        vectors = np.zeros((len(distinct) + 1, self.dimension), np.float32)
        if distinct:
            vectors[1:] = self._encode(distinct, is_query)
        rows = {text: row for row, text in enumerate(distinct, 1)}
        filled: Vectors = vectors[[rows.get(text, 0) for text in texts]]
        return filled

    def _find(self, texts: list[str], is_query: bool) -> dict[str, Vectors]:
        """Return the cached vectors by text."""
        if self._cache is None:
            return {}
        keys = {make_key(self.model.identity, is_query, text): text for text in texts}
        found = self._cache.find(keys, self._known_dimension)
        return {keys[key]: vector for key, vector in found.items()}

    def _encode(self, texts: list[str], is_query: bool) -> Vectors:
        """Encode distinct texts: float32 [len(texts), dimension]."""
        vectors = self._find(texts, is_query)
        self.counts.cached += len(vectors)
        missing = [text for text in texts if text not in vectors]
        for batch in self._cut_batches(missing):
            fresh = self._embed(batch, is_query)
            vectors.update(zip(batch, fresh, strict=True))
            if self._cache is not None:  # after each batch, so that no paid vector is lost by an interruption
                keys = [make_key(self.model.identity, is_query, text) for text in batch]
                self._cache.put(dict(zip(keys, fresh, strict=True)))
        return np.stack([vectors[text] for text in texts])

    def _cut_batches(self, texts: list[str]) -> Iterator[list[str]]:
        """Split texts into batches within the model's limits, texts of similar length together."""
        lengths = self.model.count_tokens(texts) if texts else []
        window = self.model.window
        self.counts.encoded += len(texts)
        self.counts.tokens += sum(lengths if window is None else (min(length, window) for length in lengths))
        self.counts.cut += sum(window is not None and length > window for length in lengths)
        batch: list[str] = []
        size = 0
        for index in sorted(range(len(texts)), key=lambda index: (lengths[index], texts[index])):
            length = lengths[index] if window is None else min(lengths[index], window)
            if batch and (len(batch) >= self.model.max_texts or size + length > self.model.max_tokens):
                yield batch
                batch, size = [], 0
            batch.append(texts[index])
            size += length
        if batch:
            yield batch

    def _embed(self, texts: list[str], is_query: bool) -> Vectors:
        """Embed one batch: float32 [len(texts), dimension], normalized; a batch that is too long is halved."""
        try:
            answer = call_patiently(partial(self.model.embed, texts, is_query), self._sleep)
        except TooLongError as fault:
            if len(texts) > 1:
                middle = len(texts) // 2
                return np.concatenate((self._embed(texts[:middle], is_query), self._embed(texts[middle:], is_query)))
            return self._embed_shorter(texts[0], is_query, fault)
        return check_answer(answer, len(texts), self._known_dimension, self.name)

    def _embed_shorter(self, text: str, is_query: bool, fault: TooLongError) -> Vectors:
        """Embed the first half of a text that a service refuses as too long."""
        if len(text) <= SHORTEST:
            raise EncoderError(f"encoder '{self.name}' refuses a text of {len(text)} characters: {fault}") from fault
        before = self.counts.cut
        vectors = self._embed([text[: len(text) // 2]], is_query)
        self.counts.cut = before + 1  # the text counts once
        return vectors


def make_caching_encoder(model: EmbeddingModel) -> BatchedEncoder:
    """Make the encoder around a model, with the user's cache of vectors."""
    return BatchedEncoder(model, VectorCache(find_cache_file(FILE_NAME)))


def _add_headings(texts: Sequence[bytes], headings: Sequence[str]) -> list[str]:
    """Return texts below their headings; a text without letters and digits becomes ""."""
    decoded = [text.decode("utf-8", "replace") for text in texts]
    return [
        (f"{heading}\n{text}" if heading else text) if any(map(str.isalnum, text)) else ""
        for text, heading in zip(decoded, headings or [""] * len(texts), strict=True)
    ]
