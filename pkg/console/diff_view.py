"""Render the differences of two code graphs: JSON-ready lines for programs, text for people. Nothing here prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Any

from pkg.console.streams import style_words
from pkg.errors import count_things
from pkg.graph.code_diff import CodeDiff, DefinitionChange
from pkg.quoting.hidden_characters import spell_line

if TYPE_CHECKING:
    from rich.console import RenderableType

_STYLES = {"added": "green", "removed": "red", "changed": "yellow", "moved": "cyan", "gained": "green", "lost": "red"}
_WORDS = {"CALLS": "calls", "INHERITS": "inherits from", "OVERRIDES": "overrides"}


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
        yield style_words(f"left out: {left_out:,}; --limit 0 shows all", "dim")
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
