"""Training data as matrices of word counts: functions, questions about them, and weights of packages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

CROWDED = {"homeassistant": 0.3}  # packages of repetitive functions, and the weight of each function

Matrix: TypeAlias = Any  # scipy.sparse.csr_matrix, float32 [texts, words]: scipy has no types
Numbers: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Functions:
    """The parts of n functions, each a matrix [n, words]; code has word counts, the others only presence."""

    code: Matrix
    names: Matrix
    places: Matrix
    packages: Numbers  # [n], numbers of packages


@dataclass(frozen=True, slots=True)
class Questions:
    """Prose [q, words], and the number of the function that each is about."""

    words: Matrix
    functions: Numbers


@dataclass(frozen=True, slots=True)
class Pairs:
    """All training data: first paragraphs, later ones, comments, comments with the blocks below, asked questions."""

    words: list[str]
    functions: Functions
    first: Questions
    later: Questions
    comments: Questions
    blocks: Questions
    asked: Questions  # in everyday words
    block_code: Matrix  # the block for each of `blocks`
    counts: Counter[str]  # functions and texts left out, by reason


def weigh_packages(packages: Sequence[str]) -> npt.NDArray[np.float64]:
    """Return the weight of a function of each package."""
    return np.array([CROWDED.get(name, 1.0) for name in packages])
