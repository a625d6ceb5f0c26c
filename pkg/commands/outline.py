"""`pkg outline`: show files, classes and functions within a budget of tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from pkg.console.freshness_notes import open_answering, say_stale
from pkg.console.options import fresh_option, json_option, store_options
from pkg.console.settings import decode_option, source_setting
from pkg.console.streams import emit, style_words
from pkg.retrieval.outline_answer import count_things, format_definition, format_file, format_folder
from pkg.retrieval.query_options import OUTLINE_BUDGET
from pkg.service.operations import answer_lines

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.retrieval.outline_answer import CodeOutline


@click.command(epilog="Example:  pkg outline   or   pkg outline shop/cart.py   or   pkg outline shop --budget 500")
@click.argument("path", required=False, callback=decode_option)
@store_options
@source_setting(help="Outline only this source.")
@fresh_option
@click.option(
    "--budget",
    type=click.IntRange(0),
    default=OUTLINE_BUDGET,
    show_default=True,
    help="Token budget of the outline; 0 for no limit.",
)
@json_option
def outline(path: str | None, store: str, fresh: bool, source: str | None, budget: int, as_json: bool) -> None:
    """Outline the files, classes and functions of a source.

    PATH is a file or folder; without it, the whole source is outlined. The most imported files and the most called
    definitions have priority within the token budget.
    """
    with open_answering(store, fresh, source) as (graph, source):
        found = graph.outline(path, source=source, budget=budget)
        say_stale(found.stale)
    emit(as_json, answer_lines.outline_lines(found), lambda: view_outline(found))


def view_outline(outline: CodeOutline) -> Iterator[RenderableType]:
    """Render folders, files and definitions as the lines that were counted against the budget."""
    for folder in outline.folders:
        yield style_words(format_folder(folder), "bold")
    for file in outline.files:
        line = style_words(format_file(file), "bold cyan")
        yield line.append("  stale", "yellow") if file.is_stale else line
        for definition in file.definitions:
            yield style_words(format_definition(definition))
    files, definitions = outline.left_out_files, outline.left_out_definitions
    shown = f"{count_things(len(outline.files), 'file')}, about {count_things(outline.tokens, 'token')}"
    more = f"; {count_things(files, 'file')} and {count_things(definitions, 'definition')} left out; see --budget"
    yield style_words(shown + (more if files or definitions else ""), "dim")
