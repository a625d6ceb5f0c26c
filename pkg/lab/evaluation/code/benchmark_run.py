"""A run over a benchmark: choose the items, describe the run, answer in every condition, and report."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from pkg.encode.encoder import Encoder
from pkg.errors import InputError
from pkg.graph.store import GraphStore
from pkg.lab.evaluation.code.benchmarks import Benchmark, draw_items, read_benchmark
from pkg.lab.evaluation.code.code_evaluation import KEY_DIGITS, Evaluation, EvaluationListen
from pkg.lab.evaluation.code.code_report import CodeReport, read_report
from pkg.lab.evaluation.code.contexts import CodeFinder, ContextFinder, ShownLeaks
from pkg.lab.evaluation.code.evaluation_conditions import Condition
from pkg.lab.evaluation.code.hidden_tests import LIMITS, PLUS_LIMITS, HiddenTestsJudge
from pkg.lab.evaluation.code.run_folder import RunFolder, read_head, write_costs, write_tasks
from pkg.lab.evaluation.code.topics import describe_tasks
from pkg.lab.lab_options import SolverOptions
from pkg.model import Leak
from pkg.models.text_model import TextModel
from pkg.sandbox.worker_pool import open_sandbox


class SearchedDocuments(NamedTuple):
    """The documents that a run shows, and their leaks."""

    make_finder: Callable[[CodeFinder | None], DescribedFinder]  # given the finder of the code of a graph
    read_leaks: Callable[[], Mapping[str, Collection[Leak]]]  # called once for the leaks of the benchmark by place


class DescribedFinder(CodeFinder, Protocol):
    """Finds documents, and describes them for the head of a run."""

    def describe(self) -> dict[str, Any]:
        """Return the values that identify the documents and their search."""


class SearchedGraph(NamedTuple):
    """The graph that a run shows code of, and its leaks."""

    store: GraphStore
    encoder: Encoder
    read_marks: Callable[[], Mapping[str, Collection[Leak]]]  # called once for the leaks of the benchmark by node


@dataclass(frozen=True, slots=True)
class BenchmarkRun:
    """A benchmark to answer in several conditions, and the folder of its results."""

    conditions: tuple[Condition, ...]
    benchmark: Benchmark
    folder: Path
    options: SolverOptions
    limit: int | None  # number of items, drawn by the seed
    jobs: int  # answers scored at a time, 0 for one per core
    listen: EvaluationListen

    @property
    def needs_graph(self) -> bool:
        """Return whether a condition shows code of a graph."""
        return any(condition.needs_graph for condition in self.conditions)

    def run(
        self, model: TextModel, graph: SearchedGraph | None, documents: SearchedDocuments | None = None
    ) -> CodeReport:
        """Answer the items in every condition, score the answers, and return the report.

        Raises UsageError if the folder holds another run, and the errors of model, graph and sandbox.
        """
        options, items = self.options, draw_items(self.benchmark, self.limit, self.options.seed)
        finder: CodeFinder | None = None
        described, costs, leaks = "", {}, ShownLeaks(None, dict)
        if graph is not None:
            finder = ContextFinder(graph.store, graph.encoder, options.source, options.seed)
            leaks = ShownLeaks(graph.store, graph.read_marks)
            described = describe_graph(graph.store, options.source)
            costs = measure_graph(graph.store, options.source)
        head = describe_run(items, model, options, described)
        if documents is not None:
            finder = found = documents.make_finder(finder)
            leaks = leaks.with_documents(documents.read_leaks)
            head["documents"] = found.describe()
        folder = RunFolder(self.folder, head)
        write_tasks(folder.path, partial(describe_tasks, self.benchmark.items))
        write_costs(folder.path, costs)
        with open_sandbox(jobs=self.jobs) as sandbox:
            judge = HiddenTestsJudge(sandbox, PLUS_LIMITS if items.name.endswith("+") else LIMITS)
            Evaluation(items, model, judge, folder, options, finder, sandbox, self.listen, leaks).run(self.conditions)
        return read_report(folder.path)


def add_tasks(path: Path, data: Path) -> None:
    """Add the topics of the tasks to a run without them, from the file of its benchmark.

    Raises InputError for a file with other rows.
    """
    write_tasks(path, partial(describe_tasks, read_run_benchmark(path, data).items))


def read_run_benchmark(path: Path, data: Path) -> Benchmark:
    """Read the benchmark of a run from its file, or a folder; raises InputError for a file with other rows."""
    head = read_head(path)
    benchmark = read_benchmark(head["benchmark"], data, is_any=True)
    if benchmark.sha256 != head["sha256"]:
        raise InputError(
            f"{data} holds other rows (SHA-256 {benchmark.sha256}) than the run in {path} is of ({head['sha256']})"
        )
    return benchmark


def describe_run(benchmark: Benchmark, model: TextModel, options: SolverOptions, graph: str) -> dict[str, Any]:
    """Describe a run, to detect results of a different one in its folder."""
    return {
        "benchmark": benchmark.name,
        "sha256": benchmark.sha256,
        "items": [item.id for item in benchmark.items],
        "shown": benchmark.shown,
        "model": model.name if ":" not in model.name else f"{model.name.partition(':')[0]}:{Path(model.name).name}",
        "identity": model.identity,
        "options": {name: value for name, value in asdict(options).items() if name != "batch"},
        "graph": graph,
    }


def describe_graph(store: GraphStore, source: str | None) -> str:
    """Return the sources of a graph, its encoder, and a hash of their fingerprints."""
    sources = [each.name for each in store.sources() if source in (None, each.name)]
    made = "\n".join(f"{name} {store.source_fingerprint(name)}" for name in sources)
    digest = hashlib.sha256(f"{store.encoder()[0]}\n{made}".encode()).hexdigest()[:KEY_DIGITS]
    return f"{', '.join(sources)}; {store.encoder()[0]}; {digest}"


def measure_graph(store: GraphStore, source: str | None) -> dict[str, Any]:
    """Return the costs of a graph: CPU seconds by stage of each source, and stored bytes and nodes (P-36)."""
    found = store.stats()
    return {
        "stages": {name: dict(stages) for name, stages in found.stages.items() if source in (None, name)},
        "parts": dict(found.parts),
        "bytes": dict(found.bytes),
        "nodes": dict(found.nodes),
        "encoder": found.encoder,
    }
