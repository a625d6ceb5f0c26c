"""The public functions of the laboratory: evaluate models and graphs, audit benchmarks, and make data sets.

They take an open graph, or addresses and folders, as the functions of pkg.api do; nothing here prints.
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
from pkg.errors import InputError, PathError
from pkg.lazy_module import LazyModule

if TYPE_CHECKING:
    from pkg.lab import lab_types
else:
    lab_types = LazyModule("pkg.lab.lab_types")

COLUMN_NAMES = 'names of columns, such as ["none"]'  # what a sequence of them is refused with


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
    listen: lab_types.EvaluationListen = lambda column, done, total, seconds: None,
    ask: Ask | None = None,
) -> lab_types.CodeReport:
    """Have a model answer a benchmark in several columns, judge all answers by hidden tests, and report (P-26 to P-33).

    benchmark: humaneval, humaneval+, mbpp or mbpp+; data: its official file, or a folder that holds it. out: the folder
    of the run, where it goes on if it was cut off. columns: by name, without any the eight of the paper. limit: items,
    drawn by the seed. shown: tests that the tasks of MBPP show. is_any: take rows that are not the official ones.
    jobs: answers judged at a time, 0 for one a core. listen: told the column, how many answers are there, of how many,
    and the seconds. Raises what query raises, UsageError where the folder holds another run, ModelError for a model
    that cannot be used.
    """
    from pkg.lab.audit.leak_audit import read_marks
    from pkg.lab.audit.solutions import collect_solutions
    from pkg.lab.evaluation.code.answer_judge import HiddenTestsJudge
    from pkg.lab.evaluation.code.benchmark_files import read_benchmark
    from pkg.lab.evaluation.code.benchmark_items import draw_items
    from pkg.lab.evaluation.code.code_evaluation import Evaluation, describe_graph, describe_run, measure_graph
    from pkg.lab.evaluation.code.code_report import read_report
    from pkg.lab.evaluation.code.columns import PAPER, choose_columns
    from pkg.lab.evaluation.code.contexts import ContextFinder
    from pkg.lab.evaluation.code.run_folder import RunFolder, write_costs, write_tasks
    from pkg.lab.evaluation.code.scorer import LIMITS, PLUS_LIMITS
    from pkg.lab.evaluation.code.shown_leaks import ShownLeaks
    from pkg.lab.evaluation.code.solver_options import SolverOptions
    from pkg.lab.evaluation.code.task_facts import describe_tasks
    from pkg.models.registry import use_model
    from pkg.sandbox.worker_pool import open_sandbox

    check_sequence("columns", columns, COLUMN_NAMES)
    options = options or SolverOptions()
    chosen = choose_columns(columns or PAPER)
    whole = read_benchmark(benchmark, Path(data), shown, is_any)
    items = draw_items(whole, limit, options.seed)
    with ExitStack() as stack:
        finder, graph, costs, leaks = None, "", {}, ShownLeaks(None, dict)
        if any(column.needs_graph for column in chosen):
            opened = stack.enter_context(open_graph(store, ask=ask))
            finder = ContextFinder(opened.store, opened.load_encoder(), options.source, options.seed)
            leaks = ShownLeaks(opened.store, partial(read_marks, opened.store, collect_solutions(whole)))
            graph = describe_graph(opened.store, options.source)
            costs = measure_graph(opened.store, options.source)
        text_model = stack.enter_context(use_model(model))
        folder = RunFolder(Path(out), describe_run(items, text_model, options, graph))
        write_tasks(folder.path, partial(describe_tasks, whole.items))
        write_costs(folder.path, costs)
        sandbox = stack.enter_context(open_sandbox(jobs=jobs))
        judge = HiddenTestsJudge(sandbox, PLUS_LIMITS if items.name.endswith("+") else LIMITS)
        Evaluation(items, text_model, judge, folder, options, finder, sandbox, listen, leaks).run(chosen)
    return read_report(Path(out))


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
    """Have a model write masked functions of a repository anew, judged by the tests of the repository that reach them.

    Functions with a docstring lose their body one by one; one is an item if tests that pass fail without it. path: the
    folder of the project, in which nothing is written. model: None to find the items alone, without a report. out: the
    folder of the run, where it goes on if it was cut off. items: the folder of the items and their graph, which several
    runs may share; that of the run by default. columns: by name; without any all. tests: what pytest is to run. python:
    the interpreter that has pytest and what the project needs. jobs: test runs at a time, 0 for one a core. store:
    where the graph of the repository is built; beside the items by default. encoder: of that graph. count: told of the
    search for items; listen: told of the answers. Raises InputError where there are no tests or no items, PathError
    where there is no such folder or interpreter, UsageError where a folder holds another run, ModelError for a model
    that cannot be used.
    """
    from pkg.lab.evaluation.code.code_report import read_report
    from pkg.lab.evaluation.code.columns import choose_repository_columns
    from pkg.lab.evaluation.code.solver_options import SolverOptions
    from pkg.lab.evaluation.repository.repository_evaluation import Places, RepositoryEvaluation
    from pkg.models.registry import use_model
    from pkg.sandbox.interpreter import find_interpreter
    from pkg.sandbox.worker_pool import open_sandbox

    check_sequence("columns", columns, COLUMN_NAMES)
    check_sequence("tests", tests, 'arguments of pytest, such as ["tests/unit"]')
    chosen = choose_repository_columns(columns)
    places = Places(Path(path), Path(out), Path(items or out))
    with ExitStack() as stack:
        sandbox = stack.enter_context(open_sandbox(jobs=jobs, interpreter=find_interpreter(python)))
        evaluation = RepositoryEvaluation(places, sandbox, tests)
        found, benchmark = evaluation.find_items(count)
        if model is None:
            return found, None
        address = store or f"sqlite:///{(places.items / 'graph.db').resolve()}"
        build_graph(path, store=address, encoder=encoder)
        graph = stack.enter_context(open_graph(address))
        text_model = stack.enter_context(use_model(model))
        asked = options or SolverOptions()
        evaluation.run(benchmark, chosen, text_model, (graph.store, graph.load_encoder()), asked, limit, listen)
    return found, read_report(places.run)


def report_evaluation(path: str | os.PathLike[str], data: str | os.PathLike[str] | None = None) -> lab_types.CodeReport:
    """Make the report of a run anew from its files alone; nothing is asked and nothing runs.

    data: the benchmark's file or its folder, from which a run that does not tell the topics of its tasks gets them.
    """
    from pkg.lab.evaluation.code.code_report import read_report

    if data is not None:
        _add_tasks(Path(path), Path(data))
    return read_report(Path(path))


def write_report_page(
    reports: Sequence[lab_types.CodeReport],
    page: str | os.PathLike[str] | None = None,
    figures: str | os.PathLike[str] | None = None,
) -> None:
    """Write the reports of runs as one HTML page, and their figures as PNG and SVG into a folder (P-35).

    Raises MissingExtraError without matplotlib, PathError where nothing can be written.
    """
    from pkg.lab.evaluation.report.drawing import save_picture
    from pkg.lab.evaluation.report.html_report import write_page
    from pkg.lab.evaluation.report.report_sections import list_sections

    check_sequence("reports", reports, "reports of evaluate_code")
    if figures is not None:
        for picture in (each for section in list_sections(reports) for each in section.pictures):
            save_picture(picture, Path(figures))
    if page is not None:
        text = write_page(reports)
        try:
            Path(page).write_text(text, encoding="utf-8")
        except OSError as fault:
            raise PathError(f"cannot write the page {page}: {fault.strerror}") from None


def _add_tasks(path: Path, data: Path) -> None:
    from pkg.lab.evaluation.code.benchmark_files import read_benchmark
    from pkg.lab.evaluation.code.run_folder import read_head, write_tasks
    from pkg.lab.evaluation.code.task_facts import describe_tasks

    head = read_head(path)
    benchmark = read_benchmark(head["benchmark"], data, is_any=True)
    if benchmark.sha256 != head["sha256"]:
        raise InputError(
            f"{data} holds other rows (SHA-256 {benchmark.sha256}) than the run in {path} is of ({head['sha256']})"
        )
    write_tasks(path, partial(describe_tasks, benchmark.items))


def calibrate_gate(
    paths: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str] | None = None,
    *,
    below: float | None = None,
    seed: int = 0,
) -> lab_types.Calibration:
    """Learn from runs of evaluate_code when shown code helps their model; the rules are for GenerateOptions(gate=FILE).

    paths: folders of runs whose columns are none and some that show code. output: the file of the rules. below: the
    rules are for models of fewer parameters; None for any. seed: draws the half that is learned from. Raises
    InputError where no run tells of such columns, PathError where the file cannot be written.
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

    against: names of benchmarks, which are read from their official files in the folder `data`, or files of JSON
    lines or Python with solutions. Marks of an earlier audit against the same are replaced. A query leaves marked
    code out with exclude_leaks. listen: told how many of how many functions are compared. Raises PathError and
    InputError for what cannot be read.
    """
    from pkg.lab.audit.leak_audit import audit_graph
    from pkg.lab.audit.solutions import read_solutions

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
    """Ask judged questions in every mode by every ranking, and score what comes: MRR, NDCG, recall with intervals.

    queries, qrels: files as BEIR has them. limit: questions to ask. modes, rankings: which ones; without them all.
    listen: told the mode, and how many of how many searches are done. Raises InputError for a line that is none of
    the two files, and where they say nothing about each other or about the graph; MissingExtraError for the
    ranking bm25 without its package.
    """
    from pkg.lab.evaluation.retrieval.evaluation_options import RANKING_NAMES, EvaluationOptions
    from pkg.lab.evaluation.retrieval.judged_questions import read_judged_questions
    from pkg.lab.evaluation.retrieval.retrieval_evaluation import evaluate_retrieval

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
    listen: Callable[[str, int, int], None] = lambda system, done, total: None,
) -> None:
    """Ask questions with known answers, and keep in the folder what each system finds and, with a model, answers.

    listen: told the system, and how many of how many questions are done. Raises QueryError for an unknown source,
    and ModelError.
    """
    from pkg.lab.evaluation.questions.question_evaluation import QuestionEvaluation

    check_sequence("items", items, "questions with known answers")
    QuestionEvaluation(graph.store, graph.load_encoder(), items, options, model).run(folder, listen)


def bench_graph(
    graph: Graph,
    options: lab_types.BenchOptions | None = None,
    *,
    listen: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> lab_types.BenchReport:
    """Measure the graph by questions made of its own docstrings: what it finds, and what answers cost.

    The questions are asked of a second graph of the same code without docstrings, built in a temporary folder. No
    network and no text model is used. listen: told what is done, and how much of how much. Raises QueryError for
    an unknown source and where too few functions have a docstring, EncoderError where the graph's encoder is on
    another machine.
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

    model: who writes, a name such as gguf:FILE or a model that stays open; steps that need none do without. Its
    texts are kept: made again, they are not asked for. rows: those of an earlier step, in the place of the graph's.
    Raises UsageError for a step that needs a model and has none, and what the model raises.
    """
    from pkg.lab.datasets.dataset_options import DatasetOptions
    from pkg.lab.datasets.dataset_plan import make_dataset
    from pkg.models.registry import use_model

    if rows is not None:
        check_sequence("rows", rows, 'objects, such as [{"step": "chunks"}]')
    given = None if rows is None else [dict(row) for row in rows]
    with use_model(model) as opened:
        return make_dataset(graph.store, step, source, opened, options or DatasetOptions(), given)
