"""Fit the ranker of pkg query on questions that nothing is measured by but development halves, and write its weights.

    PYTHONPATH=benchmarks python training/train_ranker.py --data FOLDER [--cache FOLDER] [--encoder static]

Functions are ranked for docstrings, with class and path and without, of which there are others than those that are
measured by, and for the development halves of CoSQA's questions and SpyderCodeQA's; blocks for comments above them, and
for docstrings and CoSQA's, whose right block is the body of the function.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from comment_questions import read_comment_questions
from cosqa_questions import read_cosqa_questions
from docstring_questions import read_further_bare_questions, read_further_questions
from measure import make_parser, open_folder, read_options, run_pkg
from question_sets import DEVELOPMENT, Question, QuestionSet
from ranker_fit import Judged, Ranker, fit_ranker
from spyder_questions import read_spyder_questions

from pkg.api import Graph, open_graph
from pkg.encode.registry import load_encoder
from pkg.model import Label, NodeFilter, Outline
from pkg.retrieval.features import FEATURES, measure_features
from pkg.retrieval.pool import Pool, collect_pool
from pkg.retrieval.query import encode_question
from pkg.retrieval.question import parse_question
from pkg.retrieval.ranking import WEIGHTS

ANSWERS = 100  # that are asked for: more wrong ones to learn from than the pool of ten answers holds
LEAST = {"asked_name": 1.0, "asked_scope": 0.1, "asked_file": 1.0}
"""Weights of what a question names, at least: about as much as the words of a name can bring together."""

MOST = {"in_test": -0.05, "in_foreign": -0.05}
"""Weights of code that is rarely meant, at most: docstrings are drawn from tests as from other code, questions less."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """Questions that are learned from, and what all of them together count for the ranker of each label."""

    chosen: QuestionSet
    questions: tuple[Question, ...]
    worth: dict[Label, float]


def read_lessons(data: Path, cache: Path) -> Iterator[Lesson]:
    """Give the questions, with what they count: where several sets ask alike, people's own count for most.

    Comments are the only ones to teach that an inner block may be the answer, and count for more than another set.
    """
    for further, worth in (
        (read_further_questions(cache), {Label.FUNCTION: 3.0, Label.BLOCK: 1.0}),
        (read_further_bare_questions(cache), {Label.FUNCTION: 2.0}),
    ):
        yield Lesson(further, further.questions, worth)
    for halved, worth in (
        (read_cosqa_questions(data), {Label.FUNCTION: 4.0, Label.BLOCK: 1.0}),
        (read_spyder_questions(data, cache), {Label.FUNCTION: 1.0}),
        (read_comment_questions(cache), {Label.BLOCK: 1.5}),
    ):
        yield Lesson(halved, halved.choose_half(DEVELOPMENT), worth)


def judge_lesson(graph: Graph, lesson: Lesson, label: Label) -> Iterator[Judged]:
    """Collect the candidates for each question."""
    encoder, chosen = load_encoder(graph.store.encoder()[0]), lesson.chosen
    for question in lesson.questions:
        with graph.store.snapshot():
            query = encode_question(encoder, question.text)
            pool = collect_pool(graph.store, parse_question(question.text), query, label, ANSWERS, NodeFilter())
        right = np.array([_is_right(pool, row, chosen, question) for row in range(len(pool.outlines))], bool)
        yield Judged(measure_features(pool, label), right, lesson.worth[label] / len(lesson.questions))


def _is_right(pool: Pool, row: int, chosen: QuestionSet, question: Question) -> bool:
    """Tell whether a candidate is a right answer; where functions are, their bodies are."""
    outline, owner = pool.outlines[row], pool.owners[row]
    if chosen.mode == "block":
        return f"{outline.path}::{owner.qualname}::{outline.name}" in question.gold
    is_whole = outline.label is Label.FUNCTION or outline.kind == "body"
    return is_whole and _name_function(owner, chosen) in question.gold


def _name_function(owner: Outline, chosen: QuestionSet) -> str:
    return owner.path if chosen.is_of_units else f"{owner.path}::{owner.qualname}"


def keep_bounds(rankers: dict[Label, Ranker]) -> dict[Label, Ranker]:
    """Let what a question names count for it, and for blocks as for functions; and tests never for themselves.

    Prose names other functions than the one that it describes: from docstrings alone a ranker would learn to avoid
    what is named, and no set asks for blocks by name.
    """
    functions = [feature.__name__ for feature in FEATURES[Label.FUNCTION]]
    kept = {}
    for label, ranker in rankers.items():
        weights = ranker.weights.copy()
        for column, feature in enumerate(FEATURES[label]):
            if feature.__name__ in LEAST:
                learned = rankers[Label.FUNCTION].weights[functions.index(feature.__name__)]
                weights[column] = max(learned, LEAST[feature.__name__])
            weights[column] = min(weights[column], MOST.get(feature.__name__, np.inf))
        kept[label] = Ranker(weights, ranker.offset)
    return kept


def write_weights(rankers: dict[Label, Ranker]) -> None:
    """Write the weights where the product reads them."""
    rows = {
        label.value: {
            "offset": round(ranker.offset, 4),
            "weights": {
                feature.__name__: round(float(weight), 4)
                for feature, weight in zip(FEATURES[label], ranker.weights, strict=True)
            },
        }
        for label, ranker in rankers.items()
    }
    WEIGHTS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--encoder", default="static", help="encoder of the graphs")
    options = read_options(parser)
    judged: dict[Label, list[Judged]] = {label: [] for label in FEATURES}
    with open_folder(options.cache) as (cache, work):
        for lesson in read_lessons(options.data, cache):
            chosen = lesson.chosen
            address = f"sqlite:///{work / chosen.name}.db"
            run_pkg(["build", str(chosen.code), "--encoder", options.encoder, "--store", address, "--json"], work)
            with open_graph(address) as graph:
                for label in lesson.worth:
                    judged[label] += judge_lesson(graph, lesson, label)
            print(f"{chosen.name} collected", file=sys.stderr)
    write_weights(keep_bounds({label: fit_ranker(each) for label, each in judged.items()}))


if __name__ == "__main__":
    main()
