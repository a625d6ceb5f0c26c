"""Tune the weights of a function's fields in lexical search, on several sets of questions at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from field_sets import FieldSet
from scores import DEPTH, average_reciprocals
from term_weights import TermWeights

from pkg.terms.inverted_index import LexicalIndex
from pkg.terms.term_weights import TRAINED_FIELDS, Field, FieldRow, FieldWeights
from pkg.terms.words import split_terms

START = FieldWeights(  # the result of an earlier run
    weights=np.array([8, 2, 0.5, 2.5, 0.15, 0.3, 1.0]),
    lengths=np.array([0.8, 1.0, 0.5, 0.8, 0.8, 1.0, 0.8]),
    averages=np.ones(len(Field)),
    saturation=1.2,
)
STEPS = (1.6, 1.25)  # factors by which a value is moved up and down, one round each
MOST_WEIGHT = 100.0
LEAST_GAIN = 0.0005  # of the mean over the sets; smaller gains are noise


def tune_fields(sets: Sequence[FieldSet], terms: TermWeights, tell: Callable[[str], None]) -> FieldWeights:
    """Change one value at a time while the mean reciprocal rank over the sets grows."""
    best = replace(START, averages=measure_averages(sets))
    score = score_fields(sets, best, terms)
    for step in STEPS:
        for move in _list_moves(step):
            tried = move.apply(best)
            while np.mean(reached := score_fields(sets, tried, terms)) >= np.mean(score) + LEAST_GAIN:
                best, score = tried, reached
                tell(f"{move}: {[round(each, 4) for each in score]}")
                tried = move.apply(best)
    return best


def measure_averages(sets: Sequence[FieldSet]) -> FieldRow:
    """Return the average number of terms in each field, over functions where it is not empty; 1 if it always is."""
    lengths = np.concatenate([each.counts.lengths for each in sets])
    averages = lengths.sum(axis=0) / np.maximum((lengths > 0).sum(axis=0), 1)
    return np.array([round(float(each), 1) or 1.0 for each in averages])


@dataclass(frozen=True, slots=True)
class _Move:
    """A change of one value: the weight of a field, its b, or k1, by a factor."""

    value: str
    field: Field | None
    factor: float

    def __str__(self) -> str:
        return f"{self.field.name.lower() if self.field is not None else ''} {self.value} * {self.factor:.2f}".strip()

    def apply(self, now: FieldWeights) -> FieldWeights:
        """Return the weights after the change."""
        if self.field is None:
            return replace(now, saturation=round(now.saturation * self.factor, 3))
        if self.value == "weight":
            return replace(now, weights=_scale(now.weights, self.field, self.factor, MOST_WEIGHT))
        return replace(now, lengths=_scale(now.lengths, self.field, self.factor, 1.0))


def _list_moves(step: float) -> Iterator[_Move]:
    for factor in (step, 1 / step):
        yield from (_Move(value, field, factor) for field in TRAINED_FIELDS for value in ("weight", "b"))
        yield _Move("k1", None, factor)


def _scale(values: FieldRow, field: Field, factor: float, most: float) -> FieldRow:
    moved: FieldRow = values.copy()
    moved[field] = round(min(most, moved[field] * factor), 3)
    return moved


def score_fields(sets: Sequence[FieldSet], weights: FieldWeights, terms: TermWeights) -> list[float]:
    """Return the mean reciprocal rank within ten for each set."""
    return [_score(each, weights, terms) for each in sets]


def _score(chosen: FieldSet, weights: FieldWeights, terms: TermWeights) -> float:
    index = LexicalIndex.from_postings(chosen.counts.weigh(weights))
    ranks = []
    for text, gold in chosen.questions:
        asked = {term: terms.get(term, 1.0) for term in split_terms(text.encode())}
        scores = index.score(asked)
        best = scores[gold].max() if gold else 0
        ranks.append(int((scores > best).sum()) + 1 if best > 0 else DEPTH + 1)
    return average_reciprocals(ranks)


def write_fields(weights: FieldWeights, path: Path) -> None:
    """Write the weights as lexical search reads them."""
    fields = {
        field.name.lower(): {
            "weight": float(weights.weights[field]),
            "b": float(weights.lengths[field]),
            "average": float(weights.averages[field]),
        }
        for field in TRAINED_FIELDS
    }
    path.write_text(json.dumps({"k1": weights.saturation, "fields": fields}, indent=2) + "\n", encoding="utf-8")
