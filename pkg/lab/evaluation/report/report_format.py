"""A report as sections of tables and pictures, and its renderers: SVG, HTML and Markdown.

Pages have the colours of the page of a graph, and are self-contained, without scripts, fonts or pictures from
elsewhere. Pictures are readable without colour, and byte-identical on each run (P-35).
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Literal

from pkg.errors import MissingExtraError, PathError
from pkg.quoting.hidden_characters import spell_hidden, spell_line
from pkg.service.page.page_file import read_palette

NOTHING = "–"  # a missing figure

Mark = Literal["", "up", "down"]
"""Whether a figure is above or below that without context; "" for neither."""

# The palette of Okabe and Ito, distinct for all types of colour vision; each colour has a hatch and a marker.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
HATCHES = ("", "///", "...", "xx", "\\\\\\", "++", "oo", "--")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", "-.", ":")
DPI = 150  # of a PNG
PICTURE_STYLE: dict[Any, Any] = {
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

SIGNS = {"up": "▲", "down": "▼"}
"""Symbols that repeat the meaning of a mark's colour."""

PAGE_STYLE = """
:root { --soft: var(--raised); --up: light-dark(#dcefe6, #12402f); --down: light-dark(#fbe7cf, #54370d); }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; max-width: 76rem; margin: 0 auto;
  padding: 1rem; background: var(--bg); color: var(--text); overflow-wrap: anywhere; }
a { color: var(--accent); text-decoration: none; } a:hover { text-decoration: underline; }
h1 { font-size: 1.7rem; } h2 { font-size: 1.4rem; margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1.15rem; margin-top: 2rem; } h4 { font-size: 1rem; margin-top: 1.5rem; }
nav ul { list-style: none; padding: 0; } nav .in { padding-left: 1.2rem; }
.wide { overflow-x: auto; margin: 1rem 0 .3rem; background: var(--surface); border: 1px solid var(--line);
  border-radius: 10px; width: fit-content; max-width: 100%; } tr:last-child > * { border-bottom: 0; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
th, td { padding: .28rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th { background: var(--soft); vertical-align: bottom; }
th:first-child, td:first-child, .text th, .text td { text-align: left; }
thead th { white-space: normal; } table { overflow-wrap: normal; }
tbody th { background: var(--surface); font-weight: 500; position: sticky; left: 0; }
.text td { white-space: normal; min-width: 12rem; vertical-align: top; overflow-wrap: anywhere; }
.up { background: var(--up); } .down { background: var(--down); }
.sign { font-size: .6rem; padding-left: .25rem; }
.note, figcaption { color: var(--dim); font-size: .875rem; margin: .2rem 0 1rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 1rem; }
figure { margin: 0; } figure svg { display: block; width: 100%; height: auto; max-height: 34rem;
  background: #fff; border: 1px solid var(--line); border-radius: 10px; padding: .5rem; }
summary { cursor: pointer; font-weight: 600; margin-top: 1.5rem; }
"""


@dataclass(frozen=True, slots=True)
class Table:
    """One table; the first column names the rows, and marks, if any, has a mark for each further cell."""

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    marks: tuple[tuple[Mark, ...], ...] = ()
    is_text: bool = False  # whether the cells are words, not numbers


@dataclass(frozen=True, slots=True)
class Picture:
    """One figure: the name of its files, its caption, and the function that draws it."""

    name: str
    caption: str
    draw: Callable[[], Any]  # returns a matplotlib figure


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with its text, tables and pictures."""

    title: str
    level: int
    text: str = ""
    tables: tuple[Table, ...] = ()
    pictures: tuple[Picture, ...] = ()


def write_number(value: float | None, digits: int) -> str:
    """Format a number; a dash for None."""
    return NOTHING if value is None else f"{value:.{digits}f}"


def write_count(value: int | None) -> str:
    """Format a count; "" for None."""
    return "" if value is None else str(value)


def name_file(words: str) -> str:
    """Return words as a part of a file name and of an id: lower case, other characters as a hyphen."""
    return re.sub(r"[^a-z0-9.]+", "-", words.lower().replace("+", "-plus")).strip("-")


def new_figure(width: float, height: float) -> Any:
    """Create a figure of a size in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained", facecolor="white")


def _save(picture: Picture, target: Any, **options: Any) -> None:
    """Draw a picture in our style into a file; raises MissingExtraError without matplotlib."""
    try:
        from matplotlib import rc_context
    except ImportError as fault:
        raise MissingExtraError("matplotlib", "eval", "a figure") from fault
    with rc_context(PICTURE_STYLE):
        picture.draw().savefig(target, **options)


