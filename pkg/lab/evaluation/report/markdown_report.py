"""Write a report as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from pkg.lab.evaluation.code.code_report import CodeReport
from pkg.lab.evaluation.report.drawing import Picture
from pkg.lab.evaluation.report.report_sections import list_sections
from pkg.quoting.hidden_characters import spell_hidden, spell_line


def write_markdown(reports: Sequence[CodeReport], link: Callable[[Picture], str] | None = None) -> str:
    """Write a report as Markdown; link: returns the address of a picture; without it there are no pictures."""
    parts: list[str] = []
    for section in list_sections(reports):
        parts += [f"{'#' * section.level} {spell_line(section.title)}", spell_hidden(section.text)]
        for table in section.tables:
            parts += [write_table(table.names, table.rows, table.is_text), spell_hidden(table.note)]
        if link is not None:
            parts += [f"![{picture.caption}]({link(picture)})" for picture in section.pictures]
    return "\n\n".join(filter(None, parts)) + "\n"


def write_table(names: Sequence[str], rows: Iterable[Sequence[str]], is_text: bool = False) -> str:
    """Write a table as Markdown; numbers are aligned to the right, except in the first column."""
    side = "---" if is_text else "---:"
    rule = ["---", *(side for _ in names[1:])]
    lines = [*map(_escape, names)], rule, *([_escape(cell) for cell in row] for row in rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _escape(cell: str) -> str:
    return " ".join(spell_hidden(cell).replace("|", "\\|").split())
