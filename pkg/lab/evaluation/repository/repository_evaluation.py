"""Evaluate a model on the masked functions of a repository, scored by the repository's own tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pkg.lab.evaluation.code.benchmark_items import draw_items
from pkg.lab.evaluation.code.benchmark_run import describe_graph, describe_run
from pkg.lab.evaluation.code.code_evaluation import Evaluation, EvaluationListen
from pkg.lab.evaluation.code.code_report import CodeReport, read_report
from pkg.lab.evaluation.code.columns import Column
from pkg.lab.evaluation.code.run_folder import RunFolder
from pkg.lab.evaluation.code.solver_options import SolverOptions
from pkg.lab.evaluation.repository.body_judge import BodyJudge
from pkg.lab.evaluation.repository.item_kinds import read_kinds
from pkg.lab.evaluation.repository.item_search import Count, FoundItems
from pkg.lab.evaluation.repository.project_files import read_project
from pkg.lab.evaluation.repository.repository_contexts import RepositoryFinder
from pkg.lab.evaluation.repository.repository_items import read_items
from pkg.models.text_model import TextModel
from pkg.sandbox.interpreter import find_interpreter
from pkg.sandbox.protocol import Sandbox
from pkg.sandbox.worker_pool import open_sandbox

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder
    from pkg.graph.store import GraphStore


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
    """Finds the items of a repository, and answers them in each column."""

    def __init__(self, places: Places, sandbox: Sandbox, tests: tuple[str, ...]) -> None:
        self._places, self._sandbox, self._tests = places, sandbox, tests
        self._project = read_project(places.project)

    def find_items(self, count: Count = lambda what, done, total: None) -> FoundItems:
        """Find the items, or read stored ones; raises what read_items and find_items raise."""
        found, self._benchmark = read_items(self._places.items, self._sandbox, self._project, self._tests, count)
        return found

    def run(
        self,
        columns: Sequence[Column],
        model: TextModel,
        graph: tuple[GraphStore, Encoder],
        options: SolverOptions | None,
        limit: int | None,
        listen: EvaluationListen,
    ) -> CodeReport:
        """Answer the found items in each column, and return the report; limit: number of items, drawn by the seed."""
        (store, encoder), options = graph, options or SolverOptions()
        items = draw_items(self._benchmark, limit, options.seed)
        head = describe_run(items, model, options, describe_graph(store, None))
        folder = RunFolder(self._places.run, {**head, "kinds": read_kinds(store, items)})
        finder = RepositoryFinder(store, encoder, self._project, options.seed)
        judge = BodyJudge(self._sandbox, self._project)
        Evaluation(items, model, judge, folder, options, finder, listen=listen).run(columns)
        return read_report(folder.path)
