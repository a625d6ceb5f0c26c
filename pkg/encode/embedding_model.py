"""The interface of a model of the batched encoder, and the check of its vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pkg.encode.encoder import Vectors
from pkg.errors import EncoderAnswerError, PkgError


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
