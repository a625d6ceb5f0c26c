"""Evaluate a model on the masked functions of a repository, scored by the tests of the repository itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pkg.encode.encoder import Encoder
from pkg.generation.linking import Piece
from pkg.generation.prompt_templates.prompt_template import PromptTask
from pkg.graph.store import GraphStore
from pkg.lab.evaluation.code.benchmark_run import describe_graph, describe_run
from pkg.lab.evaluation.code.benchmarks import Item, draw_items
from pkg.lab.evaluation.code.code_evaluation import Evaluation, EvaluationListen
from pkg.lab.evaluation.code.code_report import CodeReport, read_report
from pkg.lab.evaluation.code.evaluation_conditions import Condition
from pkg.lab.evaluation.code.hidden_tests import ReadAnswer, Score
from pkg.lab.evaluation.code.run_folder import RunFolder
from pkg.lab.evaluation.repository.masked_functions import find_answer, put_body, read_body
from pkg.lab.evaluation.repository.project_tests import Project, Replacement, judge_replacements, read_project
from pkg.lab.evaluation.repository.repository_contexts import RepositoryFinder
from pkg.lab.evaluation.repository.repository_items import FoundItems, RepositoryItem, read_items, read_kinds
from pkg.lab.lab_options import Listen, SolverOptions
from pkg.models.text_model import TextModel
from pkg.sandbox.interpreter import find_interpreter
from pkg.sandbox.protocol import Sandbox
from pkg.sandbox.worker_pool import open_sandbox


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
            yield Score(False, body.error, body.detail) if body.error else next(scores)


@dataclass(frozen=True, slots=True)
class Places:
    """Folders of an evaluation of a repository."""

    project: Path
    run: Path
    items: Path  # may be shared by several runs

    @property
    def graph_address(self) -> str:
        """Return the default address of the graph of the project."""
        return f"sqlite:///{(self.items / 'graph.db').resolve()}"


@contextmanager
def open_evaluation(
    places: Places, tests: Sequence[str] = (), jobs: int = 0, python: str | None = None
) -> Iterator[RepositoryEvaluation]:
    """Open an evaluation with its sandbox.

    tests: files, folders or names for pytest; if empty, all that it finds. jobs: test runs at a time, 0 for one per
    core. python: the interpreter with pytest and the dependencies of the project. Raises PathError for a missing folder
    or interpreter.
    """
    with open_sandbox(jobs=jobs, interpreter=find_interpreter(python)) as sandbox:
        yield RepositoryEvaluation(places, sandbox, tuple(tests))


class RepositoryEvaluation:
    """Finds the items of a repository, and answers them in each condition."""

    def __init__(self, places: Places, sandbox: Sandbox, tests: tuple[str, ...]) -> None:
        self._places, self._sandbox, self._tests = places, sandbox, tests
        self._project = read_project(places.project)

    def find_items(self, count: Listen = lambda what, done, total: None) -> FoundItems:
        """Find the items, or read stored ones; raises what read_items and find_items raise."""
        found, self._benchmark = read_items(self._places.items, self._sandbox, self._project, self._tests, count)
        return found

    def run(
        self,
        conditions: Sequence[Condition],
        model: TextModel,
        graph: tuple[GraphStore, Encoder],
        options: SolverOptions | None,
        limit: int | None,
        listen: EvaluationListen,
    ) -> CodeReport:
        """Answer the found items in each condition, and report; limit: number of items, drawn by the seed."""
        (store, encoder), options = graph, options or SolverOptions()
        items = draw_items(self._benchmark, limit, options.seed)
        head = describe_run(items, model, options, describe_graph(store, None))
        folder = RunFolder(self._places.run, {**head, "kinds": read_kinds(store, items)})
        finder = RepositoryFinder(store, encoder, self._project, options.seed)
        judge = BodyJudge(self._sandbox, self._project)
        Evaluation(items, model, judge, folder, options, finder, listen=listen).run(conditions)
        return read_report(folder.path)
