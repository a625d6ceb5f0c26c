"""Where the rows of words begin: near those of words alike, with some signs of their own, as long as they are rare."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from matrices import Floats, Numbers

from pkg.encode.word_table import spell_signs

KNOWN, SIGNS = 1.5, 0.15  # what each of both counts; without signs, 1 for both, and .3 for signs score less or alike
WHITENED = 0.6  # power of each direction's deviation that it is divided by: few directions hold most of the model
TURN = 1  # seed


class Known(NamedTuple):
    """What a language model knows: the numbers of words, and their vectors [len(words), its dimension]."""

    words: Numbers
    vectors: Floats


def make_start(words: list[str], rarity: Floats, known: Known, dimension: int) -> Floats:
    """Give a row for each word, those that the model does not know from their signs alone: [words, dimension]."""
    signs = spell_signs(words, dimension).astype(np.float32)
    start = signs * np.float32(SIGNS / np.sqrt(dimension))
    start[known.words] += np.float32(KNOWN) * narrow(known.vectors, dimension)
    return np.asarray(start * rarity[:, None], np.float32)


def narrow(vectors: Floats, dimension: int) -> Floats:
    """Bring vectors to fewer dimensions: their main directions, evened out, turned at random, each to length 1."""
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    centred = (units - units.mean(axis=0)).astype(np.float64)
    spreads, directions = np.linalg.eigh(centred.T @ centred)
    chosen = np.argsort(-spreads)[:dimension]
    found = centred @ directions[:, chosen] / np.sqrt(spreads[chosen]) ** WHITENED
    found = found @ _make_turn(dimension)
    return np.asarray(found / (np.linalg.norm(found, axis=1, keepdims=True) + 1e-9), np.float32)


def _make_turn(dimension: int) -> npt.NDArray[np.float64]:
    """Give a random turn: after it all numbers are alike in size, so that none is lost when they become bytes."""
    return np.asarray(np.linalg.qr(np.random.default_rng(TURN).normal(size=(dimension, dimension)))[0], np.float64)