def render_svg(picture: Picture) -> str:
    """Draw a figure as SVG without dates; ids begin with its name, so that a page can hold several."""
    written = io.StringIO()
    _save(picture, written, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    svg = re.sub(r'\bid="', f'id="{picture.name}-', written.getvalue())
    return re.sub(r'(url\(#|href="#)', rf"\g<1>{picture.name}-", svg)


def save_picture(picture: Picture, folder: Path) -> None:
    """Write a figure as PNG and SVG into a folder, created if missing; raises PathError if that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _save(picture, folder / f"{picture.name}.png", dpi=DPI, metadata={"Software": None})
        (folder / f"{picture.name}.svg").write_text(render_svg(picture), encoding="utf-8")
    except OSError as fault:
        raise PathError(f"cannot write the figure {picture.name} into {folder}: {fault.strerror}") from None


def write_report(
    title: str,
    sections: Sequence[Section],
    page: str | os.PathLike[str] | None = None,
    figures: str | os.PathLike[str] | None = None,
) -> None:
    """Write a report as one HTML page, and its figures as PNG and SVG into a folder, each if it is named.

    Raises MissingExtraError without matplotlib, PathError if a file cannot be written.
    """
    if figures is not None:
        for picture in (each for section in sections for each in section.pictures):
            save_picture(picture, Path(figures))
    if page is not None:
        text = render_html(title, sections)
        try:
            Path(page).write_text(text, encoding="utf-8")
        except OSError as fault:
            raise PathError(f"cannot write the page {page}: {fault.strerror}") from None


def render_page(title: str, body: str, style: str = "", policy: str = "") -> str:
    """Render the shell of a page around its body; policy: content security policy, if any."""
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n' if policy else ""
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n{head}'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{read_palette()}{PAGE_STYLE}{style}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
        f"{body}\n</body>\n</html>\n"
    )


def render_html(title: str, sections: Sequence[Section]) -> str:
    """Render a report as one page, with figures; raises MissingExtraError without matplotlib."""
    lines = "\n".join(
        f'<li{" class=in" if section.level > 2 else ""}><a href="#s{number}">{_escape(section.title)}</a></li>'
        for number, section in enumerate(sections)
        if section.level < 4
    )
    parts = "\n".join(part for number, section in enumerate(sections) for part in _render_section(number, section))
    contents = f'<nav aria-label="Contents"><ul>\n{lines}\n</ul></nav>'
    return render_page(title, f"{contents}\n<main>\n{parts}\n</main>")


def _render_section(number: int, section: Section) -> Iterator[str]:
    """Yield the parts of one section; sections of a level above 3 are folded."""
    tables = list(map(render_html_table, section.tables))
    if section.level > 3:
        yield f'<details id="s{number}"><summary>{_escape(section.title)}</summary>'
        yield f"<p>{_escape(section.text)}</p>"
        yield from (*tables, "</details>")
        return
    yield f'<section>\n<h{section.level} id="s{number}">{_escape(section.title)}</h{section.level}>'
    if section.text:
        yield f"<p>{_escape(section.text)}</p>"
    yield from tables[:1]
    if section.pictures:
        yield f'<div class="figures">\n{chr(10).join(map(_render_picture, section.pictures))}\n</div>'
    yield from tables[1:]
    yield "</section>"


def render_html_table(table: Table) -> str:
    """Render a table, which scrolls sideways if it is wider than the page."""
    head = "".join(f'<th scope="col">{_escape(name)}</th>' for name in table.names)
    marks = table.marks or ((),) * len(table.rows)
    rows = "\n".join(_render_row(row, each) for row, each in zip(table.rows, marks, strict=True))
    kind = ' class="text"' if table.is_text else ""
    note = f'<p class="note">{_escape(table.note)}</p>' if table.note else ""
    return (
        f'<div class="wide" tabindex="0"><table{kind}><thead><tr>{head}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table></div>{note}"
    )


def _render_row(row: Sequence[str], marks: Sequence[Mark]) -> str:
    cells = "".join(_render_cell(cell, marks[place] if marks else "") for place, cell in enumerate(row[1:]))
    return f'<tr><th scope="row">{_escape(row[0])}</th>{cells}</tr>'


def _render_cell(cell: str, mark: Mark) -> str:
    if not mark:
        return f"<td>{_escape(cell)}</td>"
    return f'<td class="{mark}">{_escape(cell)}<span class="sign">{SIGNS[mark]}</span></td>'


def _render_picture(picture: Picture) -> str:
    svg = render_svg(picture)
    svg = svg[svg.index("<svg ") :].replace("<svg ", f'<svg role="img" aria-label="{_escape(picture.caption)}" ', 1)
    return f"<figure>{svg}<figcaption>{_escape(picture.caption)}</figcaption></figure>"


def _escape(text: str) -> str:
    return escape(spell_hidden(text))


def render_markdown(sections: Iterable[Section], link: Callable[[Picture], str] | None = None) -> str:
    """Render a report as Markdown; link: returns the address of a picture; without it there are no pictures."""
    parts: list[str] = []
    for section in sections:
        parts += [f"{'#' * section.level} {spell_line(section.title)}", spell_hidden(section.text)]
        for table in section.tables:
            parts += [render_markdown_table(table), spell_hidden(table.note)]
        if link is not None:
            parts += [f"![{picture.caption}]({link(picture)})" for picture in section.pictures]
    return "\n\n".join(filter(None, parts)) + "\n"


def render_markdown_table(table: Table) -> str:
    """Render a table as Markdown; numbers are aligned to the right, except in the first column."""
    rule = ["---", *("---" if table.is_text else "---:" for _ in table.names[1:])]
    cells = [
        [" ".join(spell_hidden(cell).replace("|", "\\|").split()) for cell in row] for row in (table.names, *table.rows)
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in (cells[0], rule, *cells[1:]))
