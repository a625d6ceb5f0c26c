"""Score answers, put in place of the masked body, by the tests of the project that reach it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from pkg.generation.linking import Piece
from pkg.generation.prompt_templates.prompt_template import PromptTask
from pkg.lab.evaluation.code.answer_judge import ReadAnswer
from pkg.lab.evaluation.code.benchmark_items import Item
from pkg.lab.evaluation.code.scorer import Score
from pkg.lab.evaluation.repository.answer_body import AnswerBody, find_answer, read_body
from pkg.lab.evaluation.repository.masked_functions import put_body
from pkg.lab.evaluation.repository.project_files import Project
from pkg.lab.evaluation.repository.project_tests import Replacement, judge_replacements
from pkg.lab.evaluation.repository.repository_items import RepositoryItem
from pkg.sandbox.protocol import Sandbox


class BodyJudge:
    """Puts the body of each answer into its function and runs the tests of the project."""

    def __init__(self, sandbox: Sandbox, project: Project) -> None:
        self._sandbox, self._project = sandbox, project

    def make_task(self, item: Item) -> PromptTask:
        """Return the task of an item: to continue after the header and docstring of the function."""
        return PromptTask(item.task, item.task, item.entry)

    def read_answer(self, item: Item, text: str, pieces: Sequence[Piece]) -> ReadAnswer:
        """Return the code of an answer; helpers need no linking, because the project is there."""
        code, is_cut = find_answer(text, cast(RepositoryItem, item).masked)
        return ReadAnswer(code, is_cut=is_cut)

    def score_all(self, pairs: Iterable[tuple[str, Item]]) -> Iterator[Score]:
        """Yield the score of each pair of code and item, in order; pairs run in batches."""
        read = [
            (read_body(code, function), function, item.tests)
            for code, item in pairs
            for function in [cast(RepositoryItem, item).masked]
        ]
        tried = (
            Replacement(function.path, put_body(self._project, function, body.text), tuple(tests.split("\n")))
            for body, function, tests in read
            if not body.error
        )
        scores = judge_replacements(self._sandbox, self._project, tried)
        for body, _, _ in read:
            yield _refuse(body) if body.error else next(scores)


def _refuse(body: AnswerBody) -> Score:
    return Score(False, body.error, body.detail)
