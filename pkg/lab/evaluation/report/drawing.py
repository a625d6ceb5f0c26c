"""Draw figures with matplotlib, readable without colour and byte-identical on each run (P-35)."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pkg.errors import MissingExtraError, PathError

# The palette of Okabe and Ito, distinct for all types of colour vision; each colour has a hatch and a marker.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
HATCHES = ("", "///", "...", "xx", "\\\\\\", "++", "oo", "--")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", "-.", ":")
DPI = 150  # of a PNG
STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # included in matplotlib
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "svg.fonttype": "none",  # keep text as text
    "svg.hashsalt": "pkg",
}


@dataclass(frozen=True, slots=True)
class Picture:
    """One figure: the name of its files, its caption, and the function that draws it."""

    name: str
    caption: str
    draw: Callable[[], Any]  # returns a matplotlib figure


def new_figure(width: float, height: float) -> Any:
    """Create a figure of a size in inches; raises MissingExtraError without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError as fault:
        raise MissingExtraError("matplotlib", "eval", "a figure") from fault
    return Figure(figsize=(width, height), layout="constrained", facecolor="white")


@contextmanager
def _use_style() -> Iterator[None]:
    try:
        from matplotlib import rc_context
    except ImportError as fault:
        raise MissingExtraError("matplotlib", "eval", "a figure") from fault
    with rc_context(STYLE):
        yield


def render_svg(picture: Picture) -> str:
    """Draw a figure as SVG without dates; ids begin with its name, so that a page can hold several."""
    written = io.StringIO()
    with _use_style():
        picture.draw().savefig(written, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    svg = written.getvalue()
    svg = re.sub(r'\bid="', f'id="{picture.name}-', svg)
    return re.sub(r'(url\(#|href="#)', rf"\g<1>{picture.name}-", svg)


def save_picture(picture: Picture, folder: Path) -> list[Path]:
    """Write a figure as PNG and SVG into a folder, created if missing; raises PathError if that fails."""
    png, svg = folder / f"{picture.name}.png", folder / f"{picture.name}.svg"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _use_style():
            picture.draw().savefig(png, dpi=DPI, metadata={"Software": None})
        svg.write_text(render_svg(picture), encoding="utf-8")
    except OSError as fault:
        raise PathError(f"cannot write the figure {picture.name} into {folder}: {fault.strerror}") from None
    return [png, svg]


def wrap(text: str, width: int) -> str:
    """Break a label into lines."""
    return "\n".join(textwrap.wrap(text, width))
