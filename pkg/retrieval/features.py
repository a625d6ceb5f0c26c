"""What a ranking knows of a candidate: one small function a feature, each gives one number a candidate.

A feature compares candidates of one question, so what is the same for all of them does not count. Scores of a search
are measured in standard deviations of its best, which lie alike for every encoder, question and size of graph.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from functools import lru_cache
from itertools import pairwise

import numpy as np

from pkg.encode.stems import split_terms
from pkg.model import Label, Outline
from pkg.retrieval.places import is_generated, is_test, is_vendored
from pkg.retrieval.pool import Pool, Scores

SPREAD_OF = 50  # best scores of which the spread is taken: all of a small pool are near, the tail of a large one is not
_SAME = 1e-9  # a smaller deviation is rounding
_RANK_OFFSET = 10  # of reciprocal ranks: the first ten places differ much, the others little


def dense(pool: Pool) -> Scores:
    """Measure the cosine with the question (P-14)."""
    return _spread(pool.dense)


def lexical(pool: Pool) -> Scores:
    """Measure the lexical score of the function."""
    return _spread(pool.lexical)


def owner_dense(pool: Pool) -> Scores:
    """Measure the cosine of a block's function."""
    return _spread(pool.owner_dense)


def dense_rank(pool: Pool) -> Scores:
    """Give the reciprocal rank among the cosines."""
    return _reciprocal_rank(pool.dense)


def lexical_rank(pool: Pool) -> Scores:
    """Give the reciprocal rank among the lexical scores."""
    return _reciprocal_rank(pool.lexical)


def lexical_share(pool: Pool) -> Scores:
    """Measure the lexical score as a share of the best."""
    best = pool.lexical.max(initial=0)
    return pool.lexical / best if best > 0 else pool.lexical


def word_cover(pool: Pool) -> Scores:
    """Measure how much of the question stands anywhere in the function."""
    return _divide((pool.words > 0) @ pool.rarities, pool.rarities.sum())


@lru_cache(maxsize=2)
def name_cover(pool: Pool) -> Scores:
    """Measure how much of the question stands in the name of the function."""
    return _cover(pool, lambda owner, asked: asked & _split_set(owner.name))


@lru_cache(maxsize=2)
def name_share(pool: Pool) -> Scores:
    """Measure how much of the function's name stands in the question."""
    asked = frozenset(pool.question.terms)
    return _map_owners(pool, lambda owner: _share(_split(owner.name), asked))


def name_match(pool: Pool) -> Scores:
    """Measure how far name and question say the same."""
    return name_cover(pool) * name_share(pool)


def name_phrase(pool: Pool) -> Scores:
    """Measure how many neighbours in the name are neighbours in the question."""
    asked = frozenset(pairwise(pool.question.terms))
    return _map_owners(pool, lambda owner: _share(_pair(owner.name), asked))


def name_start(pool: Pool) -> Scores:
    """Tell whether name and question begin with the same word, mostly a verb."""
    first = pool.question.terms[:1]
    return _map_owners(pool, lambda owner: float(_split(owner.name)[:1] == first))


def scope_cover(pool: Pool) -> Scores:
    """Measure how much of the question stands in class and path."""
    return _cover(pool, lambda owner, asked: asked & _split_owners(owner.qualname) | asked & _split_set(owner.path))


def asked_name(pool: Pool) -> Scores:
    """Tell whether the question names the function: 1, or .5 where it names another class or module with it."""
    names = [name.split(".") for name in pool.question.names]
    return _map_owners(pool, lambda owner: max(_match_name(owner, parts) for parts in names)) if names else _zeros(pool)


def asked_scope(pool: Pool) -> Scores:
    """Tell whether the question names a class or module that the function stands in."""
    asked = {part for name in pool.question.names for part in name.split(".")}
    return _map_owners(pool, lambda owner: float(not asked.isdisjoint(_scope_names(owner)))) if asked else _zeros(pool)


def asked_file(pool: Pool) -> Scores:
    """Tell whether the question names the file."""
    files = pool.question.files
    if not files:
        return _zeros(pool)
    return _map_owners(pool, lambda owner: float(any(_is_in_file(owner.path, name) for name in files)))


def in_test(pool: Pool) -> Scores:
    """Tell whether the file holds tests, and the question does not ask for any."""
    return _zeros(pool) if pool.question.asks_tests else _map_owners(pool, lambda owner: float(is_test(owner.path)))


def in_foreign(pool: Pool) -> Scores:
    """Tell whether the file is generated, or a copy of another project's."""
    return _map_owners(pool, lambda owner: float(is_generated(owner.path) or is_vendored(owner.path)))


def is_special(pool: Pool) -> Scores:
    """Tell whether the function is a special method such as ``__init__``."""
    return _map_owners(pool, lambda owner: float(owner.name.startswith("__") and owner.name.endswith("__")))


