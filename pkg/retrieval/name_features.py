"""What the name of a function, its class and its path have in common with a question; one function a feature."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise

import numpy as np

from pkg.encode.name_gains import gain_names
from pkg.model import Outline
from pkg.retrieval.measures import map_owners, share, split
from pkg.retrieval.pool import Pool, Scores
from pkg.terms import hash_term

GAIN_SCALE = 7 / 3  # a word of a name comes from the question seven times out of ten, otherwise from anywhere


def name_cover(pool: Pool) -> Scores:
    """Measure how much of the question stands in the name of the function."""
    return _compare_names(pool)[:, 0]


def name_share(pool: Pool) -> Scores:
    """Measure how much of the function's name stands in the question."""
    return _compare_names(pool)[:, 1]


def name_match(pool: Pool) -> Scores:
    """Measure how far name and question say the same."""
    return name_cover(pool) * name_share(pool)


def qualname_share(pool: Pool) -> Scores:
    """Measure how much of the names of the function and its classes stands in the question."""
    return _compare_names(pool)[:, 2]


def name_order(pool: Pool) -> Scores:
    """Count neighbours in the name that the question has in the same order, neighbours there or not."""
    return _compare_names(pool)[:, 3]


def name_start(pool: Pool) -> Scores:
    """Tell whether name and question begin with the same word, mostly a verb."""
    return _compare_names(pool)[:, 4]


def name_verb(pool: Pool) -> Scores:
    """Tell whether the first word of the name stands in the question."""
    return _compare_names(pool)[:, 5]


def name_length(pool: Pool) -> Scores:
    """Count the words of the name."""
    return _compare_names(pool)[:, 6]


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
    return _compare_names(pool)[:, 7]


@lru_cache(maxsize=2)
def _compare_names(pool: Pool) -> Scores:
    """Compare names with the question, all in one go through the functions: what the features above give, [n, 8].

    What part of the question is held is measured by the weights of its terms.
    """
    terms, worth = pool.question.terms, dict(zip(pool.question.weights, pool.rarities.tolist(), strict=True))
    asked, weighed = frozenset(terms), frozenset(worth)
    places, total = {term: place for place, term in enumerate(terms)}, float(pool.rarities.sum()) or 1.0

    def compare(owner: Outline) -> tuple[float, ...]:
        name = split(owner.name)
        qualname = split(owner.qualname.rpartition(".")[0]) + name
        cover = _add_up(worth, weighed.intersection(name)) / total
        scope = _add_up(worth, weighed & _split_scope(owner.qualname, owner.path)) / total
        shares = share(name, asked), share(qualname, asked)
        starts = name[:1] == terms[:1], not asked.isdisjoint(name[:1])
        return cover, *shares, _count_in_order(name, places), *starts, len(name), scope

    return map_owners(pool, compare)


def _count_in_order(name: tuple[str, ...], places: Mapping[str, int]) -> int:
    """Count neighbours in a name whose places in the question ascend."""
    if places.keys().isdisjoint(name):
        return 0
    found = [places.get(term, len(places)) for term in name]
    return sum(first < second < len(places) for first, second in pairwise(found))


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
