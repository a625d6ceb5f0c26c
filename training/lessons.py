"""The questions that a ranker learns from, with what they count, and their candidates with all features measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from comment_questions import read_comment_questions
from cosqa_questions import read_cosqa_questions
from docstring_questions import read_further_bare_questions, read_further_questions
from kept_pools import find_right, keep_pools
from plain_questions import read_declaration_questions, read_package_questions
from question_sets import DEVELOPMENT, Question, QuestionSet
from ranker_fit import Judged, Ranker, Stack, stack_judged
from spyder_questions import read_spyder_questions

from pkg.model import Label
from pkg.retrieval.candidate_pool import Pool
from pkg.retrieval.features import FEATURES, measure_features

FURTHER = 700  # docstrings of a set that are learned from: with all of them the same is learned
ANSWERS = 10  # that are asked for: as many as a person asks for
PLAIN = {Label.FUNCTION: 9.0, Label.BLOCK: 4.0}
"""What the plain questions on all packages count together: each package alike, whatever the forms it is asked in."""
DECLARED = {Label.FUNCTION: 1.5, Label.BLOCK: 0.8}
"""What the questions about constants, fields and classes count together."""
STRANGE = 0.3
"""What questions that a package cannot answer count, beside those that it can: they teach the rate of right answers."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """Questions about one package or corpus, and what all of them together count for the ranker of each label."""

    package: str  # whose plain questions they are; nothing where they are of another kind
    chosen: QuestionSet
    questions: tuple[Question, ...]
    worth: dict[Label, float]
    answers: int = ANSWERS
    form: str = ""  # what is said of the package: nothing where the set's own name says it

    @property
    def name(self) -> str:
        """Name the lesson as results do."""
        return f"{self.package}-{self.form}" if self.form else self.chosen.name


def read_lessons(data: Path, cache: Path) -> Iterator[Lesson]:
    """Give the questions that are not of plain packages: people's own count for most.

    Comments are the only ones to teach that an inner block may be the answer, and count for more than another set.
    """
    for further, worth in (
        (read_further_questions(cache), {Label.FUNCTION: 3.0, Label.BLOCK: 1.0}),
        (read_further_bare_questions(cache), {Label.FUNCTION: 2.0}),
    ):
        yield Lesson("", further, further.questions[:FURTHER], worth)
    for halved, worth in (
        (read_cosqa_questions(data), {Label.FUNCTION: 4.0, Label.BLOCK: 1.0}),
        (read_spyder_questions(data, cache), {Label.FUNCTION: 1.0}),
        (read_comment_questions(cache), {Label.BLOCK: 1.5}),
    ):
        yield Lesson("", halved, halved.choose_half(DEVELOPMENT), worth)


def read_plain_lessons(data: Path, cache: Path) -> list[Lesson]:
    """Give the plain questions on each package and form of it; each package counts alike."""
    sets = list(read_package_questions(data, cache))
    names = [package.name for package, _ in sets]
    return [
        Lesson(package.name, chosen, chosen.questions, _share_worth(len(set(names)) * names.count(package.name)))
        for package, chosen in sets
    ]


def read_declared_lessons(cache: Path) -> list[Lesson]:
    """Give the questions about constants, fields and classes; each package counts by their number."""
    sets = list(read_declaration_questions(cache))
    total = sum(len(chosen.questions) for _, chosen in sets)
    shares = [len(chosen.questions) / total for _, chosen in sets]
    return [
        Lesson(
            package.name,
            chosen,
            chosen.questions,
            {label: share * each for label, each in DECLARED.items()},
            form="declarations",
        )
        for (package, chosen), share in zip(sets, shares, strict=True)
    ]


def list_strange(lessons: Sequence[Lesson]) -> Iterator[Lesson]:
    """Ask the packages what they cannot answer: the questions on the one after the next."""
    for lesson, other in zip(lessons, (*lessons[2:], *lessons[:2]), strict=True):
        nobody = tuple(Question(question.text, ()) for question in other.questions)
        worth = {label: STRANGE * each for label, each in lesson.worth.items()}
        yield Lesson(lesson.package, lesson.chosen, nobody, worth)


def _share_worth(parts: int) -> dict[Label, float]:
    return {label: worth / parts for label, worth in PLAIN.items()}


def read_pools(lesson: Lesson, label: Label, encoder: str, cache: Path) -> list[Pool]:
    """Give the candidates for each question."""
    return keep_pools(lesson.chosen, lesson.questions, label, encoder, lesson.answers, cache)


def judge_pools(lesson: Lesson, label: Label, pools: Sequence[Pool]) -> Iterator[Judged]:
    """Measure all features of the candidates for each question, and find out which are right."""
    for question, pool in zip(lesson.questions, pools, strict=True):
        right = find_right(pool, lesson.chosen, question)
        yield Judged(measure_features(pool, label), right, lesson.worth[label] / len(lesson.questions))


def stack_lesson(lesson: Lesson, label: Label, encoder: str, cache: Path) -> Stack:
    """Put the questions of a lesson together."""
    return stack_judged(list(judge_pools(lesson, label, read_pools(lesson, label, encoder, cache))))


LEAST = {"asked_name": 1.5, "asked_scope": 0.1, "asked_file": 1.0}
"""Weights of what a question names, at least: more than the words of a name can bring together. With 3 for names,
docstrings, which name other functions than their own, lose .009 of MRR@10, and no question gains."""

MOST = {"in_test": -0.5, "in_foreign": -0.05}
"""Weights of code that is rarely meant, at most: docstrings are drawn from tests as from other code, questions less.
With -.8 for tests, source distributions gain .015 of first places, and docstrings lose .011 of MRR@10."""


def keep_bounds(ranker: Ranker, label: Label, of_functions: Ranker | None) -> Ranker:
    """Let what a question names count for it, and for blocks as for functions; and tests never for themselves.

    Prose names other functions than the one that it describes: from docstrings alone a ranker would learn to avoid
    what is named, and no set asks for blocks by name.
    """
    functions = [feature.__name__ for feature in FEATURES[Label.FUNCTION]]
    weights = ranker.weights.copy()
    for column, feature in enumerate(FEATURES[label]):
        if feature.__name__ in LEAST:
            learned = of_functions.weights[functions.index(feature.__name__)] if of_functions else 0.0
            weights[column] = max(learned, LEAST[feature.__name__])
        weights[column] = min(weights[column], MOST.get(feature.__name__, np.inf))
    return Ranker(weights, ranker.offset)
