"""Evaluate a model on the masked functions of a repository, scored by the repository's own tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pkg.lab.evaluation.code.benchmark_items import Benchmark, draw_items
from pkg.lab.evaluation.code.code_evaluation import Evaluation, EvaluationListen, describe_graph, describe_run
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
from pkg.sandbox.protocol import Sandbox

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder
    from pkg.graph.store import GraphStore


@dataclass(frozen=True, slots=True)
class Places:
    """Folders of an evaluation of a repository."""

    project: Path
    run: Path
    items: Path  # may be shared by several runs


class RepositoryEvaluation:
    """Finds the items of a repository, and answers them in each column."""

    def __init__(self, places: Places, sandbox: Sandbox, tests: Sequence[str] = ()) -> None:
        """Read the project; tests: files, folders or names for pytest; if empty, all that it finds."""
        self._places, self._sandbox, self._tests = places, sandbox, tuple(tests)
        self._project = read_project(places.project)

    def find_items(self, count: Count = lambda what, done, total: None) -> tuple[FoundItems, Benchmark]:
        """Find the items, or read stored ones; raises what read_items and find_items raise."""
        return read_items(self._places.items, self._sandbox, self._project, self._tests, count)

    def run(
        self,
        benchmark: Benchmark,
        columns: Sequence[Column],
        model: TextModel,
        graph: tuple[GraphStore, Encoder],
        options: SolverOptions,
        limit: int | None = None,
        listen: EvaluationListen = lambda column, done, total, seconds: None,
    ) -> None:
        """Answer the items in each column; limit: number of items, drawn by the seed."""
        store, encoder = graph
        items = draw_items(benchmark, limit, options.seed)
        head = describe_run(items, model, options, describe_graph(store, None))
        folder = RunFolder(self._places.run, {**head, "kinds": read_kinds(store, items)})
        finder = RepositoryFinder(store, encoder, self._project, options.seed)
        judge = BodyJudge(self._sandbox, self._project)
        Evaluation(items, model, judge, folder, options, finder, listen=listen).run(columns)
