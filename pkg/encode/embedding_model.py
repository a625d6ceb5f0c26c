"""What a model behind the batched encoder does, the faults that it tells of, and how its answers are checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from pkg.encode.encoder import Vectors
from pkg.errors import EncoderAnswerError, PkgError


class EmbeddingModel(Protocol):
    """A model that turns texts into vectors, a batch at a time; BatchedEncoder does the rest."""

    @property
    def name(self) -> str:
        """Name the encoder as the registry knows it."""

    @property
    def identity(self) -> str:
        """Name what the vectors depend on: equal identities give equal vectors, so that they can be cached."""

    @property
    def dimension(self) -> int | None:
        """Tell how many numbers one vector has; None when only a vector can tell."""

    @property
    def window(self) -> int | None:
        """Tell how many tokens of a text the model reads; None when only the service knows."""

    @property
    def max_texts(self) -> int:
        """Tell how many texts one batch may have."""

    @property
    def max_tokens(self) -> int:
        """Tell how many tokens one batch may have."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, or estimate them where counting needs the service."""

    def embed(self, texts: Sequence[str], is_query: bool) -> npt.NDArray[Any] | Sequence[Sequence[float]]:
        """Give one vector for each text, none of which is empty: of any float type, [len(texts), dimension].

        Raises EncoderBusyError when a later try may help, and TooLongError when the batch is too long.
        """


class TooLongError(PkgError):
    """Say that a service refuses a batch for its length; it is halved, and so is a text that is too long alone."""


def check_answer(answer: object, count: int, dimension: int | None, name: str) -> Vectors:
    """Give what a model answered as rows of length 1 or 0, float32 [count, dimension]; else an EncoderAnswerError."""
    try:
        vectors = np.asarray(answer, np.float64)
    except (TypeError, ValueError):
        raise EncoderAnswerError(
            f"encoder '{name}' gave back rows of different length or what are no numbers; expected {count} vectors;"
            " is this a model for embeddings?"
        ) from None
    if vectors.ndim != 2 or len(vectors) != count or not vectors.shape[1]:
        raise EncoderAnswerError(
            f"encoder '{name}' gave back {_describe(vectors)} for {count} texts; expected one vector each;"
            " run the same again, what came before is kept"
        )
    if dimension is not None and vectors.shape[1] != dimension:
        raise EncoderAnswerError(
            f"encoder '{name}' gave back vectors of {vectors.shape[1]} numbers; expected {dimension};"
            " has the model changed? build with --encoder to encode everything anew"
        )
    lengths = np.linalg.norm(vectors, axis=1)
    if not np.isfinite(lengths).all():
        raise EncoderAnswerError(
            f"encoder '{name}' gave back numbers that are not finite (NaN or infinite) in"
            f" {int((~np.isfinite(lengths)).sum())} of {count} vectors; try another model or another version of it"
        )
    lengths[lengths == 0] = 1
    return np.asarray(vectors / lengths[:, None], np.float32)


def _describe(vectors: npt.NDArray[np.float64]) -> str:
    return f"{len(vectors)} vectors" if vectors.ndim == 2 and vectors.shape[1] else "no vectors"
