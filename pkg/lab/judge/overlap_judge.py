"""The judge without a model, a baseline for text models.

A score is the mean of the word overlap with the reference, the share of citations that are in the evidence, and the
share of tests that pass. It ignores meaning: a right answer in other words scores low, a wrong one in the same words
high.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from statistics import fmean

from pkg.lab.judge.items import JudgedItem
from pkg.lab.judge.judge_tasks import JudgeTask
from pkg.lab.judge.judgements import Judgement, JudgementFile, describe_task
from pkg.lab.judge.verdicts import GRADES, LEVELS
from pkg.rerank.extraction import extract_code
from pkg.rerank.parsed_question import Question
from pkg.sandbox.protocol import Kind, Program, Sandbox, Step

NAME = "overlap"
"""The name of this judge in rows and reports."""

TIE_MARGIN = 0.05  # scores closer than this are a tie: about one word in twenty
GOOD_SCORE = 0.5  # from this score on, a tie is one of good answers

_WORD = re.compile(r"\w+")
_CITATION = re.compile(r"\[(\d+)\](?!\()")
_PLACE = re.compile(r"([\w./\\-]+\.\w+):(\d+)")


class OverlapJudge:
    """Judges by scores; the same answers get the same judgement in any order."""

    def __init__(self, sandbox: Sandbox | None = None, stored: JudgementFile | None = None) -> None:
        """Take the sandbox in which the code of answers is run; without one, tests are ignored."""
        self._sandbox = sandbox
        self.stored = stored if stored is not None else JudgementFile()
        self._passed: dict[tuple[str, str], float] = {}  # shares of tests, by answer and tests

    @property
    def name(self) -> str:
        """Return NAME."""
        return NAME

    def judge_all(self, tasks: Iterable[JudgeTask]) -> Iterator[Judgement]:
        """Judge tasks in their order; an item without reference, evidence and tests gets a fault."""
        for task in tasks:
            judgement = self._judge(task)
            self.stored.add(judgement)
            yield judgement

    def _judge(self, task: JudgeTask) -> Judgement:
        scores = [self._score(task.item, system) for system in task.systems]
        fields = describe_task(task)
        known = [score for score in scores if score is not None]
        if len(known) < len(scores):
            return Judgement(**fields, judge=NAME, fault="no reference, no evidence and no tests to compare with")
        described = ", ".join(f"{system} {score:.3f}" for system, score in zip(task.systems, known, strict=True))
        key = f"{NAME} {task.kind} {task.item.id} {described} {task.preference} {task.run}"
        if task.kind == "pairwise":
            return Judgement(**fields, judge=NAME, verdict=_compare(known[0], known[1]), text=described, key=key)
        scale = LEVELS if task.kind == "annotate" else GRADES
        ratings = tuple(round(scale[0] + (scale[1] - scale[0]) * score) for score in known)
        return Judgement(**fields, judge=NAME, ratings=ratings, text=described, key=key)

    def _score(self, item: JudgedItem, system: str) -> float | None:
        answer = item.answers[system]
        parts = [
            measure_overlap(answer, item.reference, item.question) if item.reference else None,
            measure_citations(answer, item) if item.evidence else None,
            self._run_tests(item, answer) if item.tests and self._sandbox is not None else None,
        ]
        counted = [part for part in parts if part is not None]
        return fmean(counted) if counted else None

    def _run_tests(self, item: JudgedItem, answer: str) -> float:
        """Return the share of tests that the code of an answer passes."""
        assert self._sandbox is not None
        key = (answer, "\n".join(item.tests))
        if key not in self._passed:
            code = extract_code(answer, Question(item.question)).code
            steps = tuple(Step(test, is_expression=False) for test in item.tests)
            ends = self._sandbox.run(Program(code, steps)).steps if answer.strip() else ()
            self._passed[key] = sum(end.kind is Kind.OK for end in ends) / len(steps)
        return self._passed[key]


def _compare(first: float, second: float) -> str:
    if abs(first - second) < TIE_MARGIN:
        return "C" if min(first, second) >= GOOD_SCORE else "D"
    return "A" if first > second else "B"


def measure_overlap(answer: str, reference: str, question: str = "") -> float:
    """Return the F1 score of the words of an answer, which is 1 for equal texts.

    Words of the question are ignored, so that repeating it gains nothing, unless the reference has no others.
    """
    if answer.strip() == reference.strip():
        return 1.0
    said, wanted, asked = (Counter(_WORD.findall(text.casefold())) for text in (answer, reference, question))
    if wanted.keys() - asked.keys():
        said, wanted = (
            Counter({word: count for word, count in words.items() if word not in asked}) for words in (said, wanted)
        )
    shared = (said & wanted).total()
    return 2 * shared / (said.total() + wanted.total()) if shared else 0.0


def measure_citations(answer: str, item: JudgedItem) -> float:
    """Return the share of citations, [n] or path:line, that refer to the evidence; 0 without citations."""
    numbers = [1 <= int(number[:6]) <= len(item.evidence) for number in _CITATION.findall(answer)]
    places = [
        any(each.path == path and each.start_line <= int(line[:9]) <= each.end_line for each in item.evidence)
        for path, line in _PLACE.findall(answer)
    ]
    return fmean([*numbers, *places]) if numbers or places else 0.0
