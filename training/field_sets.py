"""Questions over functions whose terms are counted by field, for tuning the weights of fields."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from exclusions import Exclusions, normalise_text
from mining import is_question, read_paragraphs, read_wheel
from question_sets import DEVELOPMENT, QuestionSet, hash_text
from shared_data import read_rows

from pkg.extract.python import extract_unit
from pkg.indexing.fields import FieldCounts, FieldReader, FieldSpans, JoinedFields
from pkg.model import CodeUnit, Function
from pkg.terms.term_weights import Field

ONE_FILE_OF = 12  # files of the training packages
QUESTIONS = 1500


@dataclass(frozen=True, slots=True)
class FieldSet:
    """Questions with the numbers of their right functions, and the term counts of all functions."""

    name: str
    counts: FieldCounts
    questions: Sequence[tuple[str, list[int]]]


class _Collector:
    """Collects the fields of many files, to count their terms in one pass."""

    def __init__(self) -> None:
        self._joined = JoinedFields()

    def add(self, path: str, code: CodeUnit, left_out: Sequence[Field] = ()) -> Iterator[tuple[int, Function]]:
        """Add the functions of a file, without some of their fields; yield each with its number."""
        fields = FieldSpans(code.text, 0, path, code.blocks, code.comments)
        for index, definition in enumerate(code.definitions):
            if isinstance(definition, Function):
                yield self._joined.nodes + fields.nodes, definition
                fields.add_function(index, definition)
        table = np.frombuffer(fields.spans, np.int64).reshape(-1, 4)
        fields.spans = array("q", table[~np.isin(table[:, 3], left_out)].tobytes())
        self._joined.add(fields)

    def count(self) -> FieldCounts:
        """Count the terms of all collected functions."""
        return self._joined.count(FieldReader())


def read_question_set(chosen: QuestionSet) -> FieldSet:
    """Read the development half of an evaluation set."""
    collector, places = _Collector(), dict[str, list[int]]()
    for path, text in _list_files(chosen):
        for number, function in collector.add(path if chosen.code.is_dir() else "", extract_unit(text)):
            place = f"{path}::{function.qualname}" if chosen.code.is_dir() else path
            places.setdefault(place, []).append(number)
    asked = chosen.choose_half(DEVELOPMENT)
    gold = [[number for place in question.gold for number in places.get(place, ())] for question in asked]
    return FieldSet(
        chosen.name, collector.count(), [(each.text, found) for each, found in zip(asked, gold, strict=True)]
    )


def _list_files(chosen: QuestionSet) -> Iterator[tuple[str, bytes]]:
    if chosen.code.is_dir():
        for file in sorted(chosen.code.rglob("*.py")):
            yield file.relative_to(chosen.code).as_posix(), file.read_bytes()
    else:
        yield from ((row["_id"], row["code"].encode()) for row in read_rows(chosen.code))


def read_training_set(wheels: Iterable[Path], exclusions: Exclusions) -> FieldSet:
    """Read a share of the training packages: docstrings as questions, removed from the functions."""
    collector, asked = _Collector(), dict[str, int]()
    for wheel in wheels:
        for path, text in read_wheel(wheel):
            if hash_text(path, "share") % ONE_FILE_OF == 0:
                code = extract_unit(text)
                for number, function in collector.add(path, code, (Field.DOCSTRING,)):
                    for question in read_paragraphs(code.text, function.docstring)[:1]:
                        asked.setdefault(question, number)
    good = [text for text in asked if is_question(text) and normalise_text(text) not in exclusions.texts]
    chosen = sorted(good, key=lambda text: hash_text(text, "question"))[:QUESTIONS]
    return FieldSet("training packages", collector.count(), [(text, [asked[text]]) for text in chosen])
