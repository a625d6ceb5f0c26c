"""`pkg diff`: compare two states of code."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from pkg.api import diff_graphs
from pkg.console.link_options import limit_option
from pkg.console.options import json_option
from pkg.console.progress import listen_to_build
from pkg.console.settings import decode_option, decode_options
from pkg.console.streams import emit, style_words
from pkg.errors import count_things
from pkg.graph.code_diff import CodeDiff, DefinitionChange
from pkg.quoting.hidden_characters import spell_line

if TYPE_CHECKING:
    from rich.console import RenderableType


_STYLES = {"added": "green", "removed": "red", "changed": "yellow", "moved": "cyan", "gained": "green", "lost": "red"}

_WORDS = {"CALLS": "calls", "INHERITS": "inherits from", "OVERRIDES": "overrides"}


@click.command(epilog="Example:  pkg diff HEAD~1 HEAD   or   pkg diff ~/src/shop@v1.2 ~/src/shop")
@click.argument("a", callback=decode_option)
@click.argument("b", callback=decode_option)
@click.option(
    "--source",
    "sources",
    multiple=True,
    callback=decode_options,
    metavar="NAME",
    help="Source to compare; given twice, those of A and of B.",
)
@limit_option
@json_option
def diff(a: str, b: str, sources: tuple[str, ...], limit: int, as_json: bool) -> None:
    """Compare the code of two revisions, folders or graphs.

    Lists functions, classes, constants and links by file. A and B are git revisions of the current folder, inputs of
    pkg build (FOLDER@REV, a folder, an archive), or addresses of graphs. Graphs of revisions and inputs are built in a
    temporary folder.
    """
    chosen = (sources[0], sources[-1]) if sources else (None, None)
    with listen_to_build(False) as (listener, close_bar):
        found = diff_graphs(name_side(a), name_side(b), source=chosen, listener=listener)
        close_bar()
    emit(as_json, diff_lines(found), lambda: view_diff(found, limit))


def name_side(side: str) -> str:
    """Return a side unchanged if it is an address or a path; otherwise as a git revision of the current folder."""
    return side if "://" in side or "@" in side or os.path.lexists(side) else f".@{side}"


def diff_lines(found: CodeDiff) -> Iterator[dict[str, Any]]:
    """Yield one line for each changed definition, one for each changed link, and one with the counts."""
    for definition in found.definitions:
        yield {"type": "definition", **asdict(definition)}
    for link in found.links:
        yield {"type": "link", "how": link.how, "relation": link.type, "start": link.start, "end": link.end}
    yield {"type": "diff", "a": found.a, "b": found.b, "same": found.same, **found.count()}


def view_diff(found: CodeDiff, limit: int) -> Iterator[RenderableType]:
    """Render the changes file by file, then the links, at most `limit` of each; 0 for all."""
    shown, ties = _cut(found.definitions, limit), _cut(found.links, limit)
    yield from _view_definitions(shown)
    for how, links in groupby(ties, key=lambda each: each.how):
        yield style_words(f"links {how}", "bold")
        for link in links:
            yield style_words(spell_line(f"  {link.start} {_WORDS[link.type]} {link.end}"), _STYLES[how])
    left_out = len(found.definitions) + len(found.links) - len(shown) - len(ties)
    if left_out:
        yield style_words(f"and {left_out:,} more; see --limit", "dim")
    counts = ", ".join(f"{number:,} {how}" for how, number in found.count().items()) or "nothing differs"
    yield style_words(f"{found.a} -> {found.b}: {counts}; {count_things(found.same, 'definition')} the same")


def _view_definitions(changes: Sequence[DefinitionChange]) -> Iterator[RenderableType]:
    for path, of_file in groupby(changes, key=lambda each: each.path):
        yield style_words(spell_line(path), "bold")
        for each in of_file:
            origin = f" from {each.from_path}::{each.from_qualname}" if each.from_path else ""
            words = f"  {each.how} {each.label.lower()} {each.qualname} (line {each.line}){origin}"
            yield style_words(spell_line(words), _STYLES[each.how])


def _cut(changes: Sequence[Any], limit: int) -> Sequence[Any]:
    return changes[:limit] if limit else changes
