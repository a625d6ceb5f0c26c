"""Tables and highlighted code for terminals. Nothing here prints."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from pkg.console.streams import style_words
from pkg.quoting.hidden_characters import spell_hidden, spell_line

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text


WRITTEN = ("fim", "template")  # sources of docstrings that are not in the code
SHOWN_SKIPS = 10  # skipped items; JSON output lists all
HEAD_MARGIN = " " * 7  # the width of line numbers


def number_code(content: str, first: int) -> Text:
    """Highlight all lines of code with their numbers."""
    return join_numbered(enumerate(highlight(content), first))


def highlight(content: str, language: str = "python") -> list[Text]:
    """Highlight code, aligned at the margin: one text for each line."""
    from rich.syntax import Syntax

    from pkg.generation.aligned_code import align_code

    text = spell_hidden(align_code(content))
    return list(Syntax("", language, theme="ansi_dark", background_color="default").highlight(text).split("\n"))


def join_numbered(lines: Iterable[tuple[int, Text]]) -> Text:
    """Join lines, each after its number."""
    from rich.text import Text

    view = Text()
    for number, line in lines:
        view.append(f"{number:>6} ", "dim").append_text(line).append("\n")
    return view


def make_table(headers: Sequence[str], rows: Iterable[Sequence[str | Text]], right: Collection[str] = ()) -> Table:
    """Build a table, the named columns aligned right; cells wrap, because a path or command must stay complete."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", show_header=any(headers))
    for header in headers:
        table.add_column(style_words(header), justify="right" if header in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(style_words(cell) if isinstance(cell, str) else cell for cell in row))
    return table


def escape_markup(text: str) -> str:
    """Escape markup of rich, and spell out hidden characters, in one line of text."""
    from rich.markup import escape

    return escape(spell_line(text))
