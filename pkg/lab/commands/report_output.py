"""Options and output of commands that write a report: tables for a person, a page, and files of figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from pkg.console.progress import say
from pkg.console.settings import combine, decode_option
from pkg.console.streams import style_words
from pkg.console.tables import make_table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.lab.evaluation.report.report_format import Section

report_options = combine(
    click.option(
        "--html", "page", callback=decode_option, metavar="FILE", help="Write a page with all tables and figures."
    ),
    click.option(
        "--figures", callback=decode_option, metavar="FOLDER", help="Write the figures as PNG and SVG."
    ),
)  # fmt: skip
"""The options of a page and of figures."""


def write_files(title: str, sections: Sequence[Section], page: str | None, figures: str | None) -> None:
    """Write the page and the figures that were requested, and report where they are."""
    from pkg.lab.evaluation.report.report_format import write_report

    write_report(title, sections, page, figures)
    for path in filter(None, (page, figures)):
        say(f"written: {path}")


def view_sections(sections: Iterable[Section]) -> Iterator[RenderableType]:
    """Yield the headings, tables and notes of a report."""
    for section in sections:
        yield style_words(section.title, "bold")
        if section.text:
            yield style_words(section.text, "dim")
        for table in section.tables:
            yield make_table(table.names, table.rows, right=() if table.is_text else table.names[1:])
            if table.note:
                yield style_words(table.note, "dim")
