"""The report of runs as sections: tables of the paper, of each run and of costs, and pictures (P-33 to P-36, P-38)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from pkg.lab.evaluation.code.code_report import NONE_SOLVES, Case, CodeReport, ConditionFigures
from pkg.lab.evaluation.code.evaluation_conditions import name_condition
from pkg.lab.evaluation.code.hidden_tests import ERRORS
from pkg.lab.evaluation.report.feedback_tables import list_feedback_tables
from pkg.lab.evaluation.report.paper_tables import Run, is_humaneval, is_mbpp, list_comparisons, list_costs, mark_row
from pkg.lab.evaluation.report.pictures import list_pictures
from pkg.lab.evaluation.report.report_format import NOTHING, Mark, Section, Table, write_count, write_number

TITLE = "Evaluation of generated code"
MOST_CASES = 10  # fixed and broken tasks shown per condition; the records hold all


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
    models = [str(report.head["model"]).rpartition(":")[2].removesuffix(".gguf") for report in reports]
    choices = [
        models,
        [f"{model} ({Path(report.path).name})" for model, report in zip(models, reports, strict=True)],
        [f"{model} ({report.path})" for model, report in zip(models, reports, strict=True)],
    ]
    benchmarks = [report.head["benchmark"] for report in reports]
    counts = [Counter(zip(benchmarks, names, strict=True)) for names in choices]
    runs = []
    for place, (benchmark, report) in enumerate(zip(benchmarks, reports, strict=True)):
        names = [each[place] for each in choices]
        unique = (name for name, count in zip(names, counts, strict=True) if count[benchmark, name] == 1)
        runs.append(Run(next(unique, names[-1]), report))
    return runs


def _compare(benchmark: str, runs: Sequence[Run]) -> Section:
    """Compare the runs of a benchmark with each other and with the paper."""
    items = sorted({run.report.columns[0].items for run in runs})
    text = f"{' and '.join(map(str, items))} tasks. Marked is what is above or below the column without context."
    tables = (*list_comparisons(benchmark, runs), *list_feedback_tables(benchmark, runs))
    return Section(_name_benchmark(benchmark), 2, text, tables)


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
    yield Section(title, 3, text, tuple(_list_tables(report)), tuple(list_pictures(run.name, report)))
    cases = tuple(_list_case_tables(report))
    if cases:
        yield Section(f"{title}: cases", 4, "What context fixed and what it broke, to be looked at.", cases)


def _list_tables(report: CodeReport) -> Iterator[Table]:
    """Yield the tables of a run; that of topics only if the run has them."""
    yield _write_harm(report.columns)
    for kind, conditions in report.kinds.items():
        yield _write_harm(conditions, kind)
    if any(each.leaks is not None for each in report.columns):
        yield _write_leaks(report)
    errors = tuple((each.title, *(str(each.errors[error]) for error in ERRORS)) for each in report.columns)
    yield Table(("failures", *ERRORS), errors)
    if report.topics:
        yield _write_topics(report)
    yield _write_spent(report)
    if len(report.columns) > 1:
        yield Table(("solved by exactly", "tasks"), tuple((_name_set(n), str(k)) for n, k in report.overlaps.items()))


def _write_harm(conditions: Sequence[ConditionFigures], kind: str = "") -> Table:
    """Write the solved, fixed and broken tasks of each condition; kind: of the items, if not all."""
    sampled = sorted({k for each in conditions for k in each.pass_at if k > 1})
    rows = tuple(
        (
            each.title, f"{each.solved}/{each.items}", f"{100 * each.share:.1f}",
            f"{100 * each.interval.low:.0f} to {100 * each.interval.high:.0f}",
            write_count(each.fixed), write_count(each.broken), _write_chance(each.p_value),
            write_count(each.fixed_shown), write_count(each.broken_shown), str(each.empty), str(each.cut),
            *(write_number(100 * each.pass_at[k], 1) if k in each.pass_at else NOTHING for k in sampled),
        )
        for each in conditions
    )  # fmt: skip
    names = (
        f"column: {kind}" if kind else "column", "solved", "%", "95 %", "fixed", "broken", "p", "fixed, shown",
        "broken, shown", "empty", "cut",
    )  # fmt: skip
    note = (
        "fixed, broken: tasks solved here and not without context, and the reverse; shown: of those whose text shows an"
        " example; 95 %: Wilson's interval; p: McNemar's exact test; empty: nothing found; cut: the answer did not end."
    )
    return Table((*names, *(f"pass@{k}, %" for k in sampled)), rows, note)


def _write_chance(p_value: float | None) -> str:
    return "" if p_value is None else "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


def _write_leaks(report: CodeReport) -> Table:
    """Write the results of each condition without the tasks whose shown code contains their solution (A-16)."""
    rows = tuple(
        (
            each.title, str(each.leaks.leaked), str(each.leaks.same), str(each.leaks.of_others),
            f"{each.leaks.solved}/{each.leaks.items}", write_count(each.leaks.fixed), write_count(each.leaks.broken),
        )
        for each in report.columns if each.leaks is not None
    )  # fmt: skip
    names = ("without leaks", "leaked", "same name or code", "leaks of other tasks", "solved", "fixed", "broken")
    return Table(names, rows, "leaked: tasks whose shown code gives their own solution away; they are left out here.")


def _write_topics(report: CodeReport) -> Table:
    """Write the share of solved tasks by topic, marked against the condition without context."""
    shares = [[100 * topic.solved[each.column] / topic.items for each in report.columns] for topic in report.topics]
    base = next((place for place, each in enumerate(report.columns) if each.column == "none"), None)
    rows = tuple(
        (topic.topic, str(topic.items), *(f"{share:.0f}" for share in row))
        for topic, row in zip(report.topics, shares, strict=True)
    )
    marks: tuple[tuple[Mark, ...], ...] = tuple(("", *mark_row(row, base)) for row in shares)
    names = ("topic: % solved", "tasks", *(each.title for each in report.columns))
    return Table(names, rows, "Topics are found by the words of the tasks.", marks)


def _write_spent(report: CodeReport) -> Table:
    rows = tuple(
        (
            each.title, f"{each.prompt_tokens:.0f}", f"{each.completion_tokens:.0f}", f"{each.seconds / 60:.1f}",
            f"{each.retrieval_seconds:.1f}",
        )
        for each in report.columns
    )  # fmt: skip
    names = ("cost of a column", "prompt tokens", "answer tokens", "model, minutes", "retrieval, seconds")
    return Table(names, rows, "Tokens: mean of an answer. Answers that are chosen cost those that are chosen among.")


def _name_set(name: str) -> str:
    return name if name == NONE_SOLVES else " + ".join(map(name_condition, name.split(" + ")))


def _list_case_tables(report: CodeReport) -> Iterator[Table]:
    """Yield tables of fixed and broken tasks of each condition, with the places of the shown code (P-38)."""
    for each in report.cases:
        for kind, cases, fails in (("fixed", each.fixed, "fails without it by"), ("broken", each.broken, "fails by")):
            note = f"{len(cases) - MOST_CASES} more stand in the records." if len(cases) > MOST_CASES else ""
            names = (f"{name_condition(each.column)}: {kind}", "shown or chosen", fails)
            if cases:
                yield Table(names, tuple(map(_write_case, cases[:MOST_CASES])), note, is_text=True)


def _write_case(case: Case) -> tuple[str, str, str]:
    shown = ", ".join(case.shown) or NOTHING
    return case.item, f"{case.chosen}: {shown}" if case.chosen else shown, f"{case.error} {case.detail}".strip()
