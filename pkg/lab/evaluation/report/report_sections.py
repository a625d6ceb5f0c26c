"""The content of a report, independent of its output format: sections of tables and pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from pkg.lab.evaluation.code.code_report import CodeReport
from pkg.lab.evaluation.report.drawing import Picture
from pkg.lab.evaluation.report.paper_tables import is_humaneval, is_mbpp, list_comparisons, list_costs
from pkg.lab.evaluation.report.pictures import list_pictures
from pkg.lab.evaluation.report.report_table import Run, Table
from pkg.lab.evaluation.report.run_tables import list_case_tables, list_tables


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with its text, tables and pictures."""

    title: str
    level: int
    text: str = ""
    tables: tuple[Table, ...] = ()
    pictures: tuple[Picture, ...] = ()


def list_sections(reports: Sequence[CodeReport]) -> Iterator[Section]:
    """Yield the sections: the tables of the paper for each benchmark, each run, and costs."""
    runs = name_runs(reports)
    for benchmark in dict.fromkeys(run.report.head["benchmark"] for run in runs):
        of_benchmark = [run for run in runs if run.report.head["benchmark"] == benchmark]
        yield _compare(benchmark, of_benchmark)
        yield from chain.from_iterable(map(_show_run, of_benchmark))
    if any(run.report.costs for run in runs):
        yield Section("Costs", 2, "", tuple(list_costs(runs)))


def name_runs(reports: Sequence[CodeReport]) -> list[Run]:
    """Name runs by their models, and by folder or whole path where several runs of a benchmark have the same model."""
    forms = [list(map(form, reports)) for form in (_name_model, _name_folder, _name_path)]
    benchmarks = [report.head["benchmark"] for report in reports]
    counts = [Counter(zip(benchmarks, names, strict=True)) for names in forms]
    runs = []
    for place, (benchmark, report) in enumerate(zip(benchmarks, reports, strict=True)):
        names = [each[place] for each in forms]
        unique = (name for name, count in zip(names, counts, strict=True) if count[benchmark, name] == 1)
        runs.append(Run(next(unique, names[-1]), report))
    return runs


def _name_model(report: CodeReport) -> str:
    return str(report.head["model"]).rpartition(":")[2].removesuffix(".gguf")


def _name_folder(report: CodeReport) -> str:
    return f"{_name_model(report)} ({Path(report.path).name})"


def _name_path(report: CodeReport) -> str:
    return f"{_name_model(report)} ({report.path})"


def _compare(benchmark: str, runs: Sequence[Run]) -> Section:
    """Compare the runs of a benchmark with each other and with the paper."""
    items = sorted({run.report.columns[0].items for run in runs})
    text = f"{' and '.join(map(str, items))} tasks. Marked is what is above or below the column without context."
    return Section(_name_benchmark(benchmark), 2, text, tuple(list_comparisons(benchmark, runs)))


def _name_benchmark(benchmark: str) -> str:
    if not (is_humaneval(benchmark) or is_mbpp(benchmark)):
        return benchmark.capitalize()
    return ("HumanEval" if is_humaneval(benchmark) else "MBPP") + "+" * benchmark.endswith("+")


def _show_run(run: Run) -> Iterator[Section]:
    """Yield the sections of one run: fixed and broken tasks, failures, topics, overlaps and cases, with pictures."""
    report, head = run.report, run.report.head
    title = f"{_name_benchmark(head['benchmark'])}, {run.name}"
    graph = head.get("graph") or "none"
    text = f"{report.columns[0].items} tasks; form of the prompts: {head['options']['form']}; graph: {graph}."
    yield Section(title, 3, text, tuple(list_tables(report)), tuple(list_pictures(run.name, report)))
    cases = tuple(list_case_tables(report))
    if cases:
        yield Section(f"{title}: cases", 4, "What context fixed and what it broke, to be looked at.", cases)
