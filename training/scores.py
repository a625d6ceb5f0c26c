"""Score an encoder alone on the development halves: the rank of the right function among all of a set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from question_sets import DEVELOPMENT, QuestionSet
from shared_data import read_rows

from pkg.encode.encoder import Encoder, Vectors
from pkg.encode.headings import make_heading
from pkg.extract.python import extract_unit
from pkg.model import Function

DEPTH = 10  # of the reciprocal rank
RECALL_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Code:
    """One function of a question set: its place, its heading, and its text."""

    place: str
    heading: str
    text: bytes


def list_code(chosen: QuestionSet) -> Iterator[Code]:
    """Yield the candidate functions of a set: every function of a folder, the first one of each row of a corpus."""
    if chosen.code.is_dir():
        for file in sorted(chosen.code.rglob("*.py")):
            path = file.relative_to(chosen.code).as_posix()
            for qualname, text in _list_functions(file.read_bytes()):
                yield Code(f"{path}::{qualname}", make_heading(path, qualname), text)
        return
    for row in read_rows(chosen.code):
        found = next(_list_functions(row["code"].encode()), None)
        yield Code(row["_id"], make_heading("", found[0]) if found else "", row["code"].encode())


def _list_functions(text: bytes) -> Iterator[tuple[str, bytes]]:
    code = extract_unit(text, with_summary=False)
    for each in code.definitions:
        if isinstance(each, Function):
            yield each.qualname, code.text[each.span.start : each.span.end]


class Scores(NamedTuple):
    """Result of a system on a development half: mean reciprocal rank within ten, recall within a hundred."""

    system: str
    questions: str
    mrr: float
    recall: float | None

    def __str__(self) -> str:
        recall = "" if self.recall is None else f", recall@{RECALL_DEPTH} {self.recall}"
        return f"{self.system}, {self.questions}: MRR@{DEPTH} {self.mrr}{recall}"


def score_encoder(encoder: Encoder, chosen: QuestionSet, has_places: bool = True) -> Scores:
    """Run the development half, with complete headings or with the names of functions only."""
    code = list(list_code(chosen))
    headings = [each.heading if has_places else each.heading.rpartition(".")[2].split(" ")[-1] for each in code]
    vectors = encoder.encode([each.text for each in code], headings)
    places = {each.place: number for number, each in reversed(list(enumerate(code)))}
    ranks = np.array([_rank(encoder, vectors, question.text, [places[each] for each in question.gold if each in places])
                      for question in chosen.choose_half(DEVELOPMENT)])  # fmt: skip
    found = float((ranks <= RECALL_DEPTH).mean())
    name = chosen.name if has_places else f"{chosen.name} without class and path"
    return Scores("static", name, round(average_reciprocals(ranks), 4), round(found, 4))


def average_reciprocals(ranks: npt.ArrayLike) -> float:
    """Return the mean reciprocal rank within ten; ranks count from 1."""
    found = np.asarray(ranks)
    return float(np.where(found <= DEPTH, 1 / found, 0).mean())


def _rank(encoder: Encoder, vectors: Vectors, text: str, gold: list[int]) -> int:
    """Return the rank of the best right answer; ties count against it."""
    scores = vectors @ encoder.encode_query(text)
    best = scores[gold].max() if gold else np.inf
    return max(1, int((scores >= best).sum()))