def is_private(pool: Pool) -> Scores:
    """Tell whether the function's name begins with one underscore."""
    return _map_owners(pool, lambda owner: float(owner.name.startswith("_") and not owner.name.startswith("__")))


def length(pool: Pool) -> Scores:
    """Measure the lines, by their logarithm."""
    return np.log2([max(1, each.lines) for each in pool.outlines])


def is_body(pool: Pool) -> Scores:
    """Tell whether the block is the body of its function."""
    return np.array([float(each.kind == "body") for each in pool.outlines])


_COMMON = (
    dense, dense_rank, lexical, lexical_rank, lexical_share, word_cover, name_cover, name_share, name_match,
    name_phrase, name_start, scope_cover, asked_name, asked_scope, asked_file, in_test, in_foreign,
    is_special, is_private, length,
)  # fmt: skip
FEATURES: dict[Label, tuple[Callable[[Pool], Scores], ...]] = {
    Label.FUNCTION: _COMMON,
    Label.BLOCK: (*_COMMON, owner_dense, is_body),
}


def measure_features(pool: Pool, label: Label) -> Scores:
    """Measure every feature of every candidate: float64 [candidates, features of the label], in their order."""
    if not pool.outlines:
        return np.zeros((0, len(FEATURES[label])))
    return np.stack([feature(pool) for feature in FEATURES[label]], axis=1)


def _zeros(pool: Pool) -> Scores:
    return np.zeros(len(pool.outlines))


def _spread(scores: Scores) -> Scores:
    """Measure scores in standard deviations of the best, from their mean."""
    best = np.sort(scores)[-SPREAD_OF:]
    spread: Scores = (scores - best.mean()) / measure_unit(scores)
    return np.clip(spread, -5, 10)


def measure_unit(scores: Scores) -> float:
    """Measure one standard deviation of the best scores; endless where they are all the same."""
    deviation = float(np.sort(scores)[-SPREAD_OF:].std()) if len(scores) else 0.0
    return deviation if deviation > _SAME else math.inf


def _reciprocal_rank(scores: Scores) -> Scores:
    """Give 1 for the best and less for each that follows; equal scores rank alike."""
    ordered = np.sort(scores)
    better = len(scores) - np.searchsorted(ordered, scores, side="right")
    ranks: Scores = _RANK_OFFSET / (_RANK_OFFSET + better)
    return ranks


def _map_owners(pool: Pool, measure: Callable[[Outline], float]) -> Scores:
    """Measure each function once, however many of its blocks are candidates."""
    if pool.owners is pool.outlines:
        return np.array([measure(owner) for owner in pool.owners])
    values = {owner.id: measure(owner) for owner in {each.id: each for each in pool.owners}.values()}
    return np.array([values[owner.id] for owner in pool.owners])


def _cover(pool: Pool, list_held: Callable[[Outline, frozenset[str]], frozenset[str]]) -> Scores:
    """Measure what part of the question, by the weights of its terms, is held by each function."""
    worth = dict(zip(pool.question.weights, pool.rarities.tolist(), strict=True))
    asked = frozenset(worth)
    covered = _map_owners(pool, lambda owner: sum(map(worth.__getitem__, sorted(list_held(owner, asked)))))
    return _divide(covered, float(pool.rarities.sum()))


def _divide(values: Scores, total: float) -> Scores:
    return np.asarray(values / total if total > 0 else values, np.float64)


def _share(held: Collection[object], asked: Collection[object]) -> float:
    """Give the share of what is held that is asked for."""
    return sum(each in asked for each in held) / len(held) if held else 0.0


@lru_cache(maxsize=10_000)
def _split(text: str) -> tuple[str, ...]:
    return tuple(split_terms(text.encode("utf-8", "replace")))


@lru_cache(maxsize=10_000)
def _pair(name: str) -> tuple[tuple[str, str], ...]:
    return tuple(pairwise(_split(name)))


@lru_cache(maxsize=10_000)
def _split_set(text: str) -> frozenset[str]:
    return frozenset(_split(text.removesuffix(".py")))


@lru_cache(maxsize=10_000)
def _split_owners(qualname: str) -> frozenset[str]:
    return frozenset(_split(qualname.rpartition(".")[0]))


def _scope_names(owner: Outline) -> set[str]:
    parts = owner.path.removesuffix(".py").split("/")
    return {*owner.qualname.split(".")[:-1], *parts[-1:]}


def _match_name(owner: Outline, parts: list[str]) -> float:
    if parts[-1] != owner.name:
        return 0.0
    if len(parts) == 1:
        return 1.0
    return 1.0 if parts[-2] in _scope_names(owner) else 0.5


def _is_in_file(path: str, name: str) -> bool:
    return f"/{path}".endswith(f"/{name}") or (name.endswith("/") and f"/{name}" in f"/{path}")
