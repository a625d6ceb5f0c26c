"""Rank candidates: by a linear ranker over named features, or by reciprocal ranks."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from pkg.encode.registry import DEFAULT_ENCODER
from pkg.errors import StoreError
from pkg.model import Label
from pkg.retrieval.candidate_pool import Pool, Scores, standard_deviation
from pkg.retrieval.features import FEATURES, measure_features

WEIGHTS = Path(__file__).with_name("ranker.json")
OTHER = "other"  # encoders without trained weights
RANK_OFFSET = 60  # of reciprocal rank fusion, as in the original paper (Cormack et al., 2009)
_DIGITS = 9  # scores that differ only after these are equal: cosines of two stores agree to ten


@dataclass(frozen=True, slots=True)
class Ranked:
    """A ranked candidate: its score, its cosine, and the parts of the score."""

    id: str
    score: float
    cosine: float
    content_hash: str
    same_content: int = 0
    parts: tuple[tuple[str, float], ...] = ()  # terms of the score before the logistic function
    slope: float = 0.0  # increase of the sum of the parts for each unit of cosine
    owner: str = ""  # id of a block's function; else the candidate's own
    same_function: int = 0  # lower blocks of its function that collapsed into this candidate
    twins: tuple[str, ...] = ()  # places of its variants, such as its async form, that collapsed into it

    def raise_score(self, gain: float) -> float:
        """Return the score for a cosine higher by `gain`; without parts the score is the cosine itself."""
        if gain <= 0:
            return self.score
        if not self.parts:
            return min(1.0, self.score + gain * self.slope)
        total = sum(value for _, value in self.parts) + gain * self.slope
        return max(self.score, float(_logistic(np.array(total))))


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of one label, in the order of its features; with the offset, the score is a rate of right answers."""

    values: tuple[float, ...]
    offset: float


def rank_linear(
    pool: Pool, label: Label, k: int, encoder: str = DEFAULT_ENCODER, by_function: bool = False
) -> list[Ranked]:
    """Return the k candidates of a pool with the highest weighted sum of features, best first, ties by id.

    encoder: the name of the encoder of the vectors. by_function: only the best block of each function is ranked.
    """
    label = label if label in FEATURES else Label.FUNCTION  # the weights for functions include declarations
    weights = load_weights(encoder)[label]
    measured = measure_features(pool, label) * np.array(weights.values)
    names = [*(feature.__name__ for feature in FEATURES[label]), "offset"]
    slope = _measure_slope(dict(zip(names, weights.values, strict=False)), pool)
    return rank_weighted(pool, measured, names, weights.offset, slope, k, by_function)


def rank_weighted(
    pool: Pool,
    weighed: Scores,
    names: Sequence[str],
    offset: float,
    slope: float,
    k: int,
    by_function: bool = False,
) -> list[Ranked]:
    """Return the k candidates of the highest sum of weighted features, float64 [candidates, features], with its parts.

    `names` are those of the features and of the offset. `slope` is the increase of the sum for each unit of cosine.
    """
    scores = _logistic(weighed.sum(axis=1) + offset)
    return [
        replace(each, parts=tuple(zip(names, [*weighed[row].tolist(), offset], strict=True)), slope=slope)
        for row, each in _order(pool, scores, k, by_function)
    ]


def _measure_slope(weights: Mapping[str, float], pool: Pool) -> float:
    """Return the increase of a candidate's sum for each unit of its cosine, without its rank; never negative."""
    return max(0.0, weights["dense"] / standard_deviation(pool.dense) + weights["cosine"])


def rank_reciprocal(pool: Pool, k: int, by_function: bool = False) -> list[Ranked]:
    """Return the k candidates of a pool with the highest sum of reciprocal ranks in both searches, ties by id."""
    both = [1 / (RANK_OFFSET + 1 + _count_better(scores)) for scores in (pool.dense, pool.lexical)]
    return [each for _, each in _order(pool, both[0] + both[1], k, by_function)]


def _order(pool: Pool, scores: Scores, k: int, by_function: bool) -> list[tuple[int, Ranked]]:
    """Return row and candidate of the first k places; equal content collapses into the first."""
    rounded, outlines = np.round(scores, _DIGITS).tolist(), pool.outlines
    rows = sorted(range(len(rounded)), key=lambda row: (-rounded[row], outlines[row].id))
    equals: dict[str, list[int]] = {}
    for row in rows:
        equals.setdefault(outlines[row].content_hash, []).append(row)
    groups = list(equals.values())
    firsts = _collapse_blocks(pool, groups, k) if by_function else dict.fromkeys(range(min(k, len(groups))), 0)
    return [
        (groups[place][0], _make_ranked(pool, rounded[groups[place][0]], groups[place], folded))
        for place, folded in firsts.items()
    ]


