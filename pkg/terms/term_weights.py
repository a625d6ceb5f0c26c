"""Learned weights of lexical search: of fields, of terms of a question, of names given a question; and related words.

All are trained (training/): weights/lexical.json for the fields of a function, weights/term_weights.npy for terms that
matter more or less than their rarity suggests, weights/name_gains.npy for words of names. A question consists mostly of
words that code uses by accident (`how`, `way`), and pairs of questions and functions identify them better than counts
in code. `the number of rows` may mean `count_rows` or `num_rows`: a name need not hold a word of the question.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pkg.terms.words import hash_term, split_terms
from pkg.trained import WEIGHTS

TERM_FILE = "term_weights.npy"
TERM_WEIGHT = np.dtype([("term", "<u4"), ("weight", "<f4")])


class Field(IntEnum):
    """Fields of a function, in the order of their columns."""

    NAME = 0
    SCOPE = 1  # class and module path
    SIGNATURE = 2  # from the first decorator to the colon
    DOCSTRING = 3
    COMMENTS = 4
    BODY = 5
    QUESTIONS = 6  # that a model wrote


TRAINED_FIELDS: tuple[Field, ...] = tuple(each for each in Field if each is not Field.QUESTIONS)
"""Fields with learned weights; the training packages have no generated questions."""

QUESTION_SHARE = 0.5  # of the weight of a docstring: several questions of a model, some of them wrong

FieldRow = npt.NDArray[np.float64]
"""One number for each field: float64 [fields]."""


@dataclass(frozen=True, slots=True)
class FieldWeights:
    """Weights that combine the fields of a function: BM25F with fixed average lengths (A-01).

    The averages are of the training packages, not of the graph: so a term weight depends on its function alone.
    """

    weights: FieldRow
    lengths: FieldRow  # weight of a field's length, 0 to 1 (b of BM25)
    averages: FieldRow  # average terms of the field where it is not empty
    saturation: float  # k1 of BM25

    def factors(self, lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the weight of one occurrence in each field, over k1: float64 [n, fields].

        `lengths`, int64 [n, fields], are those of the fields in terms.
        """
        relative = 1 - self.lengths + self.lengths * lengths / self.averages
        return np.asarray(self.weights / (self.saturation * np.maximum(relative, 1e-9)), np.float64)


@lru_cache(maxsize=1)
def load_field_weights() -> FieldWeights:
    """Load the weights of the fields."""
    return parse_field_weights((WEIGHTS / "lexical.json").read_text("utf-8"))


def parse_field_weights(text: str) -> FieldWeights:
    """Parse weights of fields from JSON: k1, and weight, b and average of each field."""
    found = json.loads(text)
    fields: dict[Field, dict[str, float]] = {each: found["fields"][each.name.lower()] for each in TRAINED_FIELDS}
    docstring = fields[Field.DOCSTRING]
    fields[Field.QUESTIONS] = docstring | {"weight": docstring["weight"] * QUESTION_SHARE}
    rows = {key: np.array([fields[each][key] for each in Field], np.float64) for key in _KEYS}
    return FieldWeights(rows["weight"], rows["b"], rows["average"], float(found["k1"]))


_KEYS = ("weight", "b", "average")


def weigh_terms(question: str) -> dict[str, float]:
    """Return the distinct terms of a question with their learned weights; the weight of an unknown term is 1.

    Text that is not Unicode is ignored.
    """
    terms = sorted(set(split_terms(question.encode("utf-8", "ignore"))))
    return dict(zip(terms, look_up_weights(TERM_FILE, terms, default=1.0), strict=True))


def look_up_weights(file: str, terms: Sequence[str], default: float) -> list[float]:
    """Return the weight of each term in a file of learned weights, and the default for an unknown term."""
    table, numbers = _load_weights(file), np.array([hash_term(term) for term in terms], np.uint32)
    places = np.minimum(np.searchsorted(table["term"], numbers), len(table) - 1)
    weights: list[float] = np.where(
        table["term"][places] == numbers, table["weight"][places], np.float32(default)
    ).tolist()
    return weights


@lru_cache(maxsize=2)
def _load_weights(file: str) -> npt.NDArray[np.void]:
    """Map learned weights: (number of the term, weight), ascending by number."""
    table: npt.NDArray[np.void] = np.asarray(np.load(WEIGHTS / file, mmap_mode="r"))
    return table


FILE = "name_gains.npy"
NAME_GAIN = np.dtype([("asked", "<u4"), ("named", "<u4"), ("gain", "<f4")])
UNLEARNED_GAIN = 3e4  # of an unknown word, for itself: it is rare in names, so a match is strong evidence

Columns = tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.float32]]


@lru_cache(maxsize=8)
def find_name_gains(terms: tuple[str, ...]) -> Mapping[int, float]:
    """Return how many times likelier a question, by its distinct terms, makes terms of names, by their numbers.

    A term's gain is the mean over the terms of the question; absent terms become no likelier.
    """
    asked, named, gains = _load_columns()
    numbers = np.array([hash_term(term) for term in terms], np.uint32)
    lows, highs = np.searchsorted(asked, numbers, "left"), np.searchsorted(asked, numbers, "right")
    told: dict[int, float] = {}
    for number, low, high in zip(numbers.tolist(), lows.tolist(), highs.tolist(), strict=True):
        found = zip(named[low:high].tolist(), gains[low:high].tolist(), strict=True)
        for name, gain in found if low < high else ((number, UNLEARNED_GAIN),):
            told[name] = told.get(name, 0.0) + gain / len(terms)
    return told


@lru_cache(maxsize=1)
def _load_columns() -> Columns:
    """Load the table, ascending by the term of the question: question terms, name terms, and gains."""
    table = np.load(WEIGHTS / FILE)
    asked, named, gains = (np.ascontiguousarray(table[name]) for name in ("asked", "named", "gain"))
    return asked, named, gains


RELATED_FILE, RELATED_WORDS = "related.npy", "related.txt"
MOST = 6
"""Related words kept for each word: the nearest. Further ones are related to everything."""

FULL = 255  # similarity of a word to itself, as a byte
RELATED = np.dtype([("word", "<u2", (MOST,)), ("likeness", "u1", (MOST,))])

Related = Mapping[str, Mapping[str, float]]
"""For each term of a question, the terms used in the same way and their similarity, from 0 to 1."""


def find_related(terms: Iterable[str]) -> Related:
    """Return the related words of each term, itself excluded; an unknown term has none.

    A question about a `picture` that is made `smaller` means a function that resizes an image. A related word is not a
    term of the question: it is looked up in the results of a search, to measure how much of the question a candidate
    covers.
    """
    return {term: _read_row(term) for term in terms}


@lru_cache(maxsize=20_000)
def _read_row(term: str) -> Mapping[str, float]:
    words, numbers, rows = _load_table()
    number = numbers.get(term)
    if number is None:
        return {}
    row = rows[number]
    pairs = zip(row["word"].tolist(), row["likeness"].tolist(), strict=True)
    return {words[word]: likeness / FULL for word, likeness in pairs if likeness}


@lru_cache(maxsize=1)
def _load_table() -> tuple[list[str], dict[str, int], npt.NDArray[np.void]]:
    words = (WEIGHTS / RELATED_WORDS).read_text("utf-8").splitlines()
    rows: npt.NDArray[np.void] = np.load(WEIGHTS / RELATED_FILE, mmap_mode="r")
    return words, {word: number for number, word in enumerate(words)}, rows
