"""Learned parameters: rows of words, and the weights of the parts of a vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matrices import Floats


class Learned(NamedTuple):
    """Learned rows of words in texts, names and places [words, dimension], and the weights of these parts [3]."""

    text: Floats
    name: Floats
    place: Floats
    weights: Floats


def average_rows(runs: Sequence[Learned]) -> Learned:
    """Average runs from one start with other draws, which nearly cancels the noise of each."""
    return Learned(*(np.mean(parts, axis=0) for parts in zip(*runs, strict=True)))
