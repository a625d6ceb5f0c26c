"""What is learned from, as matrices of word counts: functions, what is asked about them, and what packages count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

CROWDED = {"homeassistant": 0.3}  # packages whose functions repeat one another, and how much each of them counts

Matrix: TypeAlias = Any  # scipy.sparse.csr_matrix, float32 [texts, words]: scipy has no types
Numbers: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Functions:
    """The parts of n functions, each a matrix [n, words]; code counts words, the others only tell which there are."""

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
    """All that is learned from: first paragraphs, later ones, comments; and comments with the blocks under them."""

    words: list[str]
    functions: Functions
    first: Questions
    later: Questions
    comments: Questions
    blocks: Questions
    block_code: Matrix  # of the block that each of `blocks` is about
    counts: Counter[str]  # what was left out, and why


def weigh_packages(packages: Sequence[str]) -> npt.NDArray[np.float64]:
    """Give what a function of each package counts."""
    return np.array([CROWDED.get(name, 1.0) for name in packages])
