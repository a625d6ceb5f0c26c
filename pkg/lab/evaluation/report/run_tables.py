"""The tables of one run: fixed and broken tasks, failures, topics, costs, overlaps and cases (P-33 to P-36, P-38)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pkg.lab.evaluation.code.code_report import CodeReport, ColumnFigures
from pkg.lab.evaluation.code.scorer import ERRORS
from pkg.lab.evaluation.code.task_outcomes import Case
from pkg.lab.evaluation.report.report_table import (
    NOTHING,
    Mark,
    Table,
    mark_row,
    name_column,
    write_count,
    write_number,
)

MOST_CASES = 10  # fixed and broken tasks shown per column; the records hold all


def list_tables(report: CodeReport) -> Iterator[Table]:
    """Yield the tables of a run; that of topics only if the run has them."""
    yield _write_harm(report.columns)
    for kind, columns in report.kinds.items():
        yield _write_harm(columns, kind)
    if any(each.leaks is not None for each in report.columns):
        yield _write_leaks(report)
    yield _write_errors(report)
    if report.topics:
        yield _write_topics(report)
    yield _write_spent(report)
    if len(report.columns) > 1:
        yield _write_overlaps(report)


def _write_harm(columns: Sequence[ColumnFigures], kind: str = "") -> Table:
    """Write the solved, fixed and broken tasks of each column; kind: of the items, if not all."""
    sampled = sorted({k for each in columns for k in each.pass_at if k > 1})
    rows = tuple(
        (
            each.title, f"{each.solved}/{each.items}", f"{100 * each.share:.1f}",
            f"{100 * each.interval.low:.0f} to {100 * each.interval.high:.0f}",
            write_count(each.fixed), write_count(each.broken), _write_chance(each.p_value),
            write_count(each.fixed_shown), write_count(each.broken_shown), str(each.empty), str(each.cut),
            *(_write_pass(each, k) for k in sampled),
        )
        for each in columns
    )  # fmt: skip
    names = (
        f"column: {kind}" if kind else "column",
        "solved",
        "%",
        "95 %",
        "fixed",
        "broken",
        "p",
        "fixed, shown",
        "broken, shown",
        "empty",
        "cut",
    )
    note = (
        "fixed, broken: tasks solved here and not without context, and the reverse; shown: of those whose text shows an"
        " example; 95 %: Wilson's interval; p: McNemar's exact test; empty: nothing found; cut: the answer did not end."
    )
    return Table((*names, *(f"pass@{k}, %" for k in sampled)), rows, note)


def _write_chance(p_value: float | None) -> str:
    return "" if p_value is None else "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


def _write_pass(column: ColumnFigures, k: int) -> str:
    share = column.pass_at.get(k)
    return write_number(None if share is None else 100 * share, 1)


def _write_leaks(report: CodeReport) -> Table:
    """Write the results of each column without the tasks whose shown code contains their solution (A-16)."""
    rows = tuple(
        (
            each.title, str(each.leaks.leaked), str(each.leaks.same), str(each.leaks.of_others),
            f"{each.leaks.solved}/{each.leaks.items}", write_count(each.leaks.fixed), write_count(each.leaks.broken),
        )
        for each in report.columns if each.leaks is not None
    )  # fmt: skip
    names = ("without leaks", "leaked", "same name or code", "leaks of other tasks", "solved", "fixed", "broken")
    return Table(names, rows, "leaked: tasks whose shown code gives their own solution away; they are left out here.")


def _write_errors(report: CodeReport) -> Table:
    rows = tuple((each.title, *(str(each.errors[error]) for error in ERRORS)) for each in report.columns)
    return Table(("failures", *ERRORS), rows)


def _write_topics(report: CodeReport) -> Table:
    """Write the share of solved tasks by topic, marked against the column without context."""
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


def _write_overlaps(report: CodeReport) -> Table:
    rows = tuple((_name_set(name), str(count)) for name, count in report.overlaps.items())
    return Table(("solved by exactly", "tasks"), rows)


def _name_set(name: str) -> str:
    return name if name == "no column" else " + ".join(map(name_column, name.split(" + ")))


def list_case_tables(report: CodeReport) -> Iterator[Table]:
    """Yield tables of fixed and broken tasks of each column, with the places of the shown code (P-38)."""
    for each in report.cases:
        for kind, cases, fails in (("fixed", each.fixed, "fails without it by"), ("broken", each.broken, "fails by")):
            note = f"{len(cases) - MOST_CASES} more stand in the records." if len(cases) > MOST_CASES else ""
            names = (f"{name_column(each.column)}: {kind}", "shown or chosen", fails)
            if cases:
                yield Table(names, tuple(map(_write_case, cases[:MOST_CASES])), note, is_text=True)


def _write_case(case: Case) -> tuple[str, str, str]:
    shown = ", ".join(case.shown) or NOTHING
    return case.item, f"{case.chosen}: {shown}" if case.chosen else shown, f"{case.error} {case.detail}".strip()
