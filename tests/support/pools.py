"""Make pools of candidates without a store."""

from __future__ import annotations

import numpy as np

from pkg.model import Outline
from pkg.retrieval.candidate_pool import Pool, Scores
from pkg.retrieval.question import Question


def make_bare_pool(
    question: Question, outlines: tuple[Outline, ...], words: Scores, rarities: Scores, abbreviated: Scores
) -> Pool:
    """Make a pool of functions that mean what they say, and stand in no class and no module."""
    count = len(outlines)
    held, nothing = (words > 0).astype(np.float64), np.zeros(count)
    return Pool(
        question,
        outlines,
        outlines,
        words,
        rarities,
        abbreviated,
        (0,) * count,
        count,
        0,
        held,
        np.zeros_like(held),
        nothing,
        nothing,
    )
