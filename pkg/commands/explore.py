"""`pkg explore`: show the code that matters to a question, and how it hangs together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from pkg.console.freshness_notes import open_answering, say_stale
from pkg.console.options import fresh_option, json_option, store_options, where_options
from pkg.console.settings import decode_option, source_setting
from pkg.console.streams import NOTHING_FITS, emit, read_text, style_words
from pkg.retrieval.explore import Exploration, write_exploration
from pkg.retrieval.query_options import ExploreOptions
from pkg.service.operations import answer_lines

if TYPE_CHECKING:
    from rich.console import RenderableType


EXPLORE = ExploreOptions()


@click.command(epilog='Example:  pkg explore "how is the width of a table column decided"')
@click.argument("text", callback=decode_option)
@store_options
@click.option(
    "--budget",
    "tokens",
    type=click.IntRange(0),
    default=EXPLORE.budget,
    show_default=True,
    help="Token budget of the output; 0 for no limit.",
)
@source_setting(help="Search only this source.")
@fresh_option
@where_options
@json_option
def explore(text: str, store: str, fresh: bool, as_json: bool, **options: Any) -> None:
    """Show how something works: relevant code and its connections.

    The output has functions, classes and constants with their places, the calls between them, their callers and the
    names they use, within a token budget; - reads TEXT from standard input.
    """
    text = read_text(text)
    with open_answering(store, fresh, options["source"]) as (graph, options["source"]):
        found = graph.explore(text, budget=options.pop("tokens"), **options)
        say_stale(found.stale)
    emit(as_json, answer_lines.explore_lines(found), lambda: view_exploration(found))


def view_exploration(found: Exploration) -> Iterator[RenderableType]:
    """Render the text of an exploration and its notes."""
    if found.pieces and found.fits is False:
        yield NOTHING_FITS
    yield style_words(write_exploration(found) or "nothing found")
    for note in found.notes:
        yield style_words(note, "dim")
