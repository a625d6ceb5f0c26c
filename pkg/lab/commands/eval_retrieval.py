"""`pkg eval retrieval`: ask the questions with a progress bar, and write a line or row for each ranking."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any, get_args

import click

from pkg.api import open_graph
from pkg.console.options import json_option, store_options
from pkg.console.progress import ProgressBar
from pkg.console.settings import decode_option, source_setting
from pkg.console.streams import choose_ask, emit
from pkg.lab.console.retrieval_tables import report_lines, view_report
from pkg.lab.evaluation.retrieval.evaluation_options import EvaluatedMode, RankingName
from pkg.lab.lab_api import evaluate_retrieval


def file_option(flag: str, help: str) -> Callable[..., Any]:
    """Return a required option whose value is a file."""
    return click.option(flag, required=True, callback=decode_option, metavar="FILE", help=help)


@click.command("retrieval", epilog="Example:  pkg eval retrieval --queries queries.jsonl --qrels qrels.tsv")
@store_options
@file_option("--queries", "Questions: JSON lines with _id and text, or .gz.")
@file_option("--qrels", "Right answers: query-id, corpus-id and score, tab-separated, or .gz.")
@click.option("--limit", type=click.IntRange(1), help="Number of questions, from the first of the file.")
@click.option(
    "--mode",
    "modes",
    multiple=True,
    type=click.Choice(get_args(EvaluatedMode)),
    help="Mode to measure. Repeatable. Default: functions, blocks, and files if there are any.",
)
@click.option(
    "--ranking",
    "rankings",
    multiple=True,
    type=click.Choice(get_args(RankingName)),
    help="Ranking to measure. Repeatable. Default: all; bm25 needs the extra eval.",
)
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
