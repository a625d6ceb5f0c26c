"""Run `pkg corpus`: write the rows, and report their sources and the rows left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pkg.api import write_corpus
from pkg.console.streams import emit, style_words
from pkg.console.tables import make_table
from pkg.errors import count_things

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.extract.recipe.corpus_recipe import CorpusReport

SHOWN = 20  # sources in the table; JSON output lists all


def run_corpus(paths: Sequence[str], output: str, as_json: bool, options: dict[str, Any]) -> None:
    """Build a corpus and print a report."""
    report = write_corpus(paths, output, **options)
    emit(as_json, [{"type": "corpus", "output": output, **asdict(report)}], lambda: view_corpus(report, output))


def view_corpus(report: CorpusReport, output: str) -> Iterator[RenderableType]:
    """Render the number of rows by source, and of rows left out by reason."""
    yield style_words(f"{count_things(report.rows, 'row')} in {output}", "bold")
    sources, licences = (
        sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])) for counts in (report.sources, report.licences)
    )
    rows = [(source, f"{count:,}") for source, count in sources[:SHOWN]]
    if len(sources) > SHOWN:
        rest = sum(count for _, count in sources[SHOWN:])
        rows.append((f"{len(report.sources) - SHOWN:,} more", f"{rest:,}"))
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