def _collapse_blocks(pool: Pool, groups: Sequence[list[int]], k: int) -> dict[int, int]:
    """Return the places of the first k functions, and the number of later blocks of each.

    Blocks of equal content count as one, so the functions of all of them are covered by it.
    """
    firsts: dict[int, int] = {}
    places: dict[str, int] = {}  # of the first block of each function
    for place, rows in enumerate(groups):
        known = places.get(pool.owners[rows[0]].id)
        if known is not None:
            firsts[known] += 1
        elif len(firsts) == k:
            break
        else:
            firsts[place] = 0
            for row in rows:
                places.setdefault(pool.owners[row].id, place)
    return firsts


def _make_ranked(pool: Pool, score: float, rows: list[int], folded: int) -> Ranked:
    """Build a candidate from the rows of one content, the best first; a search may have dropped more than are here."""
    outline = pool.outlines[rows[0]]
    same = max(len(rows) - 1, *(pool.same_content[row] for row in rows))
    hashed, owner = outline.content_hash, pool.owners[rows[0]].id
    return Ranked(outline.id, score, outline.cosine, hashed, same, owner=owner, same_function=folded)


def merge_ranked(lists: Iterable[Sequence[Ranked]]) -> list[Ranked]:
    """Merge the rankings of several labels; a block and a function of equal content collapse."""
    merged: dict[str, Ranked] = {}
    for each in sorted((each for ranked in lists for each in ranked), key=lambda each: (-each.score, each.id)):
        first = merged.setdefault(each.content_hash, each)
        if first is not each:
            merged[each.content_hash] = replace(first, same_content=first.same_content + 1 + each.same_content)
    return list(merged.values())


def collapse_functions(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Collapse a function and its blocks into the best of them."""
    firsts: dict[str, Ranked] = {}
    for each in ranked:
        first = firsts.setdefault(each.owner, each)
        if first is not each:
            firsts[each.owner] = replace(first, same_function=first.same_function + 1 + each.same_function)
    return list(firsts.values())


def _count_better(scores: Scores) -> Scores:
    return np.asarray(len(scores) - np.searchsorted(np.sort(scores), scores, side="right"), np.float64)


def _logistic(sums: Scores) -> Scores:
    squeezed: Scores = 1 / (1 + np.exp(-sums))
    return squeezed


def load_weights(encoder: str) -> dict[Label, Weights]:
    """Return the trained weights for vectors of an encoder, which must be for exactly the current features.

    Encoders without trained weights have those of minilm, which has few layers like most of them.
    """
    rows = _load_rows()
    return rows[choose_row(rows, encoder)]


@lru_cache(maxsize=1)
def _load_rows() -> dict[str, dict[Label, Weights]]:
    rows: dict[str, Any] = json.loads(WEIGHTS.read_text("utf-8"))
    return {
        name: {
            label: make_weights(row[label.value], [feature.__name__ for feature in features], WEIGHTS.name)
            for label, features in FEATURES.items()
        }
        for name, row in rows.items()
    }


def choose_row(names: Container[str], encoder: str) -> str:
    """Return the kind of an encoder if there are trained weights for it, else OTHER.

    encoder: its name, perhaps with a revision or a model, such as static@1a2b3c4d or minilm:FOLDER.
    """
    kind = encoder.partition(":")[0].partition("@")[0]
    return kind if kind in names else OTHER


def make_weights(row: Mapping[str, Any], names: Sequence[str], file: str) -> Weights:
    """Parse the weights of features in the order of their names; raises StoreError for those of other features."""
    if sorted(row["weights"]) != sorted(names):
        raise StoreError(
            f"{file} has weights for {', '.join(sorted(row['weights']))}, expected {', '.join(sorted(names))};"
            " install the package again, or train it as training/README.md says"
        )
    return Weights(tuple(float(row["weights"][name]) for name in names), float(row["offset"]))


def reorder(ranked: Sequence[Ranked], values: Sequence[float]) -> tuple[Ranked, ...]:
    """Order candidates by values, highest first; ties keep their order.

    Each gets the score of its new place, which keeps scores comparable with those of other candidates, and no parts.
    """
    order = sorted(range(len(ranked)), key=lambda place: (-values[place], place))
    scores = sorted((each.score for each in ranked), reverse=True)
    return tuple(
        replace(ranked[place], score=score, parts=(), slope=0.0) for place, score in zip(order, scores, strict=True)
    )
