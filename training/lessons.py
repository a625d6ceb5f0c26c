"""Questions for training a ranker, with their weights, and their candidates with all features measured."""

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

FURTHER = 700  # docstrings of a set used for training: using all of them changes nothing
ANSWERS = 10  # requested per question, as by a user
PLAIN = {Label.FUNCTION: 9.0, Label.BLOCK: 4.0}
"""Total weight of the plain questions on all packages: equal for each package, whatever the number of its forms."""
DECLARED = {Label.FUNCTION: 1.5, Label.BLOCK: 0.8}
"""Total weight of the questions about constants, fields and classes."""
STRANGE = 0.3
"""Weight of questions that a package cannot answer, relative to its own: they teach the rate of right answers."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """Questions about one package or corpus, and their total weight for the ranker of each label."""

    package: str  # package of plain questions; empty for other kinds
    chosen: QuestionSet
    questions: tuple[Question, ...]
    worth: dict[Label, float]
    answers: int = ANSWERS
    form: str = ""  # form of the package; empty if the set's own name includes it

    @property
    def name(self) -> str:
        """Return the name of the lesson in results."""
        return f"{self.package}-{self.form}" if self.form else self.chosen.name


def read_lessons(data: Path, cache: Path) -> Iterator[Lesson]:
    """Yield the questions other than plain ones; those typed by people have the highest weight.

    Comments have more weight than other sets, because only they have inner blocks as answers.
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
    """Return the plain questions on each package in each of its forms; packages have equal weights."""
    sets = list(read_package_questions(data, cache))
    names = [package.name for package, _ in sets]
    return [
        Lesson(package.name, chosen, chosen.questions, _share_worth(len(set(names)) * names.count(package.name)))
        for package, chosen in sets
    ]


def read_declared_lessons(cache: Path) -> list[Lesson]:
    """Return the questions about constants, fields and classes; packages are weighted by their number."""
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
    """Yield unanswerable questions: for each package, those on another one."""
    for lesson, other in zip(lessons, (*lessons[2:], *lessons[:2]), strict=True):
        unanswerable = tuple(Question(question.text, ()) for question in other.questions)
        worth = {label: STRANGE * each for label, each in lesson.worth.items()}
        yield Lesson(lesson.package, lesson.chosen, unanswerable, worth)


def _share_worth(parts: int) -> dict[Label, float]:
    return {label: worth / parts for label, worth in PLAIN.items()}


def read_pools(lesson: Lesson, label: Label, encoder: str, cache: Path) -> list[Pool]:
    """Return the candidates for each question."""
    return keep_pools(lesson.chosen, lesson.questions, label, encoder, lesson.answers, cache)


def judge_pools(lesson: Lesson, label: Label, pools: Sequence[Pool]) -> Iterator[Judged]:
    """Measure all features of the candidates for each question, and determine which are right."""
    for question, pool in zip(lesson.questions, pools, strict=True):
        right = find_right(pool, lesson.chosen, question)
        yield Judged(measure_features(pool, label), right, lesson.worth[label] / len(lesson.questions))


def stack_lesson(lesson: Lesson, label: Label, encoder: str, cache: Path) -> Stack:
    """Stack the questions of a lesson."""
    return stack_judged(list(judge_pools(lesson, label, read_pools(lesson, label, encoder, cache))))


LEAST = {"asked_name": 1.5, "asked_scope": 0.1, "asked_file": 1.0, "asked_line": 8.0}
"""Least weights of features of what a question names: more than the words of a name can add up to. With 3 for names,
docstrings, which name other functions than their own, lose .009 of MRR@10, and no question gains."""

MOST = {"in_test": -0.5, "in_foreign": -0.05}
"""Greatest weights of code that is rarely meant: docstrings are drawn from tests as from other code, questions less.
With -.8 for tests, source distributions gain .015 of first places, and docstrings lose .011 of MRR@10."""


def keep_bounds(ranker: Ranker, label: Label, of_functions: Ranker | None) -> Ranker:
    """Bound the weights: names in a question favour what they name, in blocks as in functions; tests gain nothing.

    Prose names other functions than the one that it describes: from docstrings alone a ranker would learn to avoid
    named ones, and no set asks for blocks by name.
    """
    functions = [feature.__name__ for feature in FEATURES[Label.FUNCTION]]
    weights = ranker.weights.copy()
    for column, feature in enumerate(FEATURES[label]):
        if feature.__name__ in LEAST:
            learned = of_functions.weights[functions.index(feature.__name__)] if of_functions else 0.0
            weights[column] = max(learned, LEAST[feature.__name__])
        weights[column] = min(weights[column], MOST.get(feature.__name__, np.inf))
    return Ranker(weights, ranker.offset)
