"""Learn the weight of a question word in lexical search: how often it really occurs in the answer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
from matrices import Pairs

from pkg.terms.term_weights import TERM_WEIGHT
from pkg.terms.words import hash_term

SUPPORT = 10.0  # pseudo-count of questions at the rate of a rare word, added to those with the word
RARE = 5  # most questions with a word for it to represent unseen words
POWER = 0.6  # of the rate, tuned on development halves: 0 would weigh all words alike
FEWEST = 3  # questions that a word must occur in to have its own weight
UNCHANGED = 0.02  # weights this near to 1 are left out: 1 is the default weight

TermWeights = dict[str, float]


def learn_term_weights(pairs: Pairs) -> TermWeights:
    """Return the weights of words, relative to that of a rare word, which is 1."""
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
    """Write the weights in the format of lexical search: ascending by the number of the term."""
    rows = sorted((hash_term(term), weight) for term, weight in weights.items())
    table: npt.NDArray[np.void] = np.array(rows, TERM_WEIGHT)
    np.save(path, table[np.append(True, np.diff(table["term"].astype(np.int64)) > 0)])
