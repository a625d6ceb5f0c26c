"""Find what a run says of its tasks: the topic of each, and its place on a map of all (P-34, P-35).

The place is where the vector of the question lies on the two directions in which those of the benchmark differ most.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pkg.encode.static import StaticEncoder
from pkg.lab.evaluation.code.benchmark_items import Item, TaskFacts
from pkg.lab.evaluation.code.topics import find_topic

DIGITS = 3  # of a place: machines differ in the last ones of a decomposition


def describe_tasks(items: Sequence[Item]) -> list[TaskFacts]:
    """Name the topic of each task, and find the places by PCA of what the default encoder makes of the questions."""
    encoder = StaticEncoder()
    places = project(np.stack([encoder.encode_query(item.query) for item in items]))
    return [
        TaskFacts(item.id, find_topic(item), (float(x), float(y))) for item, (x, y) in zip(items, places, strict=True)
    ]


def project(vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    """Project vectors (float32 [n, dimension]) on their first two principal components: float64 [n, 2].

    The longest entry of a component is positive, so that equal vectors have equal places.
    """
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    first = np.zeros((2, vectors.shape[1]))
    first[: len(directions[:2])] = directions[:2]
    signs = np.sign(first[np.arange(2), np.abs(first).argmax(axis=1)])
    places: npt.NDArray[np.float64] = np.round(centred @ (first.T * signs), DIGITS) + 0.0  # no -0
    return places
