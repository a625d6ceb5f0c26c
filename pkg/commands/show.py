"""`pkg show`: show the source of a definition with its callers and dependencies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from pkg.console.freshness_notes import open_answering, say_stale
from pkg.console.options import explain_option, fresh_option, json_option, store_options
from pkg.console.settings import decode_option, source_setting
from pkg.console.streams import emit, style_words
from pkg.console.tables import HEAD_MARGIN, WRITTEN, number_code
from pkg.console.trees import view_deps
from pkg.quoting.hidden_characters import spell_line
from pkg.retrieval.deps.answer import SHOWN_LINKS
from pkg.service.operations.deps_lines import show_lines

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.retrieval.show import Definition, Shown


@click.command(epilog="Example:  pkg show Cart.total   or   pkg show shop/cart.py:12 --limit 0")
@click.argument("name", callback=decode_option)
@store_options
@source_setting(help="Search only this source.")
@fresh_option
@click.option(
    "--limit",
    type=click.IntRange(0),
    default=SHOWN_LINKS,
    show_default=True,
    help="Maximum number of links of each kind; 0 for all.",
)
@explain_option
@json_option
def show(name: str, store: str, fresh: bool, source: str | None, limit: int, explain: bool, as_json: bool) -> None:
    """Show the source of NAME with its callers and callees.

    NAME is as for pkg deps: path:line, path::Class.method, a dotted module, a qualified name or a bare one.
    """
    with open_answering(store, fresh, source) as (graph, source):
        shown = graph.show(name, source=source, limit=limit)
        say_stale(shown.links.coverage.stale)
    emit(as_json, show_lines(shown), lambda: view_show(shown, explain))


def view_show(shown: Shown, explain: bool = False) -> Iterator[RenderableType]:
    """Render each definition with its place and numbered lines, then its callers and dependencies as a tree.

    explain: add every count of the answer.
    """
    for definition in shown.definitions:
        yield from _view_definition(definition)
    yield from view_deps(shown.links, explain)


def _view_definition(definition: Definition) -> Iterator[RenderableType]:
    title = style_words(f"{definition.path}:{definition.start_line}-{definition.end_line}", "bold")
    title.append(f"  {definition.kind or definition.label.lower()} ", "dim")
    title.append(spell_line(definition.qualname), "bold cyan").append(f"  {spell_line(definition.source)}", "dim")
    yield title.append("  stale", "yellow") if definition.is_stale else title
    if definition.class_header:
        yield style_words(f"{HEAD_MARGIN}{definition.class_header}", "dim")
    if definition.docstring and definition.docstring_source in WRITTEN:  # one from the source is part of the code
        yield style_words(f"{definition.docstring}\n({definition.docstring_source})", "dim italic")
    yield number_code(definition.content, definition.start_line)
