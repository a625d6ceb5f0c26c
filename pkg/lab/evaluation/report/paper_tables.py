"""The tables of the paper on Programming Knowledge Graphs, with our figures above its own (P-32, P-33, P-36)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pkg.lab.evaluation.code.columns import PAPER
from pkg.lab.evaluation.code.scorer import ERRORS
from pkg.lab.evaluation.report import published
from pkg.lab.evaluation.report.report_table import (
    NOTHING,
    Run,
    Table,
    find_share,
    index_columns,
    mark_row,
    name_column,
    write_number,
)

_Shares = dict[str, Sequence[float | None]]
"""Shares solved by each column, by the name of the row."""


def list_comparisons(benchmark: str, runs: Sequence[Run]) -> Iterator[Table]:
    """Yield the tables of the paper for a benchmark, if it has any."""
    if is_humaneval(benchmark) or is_mbpp(benchmark):
        yield _write_shares(benchmark, runs)
        yield _write_tutorials(runs) if is_humaneval(benchmark) else _write_errors(runs)


def is_humaneval(benchmark: str) -> bool:
    """Return whether a benchmark is HumanEval or HumanEval+."""
    return benchmark.startswith("humaneval")


def is_mbpp(benchmark: str) -> bool:
    """Return whether a benchmark is MBPP or MBPP+."""
    return benchmark.startswith("mbpp")


def _write_shares(benchmark: str, runs: Sequence[Run]) -> Table:
    """Write the paper's table 1 or 2: the share of solved tasks by model and column."""
    names = [name for name in PAPER if any(name in index_columns(run.report) for run in runs)]
    own: _Shares = {run.name: [find_share(index_columns(run.report).get(name)) for name in names] for run in runs}
    table = published.HUMANEVAL if is_humaneval(benchmark) else published.MBPP
    theirs: _Shares = {
        f"paper, {model}": [float(row[PAPER.index(name)]) for name in names] for model, row in table.items()
    }
    rows = [(name, *(write_number(share, 1) for share in shares)) for name, shares in own.items()]
    rows += [(name, *(write_number(share, 0) for share in shares)) for name, shares in theirs.items()]
    base = names.index("none") if "none" in names else None
    marks = [mark_row(shares, base) for shares in (*own.values(), *theirs.values())]
    note = f"As in table {1 if is_humaneval(benchmark) else 2} of the paper, whose dense column is by VoyageAI."
    return Table(("pass@1, %", *map(name_column, names)), tuple(rows), note, tuple(marks))


def _write_errors(runs: Sequence[Run]) -> Table:
    """Write the paper's table 3: failures by class, without context and with the graph."""
    own = [
        (f"{run.name}, {each.title}", *(str(each.errors[error]) for error in ERRORS))
        for run in runs
        for each in run.report.columns
        if each.column in ("none", "func-pkg", "block-pkg")
    ]
    theirs = [
        (f"paper, {model}, {column}", *map(str, counts)) for (model, column), counts in published.ERRORS_MBPP.items()
    ]
    return Table(("failures", *ERRORS), (*own, *theirs), "As in table 3 of the paper, of 500 tasks there.")


def _write_tutorials(runs: Sequence[Run]) -> Table:
    """Write the paper's table 5; the description of a run names the content of its graph."""
    rows = [
        (f"paper, {model}", *(NOTHING if share is None else f"{share:g}" for share in shares))
        for model, shares in published.TUTORIALS.items()
    ]
    own = [
        (run.name, write_number(find_share(index_columns(run.report).get("none")), 1), NOTHING, NOTHING) for run in runs
    ]
    note = "As in table 5 of the paper; graphs of tutorials cannot be built here yet."
    return Table(("pass@1, %", "None", "tutorials as text", "graph of tutorials"), (*own, *rows), note)


def list_costs(runs: Sequence[Run]) -> Iterator[Table]:
    """Yield the paper's table 4 with the costs of the graphs of the runs, without duplicates (P-36)."""
    graphs: dict[str, Mapping[str, Any]] = {}
    for run in runs:
        if run.report.costs and run.report.costs not in graphs.values():
            graphs[run.name] = run.report.costs
    own = [_sum_costs(each) for each in graphs.values()]
    rows = tuple(
        (
            stage,
            *(write_number(costs.get(stage), 2) for costs in own),
            *(NOTHING if minutes is None else f"{minutes:,}" for minutes in theirs),
        )
        for stage, theirs in published.COSTS.items()
    )
    names = ("minutes", *(f"graph of {name}" for name in graphs), *(f"paper, {each}" for each in published.COSTED))
    note = (
        "As in table 4 of the paper. Ours: CPU minutes; code and blocks are extracted in one pass, and storing holds"
        " names, terms and links too; docstrings are not counted."
    )
    yield Table(names, rows, note)
    yield from map(_write_parts, graphs.items())


_STAGES = {"discover": "code extraction", "extract": "code extraction", "encode": "encoding", "reencode": "encoding"}
"""Stages of the paper by our stages; all others are storing."""


def _sum_costs(costs: Mapping[str, Any]) -> dict[str, float]:
    found: Counter[str] = Counter()
    for stages in costs["stages"].values():
        for stage, seconds in stages.items():
            found[_STAGES.get(stage, "storing")] += seconds / 60
    stored = sum(costs["bytes"].values()) or sum(costs["parts"].values())
    return {**found, "all": sum(found.values()), **({"MB stored": stored / 1e6} if stored else {})}


def _write_parts(graph: tuple[str, Mapping[str, Any]]) -> Table:
    name, costs = graph
    rows = [(part, f"{size / 1e6:.2f} MB") for part, size in (*costs["parts"].items(), *costs["bytes"].items())]
    return Table((f"graph of {name}", "stored"), (*rows, *((each, f"{n:,}") for each, n in costs["nodes"].items())))
