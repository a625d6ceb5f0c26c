"""Put candidates in order: by a linear ranker over named features, by reciprocal ranks, or by the cosine alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from pkg.errors import StoreError
from pkg.model import Label
from pkg.retrieval.features import FEATURES, measure_features, measure_unit
from pkg.retrieval.pool import Pool, Scores

WEIGHTS = Path(__file__).with_name("ranker.json")
RANK_OFFSET = 60  # of reciprocal rank fusion, as in the paper that proposed it (Cormack et al., 2009)
_DIGITS = 9  # scores that differ behind these are equal: cosines of two stores agree to ten


@dataclass(frozen=True, slots=True)
class Ranked:
    """One candidate in its place: its score, the cosine, and what the score is made of."""

    id: str
    score: float
    cosine: float
    content_hash: str
    same_content: int = 0
    parts: tuple[tuple[str, float], ...] = ()  # of the score before it is squeezed between 0 and 1
    slope: float = 0.0  # what one more of the cosine adds to the sum of the parts

    def raise_score(self, gain: float) -> float:
        """Give the score of the candidate if its cosine were higher; without parts the score is the cosine itself."""
        if gain <= 0:
            return self.score
        if not self.parts:
            return min(1.0, self.score + gain * self.slope)
        total = sum(value for _, value in self.parts) + gain * self.slope
        return max(self.score, float(_squeeze(np.array(total))))


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of one label, in the order of its features; the offset makes the score a rate of right answers."""

    values: tuple[float, ...]
    offset: float


def rank_linear(pool: Pool, label: Label, weights: Weights | None = None) -> list[Ranked]:
    """Order the candidates of a pool by the weighted sum of their features, best first, ties by id."""
    weights = weights or load_weights()[label]
    measured = measure_features(pool, label) * np.array(weights.values)
    scores = _squeeze(measured.sum(axis=1) + weights.offset)
    names = [feature.__name__ for feature in FEATURES[label]]
    slope = weights.values[names.index("dense")] / measure_unit(pool.dense)
    ranked = _order(pool, scores)
    return [
        replace(each, parts=(*zip(names, measured[row].tolist(), strict=True), ("offset", weights.offset)), slope=slope)
        for row, each in ranked
    ]


def rank_reciprocal(pool: Pool) -> list[Ranked]:
    """Order the candidates of a pool by the sum of their reciprocal ranks in both searches, ties by id."""
    both = [1 / (RANK_OFFSET + 1 + _count_better(scores)) for scores in (pool.dense, pool.lexical)]
    return [replace(each, slope=0.0) for _, each in _order(pool, both[0] + both[1])]


def _order(pool: Pool, scores: Scores) -> list[tuple[int, Ranked]]:
    """Give the row and the candidate of each place, equal content folded into the first."""
    rounded = np.round(scores, _DIGITS).tolist()
    rows = sorted(range(len(rounded)), key=lambda row: (-rounded[row], pool.outlines[row].id))
    ranked: dict[str, tuple[int, Ranked]] = {}
    for row in rows:
        outline, same = pool.outlines[row], pool.same_content[row]
        if outline.content_hash in ranked:
            first_row, first = ranked[outline.content_hash]
            ranked[outline.content_hash] = first_row, replace(first, same_content=max(first.same_content, same, 1))
        else:
            cosine = float(pool.dense[row])
            ranked[outline.content_hash] = row, Ranked(outline.id, rounded[row], cosine, outline.content_hash, same)
    return list(ranked.values())


def merge_ranked(lists: Iterable[Sequence[Ranked]]) -> list[Ranked]:
    """Merge the orders of several labels: a block and a function of equal content stand for one another."""
    merged: dict[str, Ranked] = {}
    for each in sorted((each for ranked in lists for each in ranked), key=lambda each: (-each.score, each.id)):
        first = merged.setdefault(each.content_hash, each)
        if first is not each:
            merged[each.content_hash] = replace(first, same_content=first.same_content + 1 + each.same_content)
    return list(merged.values())


def _count_better(scores: Scores) -> Scores:
    return np.asarray(len(scores) - np.searchsorted(np.sort(scores), scores, side="right"), np.float64)


def _squeeze(sums: Scores) -> Scores:
    squeezed: Scores = 1 / (1 + np.exp(-sums))
    return squeezed


@lru_cache(maxsize=1)
def load_weights() -> dict[Label, Weights]:
    """Read the weights that training wrote; they must name the very features that there are."""
    rows: dict[str, Any] = json.loads(WEIGHTS.read_text("utf-8"))
    return {label: _read_weights(label, rows[label.value]) for label in FEATURES}


def _read_weights(label: Label, row: dict[str, Any]) -> Weights:
    names = [feature.__name__ for feature in FEATURES[label]]
    if sorted(row["weights"]) != sorted(names):
        raise StoreError(
            f"{WEIGHTS.name} has weights for {', '.join(sorted(row['weights']))}, expected {', '.join(sorted(names))};"
            " install the package again, or train the ranker"
        )
    return Weights(tuple(float(row["weights"][name]) for name in names), float(row["offset"]))
