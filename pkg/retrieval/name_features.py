"""Ranking features of the name of a function, its class and its path; one function for each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import numpy as np
import numpy.typing as npt

from pkg.retrieval.candidate_pool import Pool, Scores, expand_to_candidates, number_owners, split
from pkg.terms.term_weights import find_name_gains
from pkg.terms.words import hash_term

GAIN_SCALE = 7 / 3  # a word of a name comes from the question seven times out of ten, otherwise from anywhere


@dataclass(frozen=True, slots=True)
class _Words:
    """Words of one text for each of n functions, one after another."""

    terms: tuple[str, ...]
    rows: npt.NDArray[np.int64]  # [words]: the function, as an index
    places: npt.NDArray[np.int64]  # [words]: the index among the terms of the question; -1 where it is not one
    counts: npt.NDArray[np.int64]  # [n]

    def add_up(self, values: npt.NDArray[np.bool_] | Scores) -> Scores:
        """Sum values of the words, [words], for each function: [n]."""
        return np.asarray(np.bincount(self.rows, values, len(self.counts)), np.float64)


@lru_cache(maxsize=2)
def name_cover(pool: Pool) -> Scores:
    """Return the share of the question in the name of the function."""
    return _cover(pool, _read_names(pool))


@lru_cache(maxsize=2)
def name_share(pool: Pool) -> Scores:
    """Return the share of the function's name in the question."""
    return _share(pool, _read_names(pool))


def name_match(pool: Pool) -> Scores:
    """Return the product of both shares."""
    return name_cover(pool) * name_share(pool)


def qualname_share(pool: Pool) -> Scores:
    """Return the share of the names of the function and its classes in the question."""
    return _share(pool, _read_names(pool), _read_scopes(pool))


def name_order(pool: Pool) -> Scores:
    """Count adjacent words of the name that occur in the question in the same order, adjacent or not."""
    names = _read_names(pool)
    before = np.roll(names.places, 1)  # for the first word of a name, the predecessor belongs to another name
    return expand_to_candidates(pool, names.add_up(~_is_first(names) & (before >= 0) & (before < names.places)))


def name_start(pool: Pool) -> Scores:
    """Return whether name and question begin with the same word, mostly a verb."""
    names = _read_names(pool)
    return expand_to_candidates(pool, names.add_up(_is_first(names) & (names.places == 0)))


def name_verb(pool: Pool) -> Scores:
    """Return whether the first word of the name occurs in the question."""
    names = _read_names(pool)
    return expand_to_candidates(pool, names.add_up(_is_first(names) & (names.places >= 0)))


def name_length(pool: Pool) -> Scores:
    """Return the number of words of the name."""
    return expand_to_candidates(pool, _read_names(pool).counts)


@lru_cache(maxsize=2)
def name_gain(pool: Pool) -> Scores:
    """Return how much likelier the question makes the words of the name, in logarithms (term_weights.py)."""
    return expand_to_candidates(pool, _read_names(pool).add_up(_read_gains(pool)))


def name_gain_unsaid(pool: Pool) -> Scores:
    """Return the same for the words of the name that do not occur in the question."""
    names = _read_names(pool)
    return expand_to_candidates(pool, names.add_up(_read_gains(pool) * (names.places < 0)))


def name_gain_mean(pool: Pool) -> Scores:
    """Return how much likelier the question makes a word of the name on average."""
    return name_gain(pool) / np.maximum(name_length(pool), 1)


def scope_cover(pool: Pool) -> Scores:
    """Return the share of the question in class and path."""
    owners, _ = number_owners(pool)
    return _cover(pool, _read_scopes(pool), _read_words(pool, (owner.path.removesuffix(".py") for owner in owners)))


def _cover(pool: Pool, *texts: _Words) -> Scores:
    """Return the share of the question, by term weight, in any of some texts of each function."""
    worth = dict(zip(pool.question.weights, pool.rarities.tolist(), strict=True))
    weights = np.array([worth[term] for term in pool.question.terms], np.float64)
    held = np.zeros((len(number_owners(pool)[0]), len(weights) + 1), bool)  # the last for unknown words
    for text in texts:
        held[text.rows, text.places] = True
    return expand_to_candidates(pool, held[:, :-1] @ weights / (weights.sum() or 1.0))


def _share(pool: Pool, *texts: _Words) -> Scores:
    """Return the share of some texts of each function, taken together, in the question."""
    held, counts = sum(text.add_up(text.places >= 0) for text in texts), sum(text.counts for text in texts)
    return expand_to_candidates(pool, held / np.maximum(counts, 1))


def _is_first(words: _Words) -> npt.NDArray[np.bool_]:
    """Return which words begin the text of a function."""
    return np.asarray(np.diff(words.rows, prepend=-1) != 0, np.bool_)


@lru_cache(maxsize=2)
def _read_names(pool: Pool) -> _Words:
    return _read_words(pool, (owner.name for owner in number_owners(pool)[0]))


@lru_cache(maxsize=2)
def _read_scopes(pool: Pool) -> _Words:
    """Read the words of the classes and functions around each function."""
    return _read_words(pool, (owner.qualname.rpartition(".")[0] for owner in number_owners(pool)[0]))


def _read_words(pool: Pool, texts: Iterable[str]) -> _Words:
    """Read the words of one text of each function of a pool."""
    words = [split(text) for text in texts]
    terms, counts = tuple(chain.from_iterable(words)), np.array([len(each) for each in words], np.int64)
    asked = {term: place for place, term in enumerate(pool.question.terms)}
    places = np.array([asked.get(term, -1) for term in terms], np.int64)
    return _Words(terms, np.repeat(np.arange(len(words)), counts), places, counts)


@lru_cache(maxsize=2)
def _read_gains(pool: Pool) -> Scores:
    """Read the logarithm of the gain of each word of the names: [words]."""
    gains = find_name_gains(pool.question.terms)
    return np.log1p(GAIN_SCALE * np.array([gains.get(hash_term(term), 0.0) for term in _read_names(pool).terms]))
