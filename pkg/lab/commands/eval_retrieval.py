"""`pkg eval retrieval`: ask the questions with a progress bar, and write a line or row for each ranking."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, get_args

import click

from pkg.api import open_graph
from pkg.console.options import json_option, store_options
from pkg.console.progress import ProgressBar
from pkg.console.settings import decode_option, source_setting
from pkg.console.streams import choose_ask, emit, style_words
from pkg.console.tables import make_table
from pkg.errors import count_things
from pkg.lab.lab_api import evaluate_retrieval
from pkg.lab.lab_options import EvaluatedMode, RankingName

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.lab.evaluation.retrieval.retrieval_evaluation import RetrievalReport


SHARES = {"mrr@10": "MRR@10", "ndcg@10": "NDCG@10", "recall@1": "R@1", "recall@5": "R@5", "recall@10": "R@10"}
SHARES |= {"recall@100": "R@100"}
LEGEND = "±: 95 %; unfit: questions that nothing fits; ms: of the middle question, which is asked for 100 answers"
COLUMNS = ("ranking", *SHARES.values(), "over BM25", "empty", "ms")


def file_option(flag: str, help: str) -> Callable[..., Any]:
    """Return a required option whose value is a file."""
    return click.option(flag, required=True, callback=decode_option, metavar="FILE", help=help)


@click.command("retrieval", epilog="Example:  pkg eval retrieval --queries queries.jsonl --qrels qrels.tsv")
@store_options
@file_option("--queries", "Questions: JSON lines with _id and text, or .gz.")
@file_option("--qrels", "Right answers: query-id, corpus-id and score, tab-separated, or .gz.")
@click.option("--limit", type=click.IntRange(1), help="Number of questions, from the first of the file.")
@click.option(
    "--mode", "modes", multiple=True, type=click.Choice(get_args(EvaluatedMode)),
    help="Mode to measure. Repeatable. Default: functions, blocks, and files if there are any.",
)  # fmt: skip
@click.option(
    "--ranking", "rankings", multiple=True, type=click.Choice(get_args(RankingName)),
    help="Ranking to measure. Repeatable. Default: all; bm25 needs the extra eval.",
)  # fmt: skip
@source_setting(help="Search only this source.")
@json_option
def retrieval(store: str, as_json: bool, **options: Any) -> None:
    """Score the search by questions with known answers.

    The files are in the format of BEIR: JSON lines with _id and text, and tab-separated judgements with query-id,
    corpus-id and score. A corpus-id is the id of a row, or path or path::qualname of a repository. Measures every mode
    with every ranking, with plain BM25 as baseline, and with single features left out.
    """
    with open_graph(store, ask=choose_ask()) as graph, closing(ProgressBar()) as bar:
        found = evaluate_retrieval(
            graph, **options, listen=lambda mode, done, total: bar.count(f"asking for {mode}s", done, total)
        )
    emit(as_json, report_lines(found), lambda: view_report(found))


def report_lines(report: RetrievalReport) -> Iterator[dict[str, Any]]:
    """Yield a line for each ranking of each mode, then one for the questions."""
    for row in report.rows:
        names = {"mode": row.mode, "ranking": row.ranking, "without": row.without}
        yield {"type": "retrieval", **names, **row.figures}
    yield {"type": "questions", **{name: value for name, value in asdict(report).items() if name != "rows"}}


def view_report(report: RetrievalReport) -> Iterator[RenderableType]:
    """Yield a table for each mode, with notes on the figures."""
    asked, gold = count_things(report.questions, "question"), count_things(report.gold, "right answer")
    yield style_words(f"{asked} with {gold}, asked of {', '.join(report.sources)} ({report.encoder})", "bold")
    for name, count in report.left_out.items():
        if count:
            yield style_words(f"  left out: {count:,} {name}", "yellow")
    for mode in dict.fromkeys(row.mode for row in report.rows):
        missing = report.gold_missing[mode]
        yield style_words(f"mode {mode}", "bold cyan")
        if missing:
            first = f"the first: {report.first_missing[mode]}"
            yield style_words(f"  {count_things(missing, 'right answer')} not in the graph ({first})", "yellow")
        rows = [_make_row(row.ranking, row.without, row.figures) for row in report.rows if row.mode == mode]
        yield make_table(COLUMNS, rows, right=COLUMNS[1:])
    yield style_words(LEGEND, "dim")
    for note in report.notes:
        yield style_words(note, "dim")


def _make_row(ranking: str, without: str, figures: Mapping[str, Any]) -> list[Any]:
    """Return the cells of one ranking, in two lines so that the table fits into a terminal."""
    shares = [_say_share(figures, name) for name in SHARES]
    unfit = f"\n{figures['nothing_fits']:,} unfit" if figures.get("nothing_fits") else ""
    gain = _say_share(figures, "mrr@10_over_bm25", "+") if "mrr@10_over_bm25" in figures else ""
    cells = [f"{ranking}\n{without}", *shares, gain, f"{figures['empty']:,}{unfit}", f"{figures['ms']:,.1f}"]
    return [style_words(cell.rstrip(), "dim" if without else "") for cell in cells]


def _say_share(figures: Mapping[str, Any], name: str, sign: str = "") -> str:
    low, high = figures[f"{name}_95%"]
    value = figures[name]
    return f"{value:{sign}.3f}\n±{max(value - low, high - value):.2f}"
