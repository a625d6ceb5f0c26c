"""Build candidate pools without a store."""

from __future__ import annotations

import numpy as np

from pkg.model import Outline
from pkg.retrieval.candidate_pool import Pool, Scores
from pkg.retrieval.question import Question


def make_bare_pool(
    question: Question, outlines: tuple[Outline, ...], words: Scores, rarities: Scores, abbreviated: Scores
) -> Pool:
    """Build a pool of functions outside classes and modules, with the given scores of their words."""
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
