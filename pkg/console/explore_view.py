"""Show explorations: as JSON-ready lines for a program, as one text for a person. Nothing here prints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pkg.console.streams import style_words
from pkg.retrieval.explore import Exploration, write_exploration

if TYPE_CHECKING:
    from rich.console import RenderableType


def explore_lines(found: Exploration) -> Iterator[dict[str, Any]]:
    """Give one line a piece, then one a call, caller or use, then what was left out and how much was shown."""
    for piece in found.pieces:
        yield {"type": "piece", **asdict(piece)}
    for name, ties in (("call", found.calls), ("caller", found.callers), ("use", found.uses)):
        for tie in ties:
            yield {"type": name, **asdict(tie)}
    left_out = [asdict(place) for place in found.left_out]
    yield {
        "type": "coverage",
        "fits": found.fits,
        "tokens": found.tokens,
        "left_out": left_out,
        "notes": list(found.notes),
        "stale": [asdict(each) for each in found.stale],
    }


def view_exploration(found: Exploration) -> Iterator[RenderableType]:
    """Show the text of an exploration, and what is to be said of it."""
    if found.pieces and found.fits is False:
        yield "[bold yellow]nothing fits[/]; nearest, unlikely to help:"
    yield style_words(write_exploration(found) or "nothing found")
    for note in found.notes:
        yield style_words(note, "dim")
