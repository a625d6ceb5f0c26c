"""Render code that was requested by name or place as text for a person."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pkg.console.streams import style_words
from pkg.console.tables import HEAD_MARGIN, WRITTEN, number_code
from pkg.console.trees import view_deps
from pkg.quoting.hidden_characters import spell_line
from pkg.retrieval.outline_answer import count_things, format_definition, format_file, format_folder

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.retrieval.outline_answer import CodeOutline
    from pkg.retrieval.show import Definition, Shown


def view_show(shown: Shown) -> Iterator[RenderableType]:
    """Render each definition with its place and numbered lines, then its callers and dependencies as a tree."""
    for definition in shown.definitions:
        yield from _view_definition(definition)
    yield from view_deps(shown.links)


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


def view_outline(outline: CodeOutline) -> Iterator[RenderableType]:
    """Render folders, files and definitions as the lines that were counted against the budget."""
    for folder in outline.folders:
        yield style_words(format_folder(folder), "bold")
    for file in outline.files:
        line = style_words(format_file(file), "bold cyan")
        yield line.append("  stale", "yellow") if file.is_stale else line
        for definition in file.definitions:
            yield style_words(format_definition(definition))
    files, definitions = outline.left_out_files, outline.left_out_definitions
    shown = f"{count_things(len(outline.files), 'file')}, about {count_things(outline.tokens, 'token')}"
    more = f"; {count_things(files, 'file')} and {count_things(definitions, 'definition')} left out, see --budget"
    yield style_words(shown + (more if files or definitions else ""), "dim")
