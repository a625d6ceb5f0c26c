"""Render the results of `pkg enhance`: JSON-ready lines for programs, text for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pkg.console.streams import style_words
from pkg.console.tables import SHOWN_SKIPS, make_table
from pkg.enhance.writer import Failure
from pkg.errors import count_things
from pkg.graph.graph_records import describe_docstring
from pkg.model import Skip

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.indexing.code_patch import FilePatch
    from pkg.indexing.docstring_counts import DocstringCount
    from pkg.indexing.enhancement import EnhanceReport, Outcome
    from pkg.indexing.enhancement_estimate import EnhanceEstimate

Failed = Sequence[tuple[str, str, str]]
"""Path, qualified name and reason of each function on which a model has failed."""


def outcome_line(outcome: Outcome) -> dict[str, Any]:
    """Return the outcome of one function as a line."""
    target, result, is_new = outcome
    place = {name: getattr(target, name) for name in ("id", "path", "qualname", "calls", "functions")}
    if isinstance(result, Failure):
        return {"type": "failure", **place, "is_new": is_new, "reason": result.reason}
    return {"type": "docstring", **place, "is_new": is_new, **describe_docstring(result)}


def report_line(report: EnhanceReport) -> dict[str, Any]:
    """Return the report of a run as one line; failures have lines of their own."""
    return {"type": "enhance", **asdict(report), "failed": len(report.failed)}


def view_report(report: EnhanceReport) -> Iterator[RenderableType]:
    """Render a summary of a run."""
    more = f", for {count_things(report.functions, 'function')}" if report.functions != report.written else ""
    yield style_words(
        f"{report.source}: {count_things(report.written, 'docstring')} of {report.model} stored{more},"
        f" {report.asked:,} written now, {len(report.failed):,} failed"
    )
    yield style_words(
        f"  with one of a person: {report.human:,}, with one of a model before: {report.documented:,}", "dim"
    )
    if report.stopped:
        yield style_words(f"  {count_things(report.left, 'function')} left when {report.stopped} was reached")
    for skip in report.failed[:SHOWN_SKIPS]:
        yield style_words(f"  failed: {skip}", "yellow")
    if len(report.failed) > SHOWN_SKIPS:
        yield style_words(f"  and {len(report.failed) - SHOWN_SKIPS:,} more; pkg enhance --list --model names all")


def describe_usage(report: EnhanceReport) -> str:
    """Return the cost of a run in words."""
    usage = report.usage
    tokens = f"{usage.prompt_tokens:,} tokens read and {usage.completion_tokens:,} written"
    cost = "" if report.cost is None else f", {report.cost:,.4f} at this price"
    return f"{report.model}: {count_things(usage.requests, 'request')}, {tokens}, {report.seconds:,.1f} seconds{cost}"


def estimate_line(estimate: EnhanceEstimate) -> dict[str, Any]:
    """Return an estimate as one line."""
    return {"type": "estimate", **asdict(estimate)}


def view_estimate(estimate: EnhanceEstimate) -> Iterator[RenderableType]:
    """Render the estimated time and cost of writing."""
    yield style_words(f"{estimate.model}: {estimate.describe()}")
    if estimate.seconds is not None:
        yield style_words(f"  {_show_time(estimate.seconds)}")
    told = f"from a sample of {estimate.sample}, of which {estimate.failed} failed" if estimate.sample else ""
    yield style_words(f"  {told or 'from the sizes of the functions; no model was asked'}", "dim")


def _show_time(seconds: float) -> str:
    if seconds < 120:
        return f"about {seconds:.0f} seconds"
    return f"about {seconds / 60:.0f} minutes" if seconds < 7200 else f"about {seconds / 3600:.1f} hours"


def list_lines(counts: Sequence[DocstringCount], failures: Failed) -> Iterator[dict[str, Any]]:
    """Yield one line for each model and prompt, then one for each failure."""
    for each in counts:
        yield {"type": "docstrings", **asdict(each)}
    for path, qualname, reason in failures:
        yield {"type": "failure", "path": path, "qualname": qualname, "reason": reason}


def view_list(counts: Sequence[DocstringCount], failures: Failed) -> Iterator[RenderableType]:
    """Render the docstrings in a graph by model, and the failures of a model."""
    rows = [(each.source, each.model, each.prompt, f"{each.functions:,}", each.first, each.last) for each in counts]
    if not rows:
        yield "no docstring was written"
    else:
        yield make_table(("source", "model", "prompt", "functions", "first", "last"), rows)
    if failures:
        yield make_table(("failed", "reason"), [(f"{path} {name}", reason) for path, name, reason in failures])


def patch_line(patch: FilePatch | Skip) -> dict[str, Any]:
    """Return the diff of one file, or the reason why it has none, as one line."""
    if isinstance(patch, Skip):
        return {"type": "skip", **asdict(patch)}
    diff = patch.diff.decode("utf-8", "replace")
    return {"type": "diff", "path": patch.path, "docstrings": patch.docstrings, "diff": diff}


def view_patch(file: str, files: int, docstrings: int, skipped: Sequence[Skip]) -> Iterator[RenderableType]:
    """Render the contents of a patch and the command that applies it."""
    counts = f"{count_things(docstrings, 'docstring')} in {count_things(files, 'file')}"
    yield style_words(f"{counts}; put them in with: git apply {file}")
    for skip in skipped:
        yield style_words(f"  left out {skip}", "yellow")
