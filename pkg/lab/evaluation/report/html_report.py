"""Write a report as one self-contained HTML page, without scripts, fonts or pictures from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from pkg.lab.evaluation.code.code_report import CodeReport
from pkg.lab.evaluation.report.drawing import Picture, render_svg
from pkg.lab.evaluation.report.report_sections import Section, list_sections
from pkg.lab.evaluation.report.report_table import Mark, Table
from pkg.quoting.hidden_characters import spell_hidden

TITLE = "Evaluation of generated code"
SIGNS = {"up": "▲", "down": "▼"}
"""Symbols that repeat the meaning of a mark's colour."""

STYLE = """
:root { color-scheme: light dark; --line: #d0d4da; --soft: #f3f5f7; --dim: #59636e; --up: #dcefe6; --down: #fbe7cf; }
@media (prefers-color-scheme: dark) {
  :root { --line: #3d444d; --soft: #1c2128; --dim: #9aa4b0; --up: #12402f; --down: #54370d; }
}
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 0 auto; padding: 1rem;
  background: Canvas; color: CanvasText; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; } h2 { font-size: 1.4rem; margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1.15rem; margin-top: 2rem; } h4 { font-size: 1rem; margin-top: 1.5rem; }
nav ul { list-style: none; padding: 0; } nav .in { padding-left: 1.2rem; }
.wide { overflow-x: auto; margin: 1rem 0 .3rem; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
th, td { padding: .28rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th { background: var(--soft); vertical-align: bottom; }
th:first-child, td:first-child, .text th, .text td { text-align: left; }
thead th { white-space: normal; } table { overflow-wrap: normal; }
tbody th { background: Canvas; font-weight: 500; position: sticky; left: 0; }
.text td { white-space: normal; min-width: 12rem; vertical-align: top; overflow-wrap: anywhere; }
.up { background: var(--up); } .down { background: var(--down); }
.sign { font-size: .6rem; padding-left: .25rem; }
.note, figcaption { color: var(--dim); font-size: .875rem; margin: .2rem 0 1rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 1rem; }
figure { margin: 0; } figure svg { display: block; width: 100%; height: auto; max-height: 34rem;
  background: #fff; border: 1px solid var(--line); border-radius: 6px; padding: .5rem; }
summary { cursor: pointer; font-weight: 600; margin-top: 1.5rem; }
"""


def write_page(reports: Sequence[CodeReport]) -> str:
    """Write the report of the runs as one page, with figures; raises MissingExtraError without matplotlib."""
    sections = list(list_sections(reports))
    body = "\n".join(part for number, section in enumerate(sections) for part in _write_section(number, section))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{TITLE}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{TITLE}</h1>\n"
        f"{_write_contents(sections)}\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _write_contents(sections: Sequence[Section]) -> str:
    lines = [
        f'<li{" class=in" if section.level > 2 else ""}><a href="#s{number}">{_escape(section.title)}</a></li>'
        for number, section in enumerate(sections)
        if section.level < 4
    ]
    return f'<nav aria-label="Contents"><ul>\n{chr(10).join(lines)}\n</ul></nav>'


def _write_section(number: int, section: Section) -> Iterator[str]:
    """Write one section; sections of a level above 3 are folded."""
    tables = list(map(write_table, section.tables))
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
        yield f'<div class="figures">\n{chr(10).join(map(_write_picture, section.pictures))}\n</div>'
    yield from tables[1:]
    yield "</section>"


def write_table(table: Table) -> str:
    """Write a table, which scrolls sideways if it is wider than the page."""
    head = "".join(f'<th scope="col">{_escape(name)}</th>' for name in table.names)
    marks = table.marks or ((),) * len(table.rows)
    rows = "\n".join(_write_row(row, each) for row, each in zip(table.rows, marks, strict=True))
    kind = ' class="text"' if table.is_text else ""
    note = f'<p class="note">{_escape(table.note)}</p>' if table.note else ""
    return (
        f'<div class="wide" tabindex="0"><table{kind}><thead><tr>{head}</tr></thead>\n'
        f"<tbody>{rows}</tbody></table></div>{note}"
    )


def _write_row(row: Sequence[str], marks: Sequence[Mark]) -> str:
    cells = "".join(_write_cell(cell, marks[place] if marks else "") for place, cell in enumerate(row[1:]))
    return f'<tr><th scope="row">{_escape(row[0])}</th>{cells}</tr>'


def _write_cell(cell: str, mark: Mark) -> str:
    if not mark:
        return f"<td>{_escape(cell)}</td>"
    return f'<td class="{mark}">{_escape(cell)}<span class="sign">{SIGNS[mark]}</span></td>'


def _write_picture(picture: Picture) -> str:
    svg = render_svg(picture)
    svg = svg[svg.index("<svg ") :].replace("<svg ", f'<svg role="img" aria-label="{_escape(picture.caption)}" ', 1)
    return f"<figure>{svg}<figcaption>{_escape(picture.caption)}</figcaption></figure>"


def _escape(text: str) -> str:
    return escape(spell_hidden(text))
