"""`pkg bench`: measure a graph with a progress bar, and write the figures as lines or tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import click

from pkg.api import open_graph
from pkg.console.options import json_option, store_options
from pkg.console.progress import ProgressBar
from pkg.console.settings import source_setting
from pkg.console.streams import choose_ask, emit, style_words
from pkg.console.tables import make_table
from pkg.errors import count_things
from pkg.lab.commands.eval_retrieval import report_lines, view_report
from pkg.lab.lab_api import bench_graph
from pkg.lab.lab_options import BenchOptions

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.lab.bench.graph_bench import BenchReport, GraphCosts


BENCH = BenchOptions()

ANSWERS = ("answers", "ms p50", "ms p95", "CPU ms p50", "CPU ms p95", "tokens p50", "tokens p95", "empty", "unfit")

ENCODERS = ("encoder", "ranking", "MRR@10", "95 %", "R@1", "R@10", "ms", "build CPU s")


@click.command(epilog="Example:  pkg bench --limit 200")
@store_options
@click.option(
    "--limit", type=click.IntRange(1), default=BENCH.limit, show_default=True,
    help="Number of questions, sampled by --seed.",
)  # fmt: skip
@click.option(
    "--sample", type=click.IntRange(0), default=BENCH.sample, show_default=True,
    help="Number of functions for the comparison of encoders; 0 for none.",
)  # fmt: skip
@click.option("--seed", type=int, default=BENCH.seed, show_default=True, help="Seed of sampling.")
@source_setting(help="Measure only this source.")
@json_option
def bench(store: str, as_json: bool, **options: Any) -> None:
    """Measure search, time, size and encoders on your own graph.

    The questions are the first paragraphs of docstrings, the answers their functions, in a second graph of the same
    code without docstrings, built in a temporary folder. Needs no network and no text model.
    """
    with open_graph(store, ask=choose_ask()) as graph, closing(ProgressBar()) as bar:
        found = bench_graph(graph, BenchOptions(**options), listen=bar.count)
    emit(as_json, bench_lines(found), lambda: view_bench(found))


def bench_lines(report: BenchReport) -> Iterator[dict[str, Any]]:
    """Yield a line for the benchmark, each ranking, each mode of answers, each encoder, and the costs."""
    parts = ("retrieval", "costs", "encoders", "notes")
    whole = {name: value for name, value in asdict(replace(report, encoders=())).items() if name not in parts}
    yield {"type": "bench", **whole, "notes": [*report.retrieval.notes, *report.notes]}
    yield from (line for line in report_lines(report.retrieval) if line["type"] == "retrieval")
    yield from ({"type": "answers", **asdict(each)} for each in report.costs.answers)
    yield from ({"type": "encoder", **asdict(each)} for each in report.encoders)
    yield {"type": "costs", **{name: value for name, value in asdict(report.costs).items() if name != "answers"}}


def view_bench(report: BenchReport) -> Iterator[RenderableType]:
    """Yield tables of retrieval, costs of answers and of the graph, and encoders."""
    yield style_words(
        f"{report.documented:,} of {count_things(report.functions, 'function')} have a docstring to ask by; asked of"
        f" their code without docstrings, in a graph that was built for it"
    )
    for reason, count in report.left_out.items():
        if count:
            yield style_words(f"  not asked: {count:,} {reason}", "dim")
    yield from view_report(replace(report.retrieval, store=report.store))
    yield from _view_costs(report.costs)
    if report.encoders:
        functions, questions = report.encoders[0].functions, report.encoders[0].figures["questions"]
        yield style_words(f"encoders on {functions:,} functions, {count_things(questions, 'question')}", "bold cyan")
        rows = [_make_encoder_row(each.encoder, each.ranking, each.figures, each.build_cpu_seconds)
                for each in report.encoders]  # fmt: skip
        yield make_table(ENCODERS, rows, right=ENCODERS[2:])
    for note in report.notes:
        yield style_words(note, "dim")
    if report.memory_mb is not None:
        yield style_words(f"memory of the whole measurement at its peak: {report.memory_mb:,.0f} MB", "dim")


def _view_costs(costs: GraphCosts) -> Iterator[RenderableType]:
    yield style_words("the graph itself, warm, as pkg query asks it", "bold cyan")
    rows = [
        (
            f"{each.mode}s",
            *(f"{times[name]:,.1f}" for times in (each.wall_ms, each.cpu_ms) for name in ("p50", "p95")),
            *(f"{each.tokens[name]:,.0f}" for name in ("p50", "p95")),
            f"{each.empty:,}",
            f"{each.nothing_fits:,}",
        )
        for each in costs.answers
    ]
    yield make_table(ANSWERS, rows, right=ANSWERS[1:])
    if costs.memory_mb is not None:
        yield style_words(f"memory at the peak of these: {costs.memory_mb:,.0f} MB")
    if costs.bytes:
        parts = [(name, f"{size:,}", f"{costs.bytes_a_node[name]:,.1f}") for name, size in costs.bytes.items()]
        whole = ("all files", f"{costs.disk_bytes:,}", f"{costs.disk_bytes / costs.nodes:,.1f}")
        yield make_table((f"part, of {costs.nodes:,} nodes", "bytes", "a node"), [*parts, whole], ("bytes", "a node"))
    for source, stages in costs.stages.items():
        seconds = [(name, f"{value:.2f}") for name, value in stages.items()]
        yield make_table((f"last build of {source}", "CPU seconds"), seconds, right=("CPU seconds",))


def _make_encoder_row(encoder: str, ranking: str, figures: Mapping[str, Any], seconds: float) -> list[str]:
    low, high = figures["mrr@10_95%"]
    shares = [f"{figures[name]:.3f}" for name in ("recall@1", "recall@10")]
    mean = f"{figures['mrr@10']:.3f}"
    return [encoder, ranking, mean, f"{low:.3f} to {high:.3f}", *shares, f"{figures['ms']:,.1f}", f"{seconds:,.1f}"]
