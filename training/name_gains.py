"""Learn how functions are named: how much likelier a word of a question makes a word of a function's name.

Each word of a name is assumed to come from one word of the question, or from none of them; which one is learned from
all pairs jointly, by expectation maximisation (model 1 of Brown et al., 1993, there for translation).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from matrices import Numbers, Pairs, weigh_packages

from pkg.terms.term_weights import NAME_GAIN
from pkg.terms.words import hash_term

ROUNDS = 5  # more change little
SUPPORT = 3.0  # pseudo-count of questions with a word but without its name: rare words gain less
LEAST_CHANCE = 0.005  # of a name word given a question word: lower ones are left out
START_CHANCE = 0.001

Chances = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Links:
    """Every word of a name with every word of its question, one link each; a slot is one word of one name."""

    asked: Numbers  # [links], numbers of words
    named: Numbers  # [links]
    slots: Numbers  # [links]
    slot_words: Numbers  # [slots]
    worth: Chances  # [slots], the weights of their packages


def learn_name_gains(pairs: Pairs, packages: list[str]) -> npt.NDArray[np.void]:
    """Return the table of gains, sorted as pkg.terms.term_weights reads it."""
    links, size = _link(pairs, packages), len(pairs.words)
    counts = np.bincount(links.slot_words, links.worth, minlength=size)
    usual: Chances = counts / links.worth.sum()
    asked, named, chances = _learn_chances(links, usual)
    kept = chances >= LEAST_CHANCE
    numbers = np.array([hash_term(word) for word in pairs.words], np.uint32)
    table = np.zeros(int(kept.sum()), NAME_GAIN)
    table["asked"], table["named"] = numbers[asked[kept]], numbers[named[kept]]
    table["gain"] = chances[kept] / usual[named[kept]]
    return np.sort(table, order=("asked", "named"))


def _link(pairs: Pairs, packages: list[str]) -> _Links:
    """Link the words of first paragraphs with those of the names of their functions."""
    questions, names, owners = pairs.first.words, pairs.functions.names, pairs.first.functions
    asked, held = np.diff(questions.indptr), np.diff(names.indptr)[owners]
    starts = np.cumsum(held) - held  # of the slots of each question
    slot_words = names.indices[_count_up(held) + np.repeat(names.indptr[owners], held)].astype(np.int64)
    amounts = asked * held
    places, width = _count_up(amounts), np.repeat(held, amounts)
    slots = np.repeat(starts, amounts) + places % width
    words = questions.indices[np.repeat(questions.indptr[:-1], amounts) + places // width]
    worth = weigh_packages(packages)[pairs.functions.packages[owners]]
    return _Links(words.astype(np.int64), slot_words[slots], slots, slot_words, np.repeat(worth, held))


def _count_up(amounts: Numbers) -> Numbers:
    """Count from 0 for each amount: 2, 3 gives 0, 1, 0, 1, 2."""
    starts = np.cumsum(amounts) - amounts
    return np.asarray(np.arange(amounts.sum()) - np.repeat(starts, amounts), np.int64)


def _learn_chances(links: _Links, usual: Chances) -> tuple[Numbers, Numbers, Chances]:
    """Return pairs of a question word and a name word, with the probability of the second given the first."""
    size = len(usual)
    keys, pair = np.unique(links.asked * size + links.named, return_inverse=True)
    asked = keys // size
    chances = np.full(len(keys), START_CHANCE)
    for _ in range(ROUNDS):
        parts = chances[pair]
        totals = np.bincount(links.slots, parts, minlength=len(links.slot_words)) + usual[links.slot_words]
        counts = np.bincount(pair, parts * (links.worth / totals)[links.slots], minlength=len(keys))
        chances = counts / (np.bincount(asked, counts, minlength=size) + SUPPORT)[asked]
    return asked, keys % size, chances


def write_name_gains(gains: npt.NDArray[np.void], path: Path) -> None:
    """Write the table for the product."""
    np.save(path, gains)
