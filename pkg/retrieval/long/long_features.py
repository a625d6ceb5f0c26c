"""Ranking features of a candidate for a long question: how well it answers each part, and what the question mentions.

The parts are searched like short questions, and each is measured against the other candidates, so that features of
parts can be added, whatever their lengths.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from pkg.model import Outline
from pkg.retrieval import features, name_features
from pkg.retrieval.candidate_pool import Pool, Scores, map_owners, standardise
from pkg.retrieval.long.question_mentions import Mentions
from pkg.retrieval.long.question_parts import Part


@dataclass(frozen=True, eq=False)
class LongPool:
    """Candidates for a long question, the same ones for the whole of it and for each part."""

    whole: Pool
    parts: Mapping[Part, Pool]
    mentions: Mentions
    blocks: Mapping[Part, Scores]  # of some parts: the cosine of each function's nearest block


Measure = Callable[[LongPool], Scores]


def _of_part(part: Part, measure: Callable[[Pool], Scores]) -> Measure:
    """Compute a feature of one part; 0 if the question has no such part."""

    def measure_part(pool: LongPool) -> Scores:
        asked = pool.parts.get(part)
        return np.zeros(len(pool.whole.outlines)) if asked is None else measure(asked)

    return measure_part


def _of_whole(measure: Callable[[Pool], Scores]) -> Measure:
    return lambda pool: measure(pool.whole)


def _of_blocks(part: Part) -> Measure:
    """Compute the cosine of the nearest block: the vector of a long function says little about a single branch."""
    return lambda pool: standardise(pool.blocks[part]) if part in pool.blocks else np.zeros(len(pool.whole.outlines))


def _of_mentions(measure: Callable[[Mentions, Outline], float]) -> Measure:
    """Compute a feature from what the question mentions."""
    return lambda pool: map_owners(pool.whole, lambda owner: measure(pool.mentions, owner))


def _is_framed(mentions: Mentions, owner: Outline) -> float:
    """Return whether the function is on a stack trace: 1 for the last call, less for each before it."""
    last = len(mentions.frames) - 1
    steps = [
        last - place
        for place, (frame, path) in enumerate(mentions.frames)
        if path == owner.path and frame.function is not None and frame.function.rpartition(".")[2] == owner.name
    ]
    return FRAME_OFFSET / (FRAME_OFFSET + min(steps)) if steps else 0.0


FRAME_OFFSET = 3  # calls before the last one at which a frame counts half: mostly one of the last three is at fault

FEATURES: dict[str, Measure] = {
    "title_dense": _of_part(Part.TITLE, features.dense),
    "title_block": _of_blocks(Part.TITLE),
    "title_lexical": _of_part(Part.TITLE, features.lexical),
    "title_scope": _of_part(Part.TITLE, name_features.scope_cover),
    "title_qualname": _of_part(Part.TITLE, name_features.qualname_share),
    "prose_dense": _of_part(Part.PROSE, features.dense),
    "prose_block": _of_blocks(Part.PROSE),
    "prose_lexical": _of_part(Part.PROSE, features.lexical),
    "output_lexical": _of_part(Part.OUTPUT, features.lexical),
    "whole_dense": _of_whole(features.dense),
    "named_file": _of_mentions(lambda mentions, owner: float(owner.path in mentions.files)),
    "definer": _of_mentions(lambda mentions, owner: mentions.definers.get(owner.path, 0.0)),
    "framed": _of_mentions(_is_framed),
    "prose_name": _of_part(Part.PROSE, features.asked_name),
    "is_aside": _of_mentions(lambda mentions, owner: float(features.is_example(owner.path))),
    "is_special": _of_whole(features.is_special),
    "is_private": _of_whole(features.is_private),
    "length": _of_whole(features.length),
}
"""Features by their names in the file of weights."""


def measure_long(pool: LongPool) -> Scores:
    """Compute every feature of every candidate: float64 [candidates, features], in their order."""
    if not pool.whole.outlines:
        return np.zeros((0, len(FEATURES)))
    return np.stack([measure(pool) for measure in FEATURES.values()], axis=1)
