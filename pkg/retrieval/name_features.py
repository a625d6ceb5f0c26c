"""What the name of a function, its class and its path have in common with a question; one function a feature."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

import numpy as np
import numpy.typing as npt

from pkg.retrieval.pool import Pool, Scores, give_candidates, number_owners, split
from pkg.terms.term_weights import find_name_gains
from pkg.terms.words import hash_term

GAIN_SCALE = 7 / 3  # a word of a name comes from the question seven times out of ten, otherwise from anywhere


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a text of each of n functions, one after another."""

    terms: tuple[str, ...]
    rows: npt.NDArray[np.int64]  # [words]: the function, as its place among n
    places: npt.NDArray[np.int64]  # [words]: the place among the terms of the question; -1 where it does not say it
    counts: npt.NDArray[np.int64]  # [n]

    def add_up(self, values: npt.NDArray[np.bool_] | Scores) -> Scores:
        """Add up values of the words [words] for each function: [n]."""
        return np.asarray(np.bincount(self.rows, values, len(self.counts)), np.float64)


@lru_cache(maxsize=2)
def name_cover(pool: Pool) -> Scores:
    """Measure how much of the question stands in the name of the function."""
    return _cover(pool, _read_names(pool))


@lru_cache(maxsize=2)
def name_share(pool: Pool) -> Scores:
    """Measure how much of the function's name stands in the question."""
    return _share(pool, _read_names(pool))


def name_match(pool: Pool) -> Scores:
    """Measure how far name and question say the same."""
    return name_cover(pool) * name_share(pool)


def qualname_share(pool: Pool) -> Scores:
    """Measure how much of the names of the function and its classes stands in the question."""
    return _share(pool, _read_names(pool), _read_scopes(pool))


def name_order(pool: Pool) -> Scores:
    """Count neighbours in the name that the question has in the same order, neighbours there or not."""
    names = _read_names(pool)
    before = np.roll(names.places, 1)  # of a first word it is none of its name's
    return give_candidates(pool, names.add_up(~_is_first(names) & (before >= 0) & (before < names.places)))


def name_start(pool: Pool) -> Scores:
    """Tell whether name and question begin with the same word, mostly a verb."""
    names = _read_names(pool)
    return give_candidates(pool, names.add_up(_is_first(names) & (names.places == 0)))


def name_verb(pool: Pool) -> Scores:
    """Tell whether the first word of the name stands in the question."""
    names = _read_names(pool)
    return give_candidates(pool, names.add_up(_is_first(names) & (names.places >= 0)))


def name_length(pool: Pool) -> Scores:
    """Count the words of the name."""
    return give_candidates(pool, _read_names(pool).counts)


@lru_cache(maxsize=2)
def name_gain(pool: Pool) -> Scores:
    """Measure how much likelier the question makes the words of the name, by the logarithms (term_weights.py)."""
    return give_candidates(pool, _read_names(pool).add_up(_read_gains(pool)))


def name_gain_unsaid(pool: Pool) -> Scores:
    """Measure the same of those words of the name alone that the question does not say."""
    names = _read_names(pool)
    return give_candidates(pool, names.add_up(_read_gains(pool) * (names.places < 0)))


def name_gain_mean(pool: Pool) -> Scores:
    """Measure how much likelier the question makes a word of the name on average."""
    return name_gain(pool) / np.maximum(name_length(pool), 1)


def scope_cover(pool: Pool) -> Scores:
    """Measure how much of the question stands in class and path."""
    owners, _ = number_owners(pool)
    return _cover(pool, _read_scopes(pool), _read_words(pool, (owner.path.removesuffix(".py") for owner in owners)))


def _cover(pool: Pool, *texts: _Words) -> Scores:
    """Measure how much of the question stands in any of some texts of each function, by the weights of its terms."""
    worth = dict(zip(pool.question.weights, pool.rarities.tolist(), strict=True))
    weights = np.array([worth[term] for term in pool.question.terms], np.float64)
    held = np.zeros((len(number_owners(pool)[0]), len(weights) + 1), bool)  # a column for words that are not asked
    for text in texts:
        held[text.rows, text.places] = True
    return give_candidates(pool, held[:, :-1] @ weights / (weights.sum() or 1.0))


def _share(pool: Pool, *texts: _Words) -> Scores:
    """Measure how much of some texts of each function, taken together, stands in the question."""
    said, counts = sum(text.add_up(text.places >= 0) for text in texts), sum(text.counts for text in texts)
    return give_candidates(pool, said / np.maximum(counts, 1))


def _is_first(words: _Words) -> npt.NDArray[np.bool_]:
    """Tell which words begin the text of a function."""
    return np.asarray(np.diff(words.rows, prepend=-1) != 0, np.bool_)


@lru_cache(maxsize=2)
def _read_names(pool: Pool) -> _Words:
    return _read_words(pool, (owner.name for owner in number_owners(pool)[0]))


@lru_cache(maxsize=2)
def _read_scopes(pool: Pool) -> _Words:
    """Read the words of the classes and functions that each function stands in."""
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
