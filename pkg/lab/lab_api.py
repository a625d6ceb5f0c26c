"""The public functions of the laboratory: evaluate models and graphs, audit benchmarks, and make data sets.

Like those of pkg.api they take an open graph, or addresses and folders; none of them prints.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pkg.api import Ask, Graph, build_graph, open_graph
from pkg.argument_types import check_sequence
from pkg.errors import PathError, UsageError
from pkg.lazy_module import LazyModule

if TYPE_CHECKING:
    from pkg.lab import lab_types
    from pkg.lab.evaluation.code.benchmark_run import SearchedDocuments
    from pkg.lab.evaluation.code.benchmarks import Benchmark
    from pkg.lab.evaluation.code.evaluation_conditions import Condition
else:
    lab_types = LazyModule("pkg.lab.lab_types")

COLUMN_NAMES = 'names of columns, such as ["none"]'  # expected value in messages


def evaluate_code(
    benchmark: str,
    model: str | lab_types.TextModel,
    data: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    store: str | None = None,
    columns: Sequence[str] = (),
    limit: int | None = None,
    shown: int = 1,
    is_any: bool = False,
    jobs: int = 0,
    options: lab_types.SolverOptions | None = None,
    documents: lab_types.DocumentOptions | None = None,
    listen: lab_types.EvaluationListen = lambda column, done, total, seconds: None,
    ask: Ask | None = None,
) -> lab_types.CodeReport:
    """Answer a benchmark in several columns with a model, score the answers by hidden tests, and report (P-26 to P-33).

    benchmark: humaneval, humaneval+, mbpp or mbpp+; data: its official file, or a folder that holds it. out: the folder
    of the run, which is resumed if it was interrupted. columns: names; by default the eight of the paper. limit: number
    of items, drawn by the seed. shown: number of tests in the tasks of MBPP. is_any: accept rows other than the
    official ones. jobs: answers scored at a time, 0 for one per core. documents: questions with solutions that the
    columns documents show. listen: called with the column, the number of its answers, their total, and the seconds.
    Raises what query raises, UsageError if the folder holds another run or a column lacks its documents, ModelError for
    a model that cannot be used.
    """
    from pkg.lab.audit.leak_audit import collect_solutions, read_marks
    from pkg.lab.evaluation.code.benchmark_run import BenchmarkRun, SearchedGraph
    from pkg.lab.evaluation.code.benchmarks import read_benchmark
    from pkg.lab.evaluation.code.evaluation_conditions import choose_benchmark_conditions
    from pkg.lab.lab_options import SolverOptions
    from pkg.models.registry import use_model

    check_sequence("columns", columns, COLUMN_NAMES)
    chosen = choose_benchmark_conditions(columns)
    whole = read_benchmark(benchmark, Path(data), shown, is_any)
    run = BenchmarkRun(chosen, whole, Path(out), options or SolverOptions(), limit, jobs, listen)
    found = _search_documents(chosen, documents, whole)
    with ExitStack() as stack:
        searched = None
        if run.needs_graph:
            graph = stack.enter_context(open_graph(store, ask=ask))
            marks = partial(read_marks, graph.store, collect_solutions(whole))
            searched = SearchedGraph(graph.store, graph.load_encoder(), marks)
        return run.run(stack.enter_context(use_model(model)), searched, found)


def _search_documents(
    conditions: Sequence[Condition], options: lab_types.DocumentOptions | None, benchmark: Benchmark
) -> SearchedDocuments | None:
    """Read the documents that conditions show; None if no condition shows any; raises UsageError without files."""
    from pkg.lab.audit.document_leaks import mark_documents
    from pkg.lab.audit.leak_audit import collect_solutions
    from pkg.lab.evaluation.code.benchmark_run import SearchedDocuments
    from pkg.lab.evaluation.documents.document_finder import DocumentFinder
    from pkg.lab.evaluation.documents.document_rows import read_documents

    needing = [condition.name for condition in conditions if condition.needs_documents]
    if not needing:
        return None
    if options is None or not options.files:
        raise UsageError(f"the column {needing[0]} shows rows of files; name them with --documents FILE")
    found = read_documents(options.files)
    encoder, order = options.encoder, options.order
    return SearchedDocuments(
        lambda other: DocumentFinder(found, encoder, order, other),
        lambda: mark_documents(found.documents, collect_solutions(benchmark)),
    )


def evaluate_repository(
    path: str | os.PathLike[str],
    model: str | lab_types.TextModel | None,
    out: str | os.PathLike[str],
    *,
    items: str | os.PathLike[str] | None = None,
    columns: Sequence[str] = (),
    tests: Sequence[str] = (),
    python: str | None = None,
    jobs: int = 0,
    limit: int | None = None,
    options: lab_types.SolverOptions | None = None,
    store: str | None = None,
    encoder: str | None = None,
    count: Callable[[str, int, int], None] = lambda what, done, total: None,
    listen: lab_types.EvaluationListen = lambda column, done, total, seconds: None,
) -> tuple[lab_types.FoundItems, lab_types.CodeReport | None]:
    """Rewrite masked functions of a repository with a model, scored by the tests of the repository that reach them.

    Functions with a docstring are masked one by one; a function is an item if passing tests fail without its body.
    path: the folder of the project, which stays unchanged. model: None to find only the items, without a report. out:
    the folder of the run, which is resumed if it was interrupted. items: the folder of the items and their graph, which
    several runs may share; by default that of the run. columns: names; by default all. tests: arguments of pytest.
    python: the interpreter with pytest and the dependencies of the project. jobs: test runs at a time, 0 for one per
    core. store: address of the graph of the repository; by default in the folder of the items. encoder: of that graph.
    count: called during the search for items; listen: called for each answer. Raises InputError if there are no tests
    or no items, PathError for a missing folder or interpreter, UsageError if a folder holds another run, ModelError for
    a model that cannot be used.
    """
    from pkg.lab.evaluation.code.evaluation_conditions import choose_repository_conditions
    from pkg.lab.evaluation.repository.repository_evaluation import Places, open_evaluation
    from pkg.models.registry import use_model

    check_sequence("columns", columns, COLUMN_NAMES)
    check_sequence("tests", tests, 'arguments of pytest, such as ["tests/unit"]')
    chosen = choose_repository_conditions(columns)
    places = Places(Path(path), Path(out), Path(items or out))
    with ExitStack() as stack:
        evaluation = stack.enter_context(open_evaluation(places, tests, jobs, python))
        found = evaluation.find_items(count)
        if model is None:
            return found, None
        address = store or places.graph_address
        build_graph(path, store=address, encoder=encoder)
        graph = stack.enter_context(open_graph(address))
        opened, searched = stack.enter_context(use_model(model)), (graph.store, graph.load_encoder())
        return found, evaluation.run(chosen, opened, searched, options, limit, listen)


def report_evaluation(path: str | os.PathLike[str], data: str | os.PathLike[str] | None = None) -> lab_types.CodeReport:
    """Build the report of a run from its files, without a model or a sandbox.

    data: the benchmark's file or its folder, to add the topics of tasks to a run without them.
    """
    from pkg.lab.evaluation.code.benchmark_run import add_tasks
    from pkg.lab.evaluation.code.code_report import read_report

    if data is not None:
        add_tasks(Path(path), Path(data))
    return read_report(Path(path))


def write_report_page(
    reports: Sequence[lab_types.CodeReport],
    page: str | os.PathLike[str] | None = None,
    figures: str | os.PathLike[str] | None = None,
) -> None:
    """Write the reports of runs as one HTML page, and their figures as PNG and SVG into a folder (P-35).

    Raises MissingExtraError without matplotlib, PathError if a file cannot be written.
    """
    from pkg.lab.evaluation.report.code_sections import TITLE, list_sections
    from pkg.lab.evaluation.report.report_format import write_report

    check_sequence("reports", reports, "reports of evaluate_code")
    write_report(TITLE, list(list_sections(reports)), page, figures)


def calibrate_gate(
    paths: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str] | None = None,
    *,
    below: float | None = None,
    seed: int = 0,
) -> lab_types.Calibration:
    """Learn from runs of evaluate_code when shown code helps their model; GenerateOptions(gate=FILE) applies the rules.

    paths: folders of runs with the column none and some that show code. output: the file of the rules. below: the rules
    apply to models of fewer parameters; None for any. seed: selects the half to learn from. Raises InputError if no run
    has such columns, PathError if the file cannot be written.
    """
    from pkg.generation.gate import write_rules
    from pkg.lab.evaluation.code.gate_calibration import calibrate

    check_sequence("paths", paths, 'folders of runs, such as ["runs/qwen"]')
    found = calibrate([Path(path) for path in paths], seed)
    if output is not None:
        try:
            Path(output).write_text(write_rules(list(found.list_rules(below))), encoding="utf-8")
        except OSError as fault:
            raise PathError(f"cannot write {os.fspath(output)}: {fault.strerror}") from None
    return found


def audit_graph(
    graph: Graph,
    against: Sequence[str],
    data: str | os.PathLike[str] = ".",
    *,
    listen: Callable[[str, int, int], None] = lambda stage, done, total: None,
) -> list[lab_types.AuditReport]:
    """Mark the functions of the graph that equal or nearly equal the solutions of benchmarks (A-16).

    against: names of benchmarks, whose official files are read from the folder `data`, or files of JSON lines or Python
    with solutions. Marks of an earlier audit against the same are replaced. Queries skip marked code with
    exclude_leaks. listen: called with the stage, the number of compared functions, and their total. Raises PathError
    and InputError for files that are missing or invalid.
    """
    from pkg.lab.audit.leak_audit import audit_graph, read_solutions

    check_sequence("against", against, 'names of benchmarks or of files, such as ["humaneval"]')
    solutions = [read_solutions(each, Path(data)) for each in dict.fromkeys(against)]
    return audit_graph(graph.store, solutions, listen)


def evaluate_retrieval(
    graph: Graph,
    queries: str | os.PathLike[str],
    qrels: str | os.PathLike[str],
    *,
    limit: int | None = None,
    modes: Sequence[lab_types.EvaluatedMode] = (),
    rankings: Sequence[lab_types.RankingName] = (),
    source: str | None = None,
    listen: Callable[[str, int, int], None] = lambda mode, done, total: None,
) -> lab_types.RetrievalReport:
    """Evaluate judged questions in every mode and by every ranking: MRR, NDCG and recall with intervals.

    queries, qrels: files in the format of BEIR. limit: number of questions. modes, rankings: names; by default all.
    listen: called with the mode, the number of finished searches, and their total. Raises InputError for an invalid
    line, and if the files do not match each other or the graph; MissingExtraError for the ranking bm25 without its
    package.
    """
    from pkg.lab.evaluation.retrieval.judged_questions import read_judged_questions
    from pkg.lab.evaluation.retrieval.retrieval_evaluation import evaluate_retrieval
    from pkg.lab.lab_options import RANKING_NAMES, EvaluationOptions

    check_sequence("modes", modes, 'names of modes, such as ["function"]')
    check_sequence("rankings", rankings, f"names: {', '.join(RANKING_NAMES)}")
    asked = read_judged_questions(os.fspath(queries), os.fspath(qrels), limit)
    options = EvaluationOptions(modes, rankings or RANKING_NAMES, source)
    return evaluate_retrieval(graph.store, graph.load_encoder(), asked, options, listen)


def evaluate_questions(
    graph: Graph,
    items: Sequence[lab_types.QaItem],
    folder: lab_types.QaFolder,
    options: lab_types.QaOptions,
    model: lab_types.TextModel | None = None,
    *,
    label: str = "",
    listen: Callable[[str, int, int], None] = lambda system, done, total: None,
) -> None:
    """Answer questions with known answers, and store the evidence and, with a model, the answer of each system.

    label: of the model, in the names of its systems, if the folder holds answers of several. listen: called with the
    system, the number of finished questions, and their total. Raises QueryError for an unknown source, and ModelError.
    """
    from pkg.lab.evaluation.questions.question_evaluation import QuestionEvaluation

    check_sequence("items", items, "questions with known answers")
    evaluation = QuestionEvaluation(graph.store, graph.load_encoder(), items, options, model, label=label)
    evaluation.run(folder, listen)


def bench_graph(
    graph: Graph,
    options: lab_types.BenchOptions | None = None,
    *,
    listen: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> lab_types.BenchReport:
    """Measure the retrieval of the graph by questions made of its own docstrings, and the costs of answers.

    The questions are asked of a second graph of the same code without docstrings, built in a temporary folder. No
    network and no text model is used. listen: called with the stage, the number of finished parts, and their total.
    Raises QueryError for an unknown source or too few functions with a docstring, EncoderError if the graph's encoder
    is on another machine.
    """
    from pkg.lab.bench.graph_bench import run_bench

    return run_bench(graph.store, graph.load_encoder(), options, listen)


def make_dataset(
    graph: Graph,
    step: lab_types.DatasetStep,
    model: str | lab_types.TextModel | None = None,
    options: lab_types.DatasetOptions | None = None,
    *,
    source: str | None = None,
    rows: Sequence[Mapping[str, Any]] | None = None,
) -> lab_types.Dataset:
    """Make a set of questions with answers, or of pieces to ask about (`pkg data`), of one source or of all.

    model: a name such as gguf:FILE, or an open model, which stays open; some steps need none. Its texts are cached.
    rows: the output of an earlier step, instead of the graph's. Raises UsageError for a step that needs a model and has
    none, and what the model raises.
    """
    from pkg.lab.datasets.dataset_plan import make_dataset
    from pkg.lab.lab_options import DatasetOptions
    from pkg.models.registry import use_model

    if rows is not None:
        check_sequence("rows", rows, 'objects, such as [{"step": "chunks"}]')
    given = None if rows is None else [dict(row) for row in rows]
    with use_model(model) as opened:
        return make_dataset(graph.store, step, source, opened, options or DatasetOptions(), given)
