"""Render explorations as text for a person. Nothing here prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pkg.console.streams import style_words
from pkg.retrieval.explore import Exploration, write_exploration

if TYPE_CHECKING:
    from rich.console import RenderableType


def view_exploration(found: Exploration) -> Iterator[RenderableType]:
    """Render the text of an exploration and its notes."""
    if found.pieces and found.fits is False:
        yield "[bold yellow]nothing fits[/]; nearest, unlikely to help:"
    yield style_words(write_exploration(found) or "nothing found")
    for note in found.notes:
        yield style_words(note, "dim")
