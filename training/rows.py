"""The learned rows, and how vectors are computed from them: forward, and backward for the gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from learned import Learned
from matrices import Floats, Matrix
from scipy import sparse

TINY = 1e-6
NAME_SCALE, PLACE_SCALE = 1.5, 0.7  # initial scale of the rows of names and places, relative to those of texts
START_WEIGHTS = (1.0, 1.0, 0.5)  # of text, name and place
WEIGHT_RATE = 0.3  # relative to the learning rate of rows


@dataclass(frozen=True, slots=True)
class Batch:
    """Questions and their answers, row by row: matrices [size, words]; a dropped part is empty."""

    questions: Matrix
    code: Matrix
    names: Matrix
    places: Matrix


class _Table:
    """One table of rows with the sums of their squared gradients (Adagrad)."""

    def __init__(self, rows: Floats) -> None:
        self.rows = rows
        self._squares = np.full_like(rows, TINY)

    def learn(self, counts: Matrix, gradients: Floats, rate: float, is_learned: npt.NDArray[np.bool_]) -> None:
        """Update the rows of the words in the texts from the gradients of the texts."""
        words, places = np.unique(counts.indices, return_inverse=True)
        narrow = sparse.csr_matrix((counts.data, places, counts.indptr), (counts.shape[0], len(words)))
        sums = np.asarray(narrow.T @ gradients)[is_learned[words]]
        words = words[is_learned[words]]
        self._squares[words] += sums * sums
        self.rows[words] -= rate * sums / np.sqrt(self._squares[words])


class Model:
    """Rows for words of texts, names and places, and the weights of these three parts."""

    def __init__(self, start: Floats, is_learned: npt.NDArray[np.bool_]) -> None:
        self.text = _Table(start.copy())
        self.name = _Table(start * np.float32(NAME_SCALE))
        self.place = _Table(start * np.float32(PLACE_SCALE))
        self.weights = np.array(START_WEIGHTS, np.float32)
        self._weight_squares = np.full(3, TINY, np.float32)
        self._is_learned = is_learned

    def freeze(self) -> Learned:
        """Return the learned parameters."""
        return Learned(self.text.rows, self.name.rows, self.place.rows, self.weights)

    def learn(self, batch: Batch, rate: float, temperature: float) -> float:
        """Take one step: each question must find its own answer among all of the batch. Return the loss."""
        asked, asked_length = _scale(batch.questions @ self.text.rows)
        tables = self.text, self.name, self.place
        counts = batch.code, batch.names, batch.places
        parts = [_scale(count @ table.rows) for count, table in zip(counts, tables, strict=True)]
        found, found_length = _scale(sum(weight * part for weight, (part, _) in zip(self.weights, parts, strict=True)))
        loss, slopes = _compare(asked, found, temperature)
        asked_slope = _unscale(slopes @ found, asked, asked_length)
        found_slope = _unscale(slopes.T @ asked, found, found_length)
        part_slopes = [
            weight * _unscale(found_slope, part, length) * (length > TINY * 10)
            for weight, (part, length) in zip(self.weights, parts, strict=True)
        ]
        self._learn_weights(np.array([(found_slope * part).sum() for part, _ in parts], np.float32), rate)
        texts = sparse.vstack([batch.questions, batch.code]).tocsr()
        self.text.learn(texts, np.vstack([asked_slope, part_slopes[0]]), rate, self._is_learned)
        self.name.learn(batch.names, part_slopes[1], rate, self._is_learned)
        self.place.learn(batch.places, part_slopes[2], rate, self._is_learned)
        return loss

    def _learn_weights(self, slopes: Floats, rate: float) -> None:
        self._weight_squares += slopes * slopes
        self.weights -= WEIGHT_RATE * rate * slopes / np.sqrt(self._weight_squares)


def _scale(sums: Any) -> tuple[Floats, Floats]:
    """Normalise rows to length 1; return them and their lengths [n, 1]."""
    lengths = np.sqrt((sums * sums).sum(axis=1, keepdims=True)) + TINY
    return sums / lengths, lengths


def _unscale(slopes: Floats, units: Floats, lengths: Floats) -> Floats:
    """Return the gradients of rows from those of the normalised rows."""
    return np.asarray((slopes - units * (slopes * units).sum(axis=1, keepdims=True)) / lengths, np.float32)


def _compare(asked: Floats, found: Floats, temperature: float) -> tuple[float, Floats]:
    """Return the cross entropy of finding row i for question i, and its gradient by the cosines [size, size]."""
    scores = asked @ found.T / temperature
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    diagonal = np.arange(len(shares))
    loss = float(-np.log(shares[diagonal, diagonal] + 1e-9).mean())
    shares[diagonal, diagonal] -= 1
    return loss, np.asarray(shares / temperature, np.float32)
