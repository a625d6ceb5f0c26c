"""Learn how much a word of a question counts in lexical search: by how often it really stands in what is asked for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
from matrices import Pairs

from pkg.terms.term_weights import TERM_WEIGHT
from pkg.terms.words import hash_term

SUPPORT = 10.0  # questions that the rate of a rare word stands for, beside those that hold the word
RARE = 5  # questions with a word, at most, for it to tell of words that were never seen
POWER = 0.6  # of the rate, tuned on development halves: 0 would take all words alike
FEWEST = 3  # questions that a word must stand in to have a weight of its own
UNCHANGED = 0.02  # weights this near to 1 are left out: 1 is what a word has that was never learned

TermWeights = dict[str, float]


def learn_term_weights(pairs: Pairs) -> TermWeights:
    """Give the weights of words, over that of a rare word, which is 1."""
    functions, first = pairs.functions, pairs.first
    holds = ((functions.code + functions.names + functions.places) > 0).astype(np.float32)[first.functions]
    asked = np.asarray(first.words.sum(axis=0)).ravel()
    found = np.asarray(first.words.multiply(holds).sum(axis=0)).ravel()
    is_rare = asked <= RARE
    usual = found[is_rare].sum() / asked[is_rare].sum()
    weights = ((found + SUPPORT * usual) / (asked + SUPPORT) / usual) ** POWER
    chosen = np.flatnonzero((asked >= FEWEST) & (np.abs(weights - 1) > UNCHANGED))
    return {pairs.words[number]: round(float(weights[number]), 3) for number in chosen.tolist()}


def write_term_weights(weights: TermWeights, path: Path) -> None:
    """Write the weights as lexical search reads them: ascending by the number of the term."""
    rows = sorted((hash_term(term), weight) for term, weight in weights.items())
    table: npt.NDArray[np.void] = np.array(rows, TERM_WEIGHT)
    np.save(path, table[np.append(True, np.diff(table["term"].astype(np.int64)) > 0)])
