"""Check what a model gave back: a service may answer anything."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pkg.encode.encoder import Vectors
from pkg.errors import EncoderAnswerError


def check_answer(answer: object, count: int, dimension: int | None, name: str) -> Vectors:
    """Give what a model answered as vectors of length 1; an EncoderAnswerError for anything else."""
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
