"""Find the topic of each task of a run, and its place on a map of the benchmark (P-34, P-35).

The place is the projection of the vector of the question on the first two principal components of the benchmark.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pkg.encode.static import StaticEncoder
from pkg.lab.evaluation.code.benchmark_items import Item, TaskFacts
from pkg.lab.evaluation.code.topics import find_topic

DIGITS = 3  # of a place: the last digits of a decomposition depend on the machine


def describe_tasks(items: Sequence[Item]) -> list[TaskFacts]:
    """Return the topic of each task, and its place by PCA of the questions with the default encoder."""
    encoder = StaticEncoder()
    places = project(np.stack([encoder.encode_query(item.query) for item in items]))
    return [
        TaskFacts(item.id, find_topic(item), (float(x), float(y))) for item, (x, y) in zip(items, places, strict=True)
    ]


def project(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Project vectors (float32 [n, dimension]) on their first two principal components: float64 [n, 2].

    The entry of largest magnitude of each component is positive, so that the signs are deterministic.
    """
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    first = np.zeros((2, vectors.shape[1]))
    first[: len(directions[:2])] = directions[:2]
    signs = np.sign(first[np.arange(2), np.abs(first).argmax(axis=1)])
    places: npt.NDArray[np.float64] = np.round(centred @ (first.T * signs), DIGITS) + 0.0  # no -0
    return places
