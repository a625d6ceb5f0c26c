"""`pkg corpus`: write the rows, and report their sources and the rows left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from pkg.api import write_corpus
from pkg.console.options import json_option
from pkg.console.settings import decode_option, decode_options
from pkg.console.streams import emit, style_words
from pkg.console.tables import make_table
from pkg.errors import count_things

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.extract.recipe.corpus_recipe import CorpusReport


SHOWN_SKIPPED = 20  # sources in the table; JSON output lists all


@click.command(epilog="Example:  pkg corpus click rich wheels/ -o helpers.jsonl   and then:  pkg build helpers.jsonl")
@click.argument("paths", metavar="FILE|FOLDER|NAME...", nargs=-1, required=True, callback=decode_options)
@click.option(
    "--output", "-o", required=True, callback=decode_option, metavar="OUT.jsonl", help="Output file of the rows."
)
@click.option(
    "--docstrings/--no-docstrings",
    default=True,
    help="Keep the docstrings of packages in the code (default), or only in the instruction of a row.",
)
@click.option("--documented", is_flag=True, help="Take only functions of packages that have a docstring.")
@click.option("--any-licence", is_flag=True, help="Take packages of any licence, at your own responsibility.")
@click.option(
    "--licence", callback=decode_option, metavar="NAME", help="Licence of rows without one. Default: unknown."
)
@json_option
def corpus(paths: tuple[str, ...], output: str, as_json: bool, **options: Any) -> None:
    """Write a corpus for pkg build from rows and packages.

    Each row has its source and licence. Rows without Python are dropped from a file of rows (.jsonl, .json, .csv, each
    also .gz, or .parquet), such as PythonAlpaca with instruction, input and output. A wheel, a source distribution, a
    folder of these or of code, or the NAME of an installed package gives a row for each function, if its licence is
    permissive. Equal answers are written once.
    """
    report = write_corpus(paths, output, **options)
    emit(as_json, [{"type": "corpus", "output": output, **asdict(report)}], lambda: view_corpus(report, output))


def view_corpus(report: CorpusReport, output: str) -> Iterator[RenderableType]:
    """Render the number of rows by source, and of rows left out by reason."""
    yield style_words(f"{count_things(report.rows, 'row')} in {output}", "bold")
    sources, licences = (
        sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])) for counts in (report.sources, report.licences)
    )
    rows = [(source, f"{count:,}") for source, count in sources[:SHOWN_SKIPPED]]
    if len(sources) > SHOWN_SKIPPED:
        rest = sum(count for _, count in sources[SHOWN_SKIPPED:])
        rows.append((f"{len(report.sources) - SHOWN_SKIPPED:,} more", f"{rest:,}"))
    yield make_table(("source", "rows"), rows, right=("rows",))
    yield style_words("licences: " + ", ".join(f"{name} {count:,}" for name, count in licences))
    for count, what in (
        (report.duplicates, "with an answer that came before"),
        (report.without_python, "without Python"),
        (report.undocumented, "without docstring"),
    ):
        if count:
            yield style_words(f"left out: {count_things(count, 'row')} {what}", "dim")
    if report.unreadable:
        yield style_words(f"left out: {report.unreadable:,} unreadable, such as {report.first_unreadable[0]}", "yellow")
    for name, licence in report.refused.items():
        yield style_words(f"refused: {name}, licence {licence}; --any-licence takes it", "yellow")
