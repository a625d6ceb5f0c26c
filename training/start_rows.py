"""Initial rows of words: near those of similar words, plus random signs of their own, as long as the words are rare."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from matrices import Floats, Numbers

from pkg.encode.word_table import spell_signs

KNOWN, SIGNS = 1.5, 0.15  # weights of both parts; no signs, 1 for both, and .3 for signs score lower or alike
WHITENED = 0.6  # exponent of the deviation by which each direction is divided: few directions hold most of the variance
TURN = 1  # seed


class Known(NamedTuple):
    """Knowledge of a language model: the numbers of words, and their vectors [len(words), its dimension]."""

    words: Numbers
    vectors: Floats


def make_start(words: list[str], rarity: Floats, known: Known, dimension: int) -> Floats:
    """Return a row for each word, from its signs alone if the model does not know it: [words, dimension]."""
    signs = spell_signs(words, dimension).astype(np.float32)
    start = signs * np.float32(SIGNS / np.sqrt(dimension))
    start[known.words] += np.float32(KNOWN) * narrow(known.vectors, dimension)
    return np.asarray(start * rarity[:, None], np.float32)


def narrow(vectors: Floats, dimension: int) -> Floats:
    """Reduce the dimension of vectors: main directions, partially whitened, rotated at random, normalised."""
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    centred = (units - units.mean(axis=0)).astype(np.float64)
    spreads, directions = np.linalg.eigh(centred.T @ centred)
    chosen = np.argsort(-spreads)[:dimension]
    found = centred @ directions[:, chosen] / np.sqrt(spreads[chosen]) ** WHITENED
    found = found @ _make_turn(dimension)
    return np.asarray(found / (np.linalg.norm(found, axis=1, keepdims=True) + 1e-9), np.float32)


def _make_turn(dimension: int) -> npt.NDArray[np.float64]:
    """Return a random rotation: it makes all components similar in size, so that quantisation to bytes loses none."""
    return np.asarray(np.linalg.qr(np.random.default_rng(TURN).normal(size=(dimension, dimension)))[0], np.float64)
