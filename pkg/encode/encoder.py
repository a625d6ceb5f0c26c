"""What the other layers may ask of an encoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

Vectors: TypeAlias = npt.NDArray[np.float32]  # [dimension] or [n, dimension], as each docstring says
Spans: TypeAlias = npt.NDArray[np.int64]
"""Pieces of one text: int64 [n, 2], a row each, byte offsets [start, end)."""


class Encoder(Protocol):
    """Turn texts into vectors of one length whose dot product is the cosine (P-09, P-13, P-14).

    A heading is one line that tells where a text stands (pkg.encode.encoder): there is one for each text, "" where
    nothing is known, or none at all. It belongs to the text, but is no part of it.
    """

    @property
    def name(self) -> str:
        """Name the encoder, with whatever makes its vectors incomparable to another's."""

    @property
    def dimension(self) -> int:
        """Tell how many numbers one vector has."""

    def encode(self, texts: Sequence[bytes], headings: Sequence[str] = ()) -> Vectors:
        """Encode UTF-8 texts: float32 [len(texts), dimension], rows of length 1, or 0 where a text has no words."""

    def encode_query(self, text: str) -> Vectors:
        """Encode a question (valid Unicode): float32 [dimension], of length 1, or 0 where no word of it is known."""


class AdditiveEncoder(Encoder, Protocol):
    """An encoder whose vector is a sum over words, so that spans and cuts of one text share the work."""

    def encode_spans(self, text: bytes, spans: Spans, headings: Sequence[str] = ()) -> Vectors:
        """Encode text[start:end] for each row of spans [n, 2], byte offsets: float32 [n, dimension]."""

    def encode_without(self, text: bytes, cuts: Spans, heading: str = "") -> Vectors:
        """Encode the text without one span at a time: float32 [len(cuts), dimension]."""


class WordEncoder(Encoder, Protocol):
    """An encoder that has learned single words, and gives each other one a vector that means nothing."""

    def knows(self, text: str) -> bool:
        """Tell whether it has learned any word of a text."""


def knows_question(encoder: Encoder, text: str, query: Vectors) -> bool:
    """Tell whether an encoder knows any word of a question, whose vector is float32 [dimension]."""
    return encoder.knows(text) if _learns_words(encoder) else bool(query.any())


def _learns_words(encoder: Encoder) -> TypeGuard[WordEncoder]:
    return hasattr(encoder, "knows")


def is_additive(encoder: Encoder) -> TypeGuard[AdditiveEncoder]:
    """Tell whether an encoder can share the work on one text; a question to a protocol itself costs far more."""
    return hasattr(encoder, "encode_without")


def encode_spans(encoder: Encoder, text: bytes, spans: Spans, headings: Sequence[str] = ()) -> Vectors:
    """Encode each span of a text, in one pass where the encoder can: float32 [len(spans), dimension]."""
    if is_additive(encoder):
        return encoder.encode_spans(text, spans, headings)
    return encoder.encode([text[start:end] for start, end in spans.tolist()], headings)


def encode_without(encoder: Encoder, text: bytes, cuts: Spans, heading: str = "") -> Vectors:
    """Encode the text once for each cut, with that cut left out (P-18): float32 [len(cuts), dimension]."""
    if is_additive(encoder):
        return encoder.encode_without(text, cuts, heading)
    return encoder.encode([text[:start] + text[end:] for start, end in cuts.tolist()], [heading] * len(cuts))
