"""How the items of a benchmark are asked, how their answers are read, and what decides that one is right."""

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
    """The code of an answer, as it is judged."""

    code: str
    linked: tuple[str, ...] = ()  # places of helpers that were put into it
    is_shown_right: bool | None = None  # whether what the task shows holds; None where it shows nothing
    is_cut: bool = False


class AnswerJudge(Protocol):
    """What an evaluation has to know of its items."""

    def make_task(self, item: Item) -> PromptTask:
        """Say what is asked for an item."""

    def read_answer(self, item: Item, text: str, pieces: Sequence[Piece]) -> ReadAnswer:
        """Find the code of an answer; pieces: helpers that it may call."""

    def score_all(self, pairs: Iterable[tuple[str, Item]]) -> Iterator[Score]:
        """Give the score of each pair of code and item, in their order."""


class HiddenTestsJudge:
    """Judges whole programs by tests of their function that they never meet, of HumanEval and MBPP."""

    def __init__(self, sandbox: Sandbox, limits: Limits = LIMITS) -> None:
        self._sandbox, self._tests = sandbox, HiddenTests(sandbox, limits)

    def make_task(self, item: Item) -> PromptTask:
        """Say what is asked for an item: its text as it stands."""
        return make_task(item.task)

    def read_answer(self, item: Item, text: str, pieces: Sequence[Piece]) -> ReadAnswer:
        """Read the code of an answer, put in the helpers that it calls, and try what the task shows."""
        found = check_answer(text, item.task, (), sandbox=self._sandbox)
        linked = link_pieces(found.code, pieces)
        if linked.added:
            found = replace(check_answer(linked.code, item.task, (), sandbox=self._sandbox), is_cut=found.is_cut)
        is_right = not found.failures if found.examples else None
        return ReadAnswer(found.code, tuple(each.place for each in linked.added), is_right, found.is_cut)

    def score_all(self, pairs: Iterable[tuple[str, Item]]) -> Iterator[Score]:
        """Give the score of each pair of code and item, in their order, several at once."""
        return score_all(self._tests, pairs)
