"""The interface of an evaluation to its items: the task of a prompt, the code of an answer, and its score."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from pkg.generation.linking import Piece, link_pieces
from pkg.generation.prompt_templates.prompt_template import PromptTask, make_task
from pkg.lab.evaluation.code.benchmark_items import Item
from pkg.lab.evaluation.code.hidden_tests import HiddenTests
from pkg.lab.evaluation.code.scorer import LIMITS, Score, score_all
from pkg.rerank.diagnosis import check_answer
from pkg.sandbox.protocol import Limits, Sandbox


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """The code of an answer, as it is scored."""

    code: str
    linked: tuple[str, ...] = ()  # places of the helpers linked into it
    is_shown_right: bool | None = None  # whether the examples of the task hold; None if it has none
    is_cut: bool = False


class AnswerJudge(Protocol):
    """Makes the tasks of items, reads their answers and scores the code."""

    def make_task(self, item: Item) -> PromptTask:
        """Return the task of the prompt for an item."""

    def read_answer(self, item: Item, text: str, pieces: Sequence[Piece]) -> ReadAnswer:
        """Return the code of an answer, which may call the helpers in pieces."""

    def score_all(self, pairs: Iterable[tuple[str, Item]]) -> Iterator[Score]:
        """Yield the score of each pair of code and item, in order."""


class HiddenTestsJudge:
    """Scores whole programs by the hidden tests of HumanEval and MBPP, in another process than the code."""

    def __init__(self, sandbox: Sandbox, limits: Limits = LIMITS) -> None:
        self._sandbox, self._tests = sandbox, HiddenTests(sandbox, limits)

    def make_task(self, item: Item) -> PromptTask:
        """Return the text of an item as its task."""
        return make_task(item.task)

    def read_answer(self, item: Item, text: str, pieces: Sequence[Piece]) -> ReadAnswer:
        """Return the code of an answer with the helpers that it calls linked in, run on the examples of the task."""
        found = check_answer(text, item.task, (), sandbox=self._sandbox)
        linked = link_pieces(found.code, pieces)
        if linked.code != found.code:
            found = replace(check_answer(linked.code, item.task, (), sandbox=self._sandbox), is_cut=found.is_cut)
        is_right = not found.failures if found.examples else None
        return ReadAnswer(found.code, tuple(each.place for each in linked.added), is_right, found.is_cut)

    def score_all(self, pairs: Iterable[tuple[str, Item]]) -> Iterator[Score]:
        """Yield the score of each pair of code and item, in order; pairs run in batches."""
        return score_all(self._tests, pairs)
