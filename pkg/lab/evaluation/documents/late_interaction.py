"""Order texts by late interaction, as ColBERT does, over the token vectors of an encoder on this machine (U-04).

The score of a text is the mean, over the tokens of the question, of the highest cosine with a token of the text. The
paper's ColBERT v2 is trained for this score and projects its vectors; here they are those of an encoder trained for
whole texts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from pkg.encode.encoder import Encoder, Vectors
from pkg.encode.registry import forget_revision, load_encoder, name_encoder
from pkg.errors import UsageError

_WORD = re.compile(r"[^\W_]+")


class TokenModel(Protocol):
    """A model that embeds each token of a text."""

    def embed_tokens(self, texts: Sequence[str], is_query: bool) -> list[Vectors]:
        """Return the vectors of the tokens of each text: float32 [tokens, dimension], of any length."""


class WordVectors:
    """The vectors of an encoder that has one for each word, whatever the words around it."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def embed_tokens(self, texts: Sequence[str], is_query: bool) -> list[Vectors]:
        """Return the vectors of the distinct words of each text: float32 [words, dimension], normalized or zero."""
        words = [list(dict.fromkeys(_WORD.findall(text))) for text in texts]
        distinct = list(dict.fromkeys(word for each in words for word in each))
        rows = {word: row for row, word in enumerate(distinct)}
        vectors = self._encoder.encode([word.encode() for word in distinct]) if distinct else _make_empty(self._encoder)
        return [vectors[[rows[word] for word in each]] for each in words]


def _make_empty(encoder: Encoder) -> Vectors:
    return np.zeros((0, encoder.dimension), np.float32)


def open_token_model(name: str) -> TokenModel:
    """Open the token vectors of an encoder; raises UsageError for an encoder without, and the errors of loading it."""
    encoder = load_encoder(name_encoder(name))
    if forget_revision(encoder.name) == "static":
        return WordVectors(encoder)
    model: TokenModel | None = getattr(encoder, "model", None)
    if not hasattr(model, "embed_tokens"):
        raise UsageError(f"the encoder '{name}' has no vectors of tokens; expected static, minilm or st:NAME")
    assert model is not None
    return model


def order_by_tokens(model: TokenModel, question: str, texts: Sequence[str]) -> list[int]:
    """Return the indices of texts, the best first; ties keep their order."""
    (asked,) = model.embed_tokens([question], is_query=True)
    scores = [score_tokens(asked, each) for each in model.embed_tokens(texts, is_query=False)] if texts else []
    return sorted(range(len(texts)), key=lambda index: (-scores[index], index))


def score_tokens(query: Vectors, text: Vectors) -> float:
    """Compute the late interaction of two texts, both float32 [tokens, dimension]: from -1 to 1, 0 without tokens."""
    if not len(query) or not len(text):
        return 0.0
    best = (_normalise(query) @ _normalise(text).T).max(axis=1)
    return round(float(best.mean()), 6)  # so that the order does not depend on the last bits


def _normalise(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    return np.asarray(vectors / lengths, np.float32)
