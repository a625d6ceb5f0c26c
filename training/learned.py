"""What is learned: rows of words, and what the parts of a vector weigh."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matrices import Floats


class Learned(NamedTuple):
    """What was learned: rows of words in texts, names and places [words, dimension], and what the parts weigh [3]."""

    text: Floats
    name: Floats
    place: Floats
    weights: Floats


def average_rows(runs: Sequence[Learned]) -> Learned:
    """Average what was learned from one start with other draws: what each has by chance alone nearly goes."""
    return Learned(*(np.mean(parts, axis=0) for parts in zip(*runs, strict=True)))
