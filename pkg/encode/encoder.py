"""The interface of encoders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Protocol, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

Vectors: TypeAlias = npt.NDArray[np.float32]  # [dimension] or [n, dimension], as each docstring says
Spans: TypeAlias = npt.NDArray[np.int64]
"""Spans of one text: int64 [n, 2], byte offsets [start, end)."""


class Encoder(Protocol):
    """Turns texts into normalized vectors, whose dot product is the cosine (P-09, P-13, P-14).

    A heading is one line with the place of a text (pkg.encode.headings). There is one for each text, "" if unknown, or
    an empty sequence for all.
    """

    @property
    def name(self) -> str:
        """Return the name of the encoder; vectors of different names cannot be compared."""

    @property
    def dimension(self) -> int:
        """Return the length of a vector."""

    def encode(self, texts: Sequence[bytes], headings: Sequence[str] = ()) -> Vectors:
        """Encode UTF-8 texts: float32 [len(texts), dimension], normalized; a text without words is a zero row."""

    def encode_query(self, text: str) -> Vectors:
        """Encode a question (valid Unicode): float32 [dimension], normalized, or zero without a known word."""


class AdditiveEncoder(Encoder, Protocol):
    """An encoder whose vectors are sums over words, so that spans and cuts of one text share the computation."""

    def encode_spans(self, text: bytes, spans: Spans, headings: Sequence[str] = ()) -> Vectors:
        """Encode text[start:end] for each row of spans [n, 2], byte offsets: float32 [n, dimension]."""

    def encode_without(self, text: bytes, cuts: Spans, heading: str = "") -> Vectors:
        """Encode the text without one span at a time: float32 [len(cuts), dimension]."""


def knows_question(encoder: Encoder, text: str, query: Vectors) -> bool:
    """Return whether an encoder knows any word of a question, whose vector is float32 [dimension].

    An encoder with trained words, whose vectors of other words are arbitrary, has a method `knows`.
    """
    return bool(encoder.knows(text) if hasattr(encoder, "knows") else query.any())


def is_additive(encoder: Encoder) -> TypeGuard[AdditiveEncoder]:
    """Return whether an encoder is additive; isinstance with a protocol would be much slower."""
    return hasattr(encoder, "encode_without")


def encode_in_batches(encoder: Encoder, texts: Iterable[bytes], size: int = 512) -> Vectors:
    """Encode many texts, `size` at a time, so that memory stays small: float32 [number of texts, dimension]."""
    waiting = iter(texts)
    parts = [encoder.encode(batch) for batch in iter(lambda: list(islice(waiting, size)), [])]
    return np.concatenate(parts) if parts else np.zeros((0, encoder.dimension), np.float32)


def encode_spans(encoder: Encoder, text: bytes, spans: Spans, headings: Sequence[str] = ()) -> Vectors:
    """Encode each span of a text, in one pass if the encoder is additive: float32 [len(spans), dimension]."""
    if is_additive(encoder):
        return encoder.encode_spans(text, spans, headings)
    return encoder.encode([text[start:end] for start, end in spans.tolist()], headings)


def encode_without(encoder: Encoder, text: bytes, cuts: Spans, heading: str = "") -> Vectors:
    """Encode the text once without each cut (P-18): float32 [len(cuts), dimension]."""
    if is_additive(encoder):
        return encoder.encode_without(text, cuts, heading)
    return encoder.encode([text[:start] + text[end:] for start, end in cuts.tolist()], [heading] * len(cuts))
