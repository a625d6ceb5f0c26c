"""What the name of a function, its class and its path have in common with a question; one function a feature."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

import numpy as np

from pkg.encode.name_gains import gain_names
from pkg.model import Outline
from pkg.retrieval.measures import divide, map_owners, share, split
from pkg.retrieval.pool import Pool, Scores
from pkg.terms import hash_term

GAIN_SCALE = 7 / 3  # a word of a name comes from the question seven times out of ten, otherwise from anywhere


@lru_cache(maxsize=2)
def name_cover(pool: Pool) -> Scores:
    """Measure how much of the question stands in the name of the function."""
    return _cover(pool, lambda owner, asked: asked & _split_set(owner.name))


@lru_cache(maxsize=2)
def name_share(pool: Pool) -> Scores:
    """Measure how much of the function's name stands in the question."""
    asked = frozenset(pool.question.terms)
    return map_owners(pool, lambda owner: share(split(owner.name), asked))


def name_match(pool: Pool) -> Scores:
    """Measure how far name and question say the same."""
    return name_cover(pool) * name_share(pool)


def qualname_share(pool: Pool) -> Scores:
    """Measure how much of the names of the function and its classes stands in the question."""
    asked = frozenset(pool.question.terms)
    return map_owners(pool, lambda owner: share(split(owner.qualname.rpartition(".")[0]) + split(owner.name), asked))


def name_order(pool: Pool) -> Scores:
    """Count neighbours in the name that the question has in the same order, neighbours there or not."""
    places = {term: place for place, term in enumerate(pool.question.terms)}
    last = len(places)

    def measure(owner: Outline) -> float:
        terms = split(owner.name)
        if places.keys().isdisjoint(terms):
            return 0.0
        found = [places.get(term, last) for term in terms]
        return float(sum(first < second < last for first, second in pairwise(found)))

    return map_owners(pool, measure)


def name_start(pool: Pool) -> Scores:
    """Tell whether name and question begin with the same word, mostly a verb."""
    first = pool.question.terms[:1]
    return map_owners(pool, lambda owner: float(split(owner.name)[:1] == first))


def name_verb(pool: Pool) -> Scores:
    """Tell whether the first word of the name stands in the question."""
    asked = frozenset(pool.question.terms)
    return map_owners(pool, lambda owner: float(not asked.isdisjoint(split(owner.name)[:1])))


def name_length(pool: Pool) -> Scores:
    """Count the words of the name."""
    return map_owners(pool, lambda owner: float(len(split(owner.name))))


def name_gain(pool: Pool) -> Scores:
    """Measure how much likelier the question makes the words of the name, by the logarithms (pkg.encode.name_gains)."""
    return _gain_names(pool)[:, 0]


def name_gain_unsaid(pool: Pool) -> Scores:
    """Measure the same of those words of the name alone that the question does not say."""
    return _gain_names(pool)[:, 1]


def name_gain_mean(pool: Pool) -> Scores:
    """Measure how much likelier the question makes a word of the name on average."""
    return _gain_names(pool)[:, 2]


def scope_cover(pool: Pool) -> Scores:
    """Measure how much of the question stands in class and path."""
    return _cover(pool, lambda owner, asked: asked & _split_scope(owner.qualname, owner.path))


def _cover(pool: Pool, list_held: Callable[[Outline, frozenset[str]], frozenset[str]]) -> Scores:
    """Measure what part of the question, by the weights of its terms, is held by each function."""
    worth = dict(zip(pool.question.weights, pool.rarities.tolist(), strict=True))
    asked = frozenset(worth)
    covered = map_owners(pool, lambda owner: _add_up(worth, list_held(owner, asked)))
    return divide(covered, float(pool.rarities.sum()))


def _add_up(worth: dict[str, float], found: frozenset[str]) -> float:
    """Add up what terms are worth, in an order that is always the same."""
    return sum(map(worth.__getitem__, sorted(found))) if found else 0.0


@lru_cache(maxsize=2)
def _gain_names(pool: Pool) -> Scores:
    """Measure the logarithms of the gains of each name: their sum, that of words not asked, their mean: [n, 3]."""
    gains, asked = gain_names(pool.question.terms), frozenset(pool.question.terms)
    names = {owner.name: split(owner.name) for owner in pool.owners}
    terms = [term for name in names.values() for term in name]
    logarithms = np.log1p(GAIN_SCALE * np.array([gains.get(hash_term(term), 0.0) for term in terms]))
    unsaid = logarithms * np.array([term not in asked for term in terms], bool)
    owners = np.repeat(np.arange(len(names)), [len(name) for name in names.values()])
    sums, news = (np.bincount(owners, values, minlength=len(names)) for values in (logarithms, unsaid))
    means = sums / np.maximum(np.bincount(owners, minlength=len(names)), 1)
    rows = {name: row for row, name in enumerate(names)}
    measured = np.stack((sums, news, means), axis=1)[[rows[owner.name] for owner in pool.owners]]
    return np.asarray(measured, np.float64)


@lru_cache(maxsize=10_000)
def _split_set(text: str) -> frozenset[str]:
    return frozenset(split(text.removesuffix(".py")))


@lru_cache(maxsize=10_000)
def _split_scope(qualname: str, path: str) -> frozenset[str]:
    return frozenset(split(qualname.rpartition(".")[0])) | _split_set(path)
