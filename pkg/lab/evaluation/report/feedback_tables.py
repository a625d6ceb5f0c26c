"""The results of the paper on RAG with feedback, with our figures above its own (U-12, U-13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pkg.lab.evaluation.code.evaluation_conditions import name_condition
from pkg.lab.evaluation.report.paper_tables import Run, is_humaneval
from pkg.lab.evaluation.report.report_format import Table, write_number

COLUMNS = ("none", "documents", "documents-reranked", "feedback", "documents-feedback", "func-pkg", "rag-feedback")
"""Conditions of the table: those of the paper, and two with code of a graph in place of documents."""


class Published(NamedTuple):
    """Published figures of one condition in per cent: pass@1 and pass@10 on HumanEval, then on MBPP."""

    humaneval: tuple[float, float]
    mbpp: tuple[float, float]


REPRODUCED: Mapping[str, Published] = {
    "none": Published((35.3, 64.6), (44.7, 66.9)),
    "documents-reranked": Published((38.0, 66.8), (48.1, 67.1)),
    "feedback": Published((38.3, 67.2), (50.5, 69.3)),
    "documents-feedback": Published((38.5, 67.6), (50.8, 68.8)),
}
"""The paper's results with its own baseline, by condition; it evaluates no prompts with Unlimiformer."""

OF_MODEL: Mapping[str, Published] = {"none": Published((38.4, 70.3), (47.6, 70.3))}
"""The results that the paper cites for its model."""


def list_feedback_tables(benchmark: str, runs: Sequence[Run]) -> list[Table]:
    """Return the table of documents and feedback for a benchmark, if a run has one of its columns beside none."""
    own = {run.name: {each.column: each.pass_at for each in run.report.columns} for run in runs}
    names = [name for name in COLUMNS if name in REPRODUCED or any(name in columns for columns in own.values())]
    if not any(name in columns for columns in own.values() for name in ("feedback", *COLUMNS[1:5])):
        return []
    rows = []
    for k in (1, 10):
        for run, columns in own.items():
            shares = [columns.get(name, {}).get(k) for name in names]
            if any(share is not None for share in shares):
                rows.append(
                    (f"{run}, pass@{k}", *(write_number(None if share is None else 100 * share, 1) for share in shares))
                )
    for title, figures in (("paper, reproduced", REPRODUCED), ("paper, cited for its model", OF_MODEL)):
        for place, k in enumerate((1, 10)):
            known = {name: (each.humaneval if is_humaneval(benchmark) else each.mbpp) for name, each in figures.items()}
            rows.append(
                (
                    f"{title}, pass@{k}",
                    *(write_number(known[name][place] if name in known else None, 1) for name in names),
                )
            )
    note = "As in the results of the paper on RAG: its documents are reranked, its errors those of the given tests."
    return [Table(("%", *map(name_condition, names)), tuple(rows), note)]
