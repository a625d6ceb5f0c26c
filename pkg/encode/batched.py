"""The interface of an embedding model, and the encoder around it: batches, cached vectors, retries, long texts."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pkg.cache_file import CacheTable, compute_checksum, find_cache_file, hash_key, is_intact
from pkg.encode.encoder import Vectors
from pkg.errors import EncoderAnswerError, EncoderError, PkgError
from pkg.services import call_patiently


class EmbeddingModel(Protocol):
    """A model that embeds batches of texts, for use by BatchedEncoder."""

    @property
    def name(self) -> str:
        """Return the name of the encoder in the registry."""

    @property
    def identity(self) -> str:
        """Return a key of all that determines the vectors, for caching."""

    @property
    def dimension(self) -> int | None:
        """Return the length of a vector; None if it is unknown before the first one."""

    @property
    def window(self) -> int | None:
        """Return the number of tokens that the model reads of a text; None if only the service knows."""

    @property
    def max_texts(self) -> int:
        """Return the most texts of one batch."""

    @property
    def max_tokens(self) -> int:
        """Return the most tokens of one batch."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, or estimate them if only the service can count."""

    def embed(self, texts: Sequence[str], is_query: bool) -> npt.NDArray[Any] | Sequence[Sequence[float]]:
        """Return one vector for each non-empty text: of any float type, [len(texts), dimension].

        Raises EncoderBusyError if a retry may help, and TooLongError if the batch is too long.
        """


class TooLongError(PkgError):
    """A service refuses a batch as too long; the caller halves the batch, or a single text."""


def check_answer(answer: object, count: int, dimension: int | None, name: str) -> Vectors:
    """Return a model's answer as normalized or zero rows, float32 [count, dimension]; raises EncoderAnswerError."""
    try:
        vectors = np.asarray(answer, np.float64)
    except (TypeError, ValueError):
        raise EncoderAnswerError(
            f"encoder '{name}' returned rows of different length or without numbers; expected {count} vectors;"
            " check that it is an embedding model"
        ) from None
    if vectors.ndim != 2 or len(vectors) != count or not vectors.shape[1]:
        raise EncoderAnswerError(
            f"encoder '{name}' returned {_describe(vectors)} for {count} texts; expected one vector each;"
            " run the command again, earlier vectors are kept"
        )
    if dimension is not None and vectors.shape[1] != dimension:
        raise EncoderAnswerError(
            f"encoder '{name}' returned vectors of {vectors.shape[1]} numbers; expected {dimension};"
            " if the model has changed, build with --encoder to encode everything again"
        )
    lengths = np.linalg.norm(vectors, axis=1)
    if not np.isfinite(lengths).all():
        raise EncoderAnswerError(
            f"encoder '{name}' returned numbers that are not finite (NaN or infinite) in"
            f" {int((~np.isfinite(lengths)).sum())} of {count} vectors; try another model or another version of it"
        )
    lengths[lengths == 0] = 1
    return np.asarray(vectors / lengths[:, None], np.float32)


def _describe(vectors: npt.NDArray[np.float64]) -> str:
    return f"{len(vectors)} vectors" if vectors.ndim == 2 and vectors.shape[1] else "no vectors"


FILE_NAME = "vectors.db"  # in the cache folder of the user
LIMIT_BYTES = 1 << 30  # of the file: about 500,000 vectors of 384 numbers
DROPPED_SHARE = 8  # the oldest eighth is deleted when the file is full
KEYS_AT_ONCE = 500  # below the parameter limit of any SQLite

_SCHEMA = "CREATE TABLE IF NOT EXISTS vector (number INTEGER PRIMARY KEY, key BLOB UNIQUE, data BLOB, seal INTEGER)"
_FIND = "SELECT key, data, seal FROM vector WHERE key IN ({})"
_PUT = "INSERT OR REPLACE INTO vector (key, data, seal) VALUES (?, ?, ?)"
_DROP_OLDEST = f"""DELETE FROM vector WHERE number IN
    (SELECT number FROM vector ORDER BY number LIMIT (SELECT count(*) / {DROPPED_SHARE} + 1 FROM vector))"""


def make_key(identity: str, is_query: bool, text: str) -> bytes:
    """Hash the inputs of a vector: the model, whether the text is a query, and the text with its heading."""
    return hash_key(identity, "query" if is_query else "document", text)


class VectorCache(CacheTable):
    """Vectors of paid models by key, in a table of bounded size in the user's cache folder."""

    def __init__(self, path: Path, limit: int = LIMIT_BYTES) -> None:
        super().__init__(path, _SCHEMA)
        self._limit = limit

    def find(self, keys: Iterable[bytes], dimension: int | None) -> dict[bytes, Vectors]:
        """Return the stored vectors of keys, each float32 [dimension]; vectors of another length are ignored."""
        wanted, found = tuple(dict.fromkeys(keys)), {}
        for low in range(0, len(wanted), KEYS_AT_ONCE):
            batch = wanted[low : low + KEYS_AT_ONCE]
            for key, data, seal in self.run(_FIND.format(",".join("?" * len(batch))), batch):
                is_whole = isinstance(data, bytes) and len(data) % 4 == 0 and is_intact(seal, key, data)
                vector = np.frombuffer(data, "<f4") if is_whole else np.zeros(0, np.float32)
                if len(vector) and len(vector) == (dimension or len(vector)) and np.isfinite(vector).all():
                    found[key] = vector
        return found

    def put(self, vectors: Mapping[bytes, Vectors]) -> None:
        """Store vectors, each float32 [dimension], all or none; the oldest rows make room for them."""
        pairs = ((key, vector.astype("<f4").tobytes()) for key, vector in vectors.items())
        rows = [(key, data, compute_checksum(key, data)) for key, data in pairs]

        def put_rows(connection: sqlite3.Connection) -> None:
            connection.executemany(_PUT, rows)
            if _measure(connection) > self._limit:
                connection.execute(_DROP_OLDEST)

        if rows:
            self.run_together(put_rows)


def _measure(connection: sqlite3.Connection) -> int:
    """Measure the bytes of the pages in use; free pages are reused, so the file does not outgrow the limit."""
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


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
