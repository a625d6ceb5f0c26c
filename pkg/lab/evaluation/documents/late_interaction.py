"""Order texts by late interaction, as ColBERT does, over the token vectors of an encoder on this machine (U-04).

The score of a text is the mean, over the tokens of the question, of the highest cosine with a token of the text. The
paper's ColBERT v2 is trained for this score and projects its vectors; here they are those of an encoder trained for
whole texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from pkg.encode.encoder import Vectors
from pkg.encode.registry import load_encoder, name_encoder
from pkg.errors import UsageError


class TokenModel(Protocol):
    """A model that embeds each token of a text."""

    def embed_tokens(self, texts: Sequence[str], is_query: bool) -> list[Vectors]:
        """Return the vectors of the tokens of each text: float32 [tokens, dimension], of any length."""


def open_token_model(name: str) -> TokenModel:
    """Open the states of tokens of an encoder; raises UsageError without them, and the errors of loading it."""
    model: TokenModel | None = getattr(load_encoder(name_encoder(name)), "model", None)
    if not hasattr(model, "embed_tokens"):
        raise UsageError(f"the encoder '{name}' has no states of tokens; expected minilm or st:NAME")
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
