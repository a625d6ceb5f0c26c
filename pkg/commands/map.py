"""`pkg map`: show the imports between the folders or files of a source, and their cycles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pkg.console.freshness_notes import open_answering, say_stale
from pkg.console.options import fresh_option, json_option, page_option, store_options
from pkg.console.settings import decode_option, source_setting
from pkg.console.streams import emit, emit_page, style_words
from pkg.console.tables import make_table
from pkg.errors import count_things
from pkg.quoting.hidden_characters import spell_line
from pkg.service.operations.map_lines import map_lines
from pkg.service.page.page_file import render_map_page, write_page

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.retrieval.deps.package_map import MapImport, PackageMap


SHOWN_IMPORTS = 6  # imports listed for each folder; JSON output lists all


@click.command("map", epilog="Example:  pkg map   or   pkg map shop --files   or   pkg map --html map.html")
@click.argument("path", required=False, callback=decode_option)
@store_options
@source_setting(help="Map only this source.")
@fresh_option
@click.option("--files", "with_files", is_flag=True, help="Show files and their imports instead of folders.")
@page_option
@json_option
def show_map(
    path: str | None, store: str, fresh: bool, source: str | None, with_files: bool, page: Path | None, as_json: bool
) -> None:
    """Map the imports between folders, and their cycles.

    Maps the folders of PATH, or of the whole source. Folders with the same number in the column of cycles import each
    other directly or indirectly; imports within a cycle have a star.
    """
    with open_answering(store, fresh, source) as (graph, source):
        if page is not None:
            written = render_map_page(graph, path, source)
            say_stale(written.stale)
            emit_page(write_page(page, written.text), as_json)
            return
        found = graph.map(path, source=source)
        say_stale(found.stale)
    emit(as_json, map_lines(found, with_files), lambda: view_map(found, with_files))


def view_map(found: PackageMap, with_files: bool = False) -> Iterator[RenderableType]:
    """Render folders, or files, with their imports, then the counts."""
    level = found.files if with_files else found.folders
    imported = level.rank_imports()
    yield make_table(
        ("file" if with_files else "folder", "files", "imports", "imported by", "cycle", "imports most"),
        [
            (spell_line(each.path), f"{each.files:,}", f"{each.imports:,}", f"{each.importers:,}",
             "" if each.cycle is None else str(each.cycle), _name_imports(imported.get(each.path, ())))
            for each in level.places
        ],
        right=("files", "imports", "imported by"),
    )  # fmt: skip
    yield style_words(_describe_counts(found, level.cycles > 0), "dim")
    if found.unbound:
        yield style_words(f"{count_things(found.unbound, 'import')} could not be resolved", "dim")


def _describe_counts(found: PackageMap, has_stars: bool) -> str:
    files, imports = len(found.files.places), len(found.files.imports)
    counts = f"{count_things(files, 'file')}, {count_things(imports, 'import')} between them"
    counts += f", {found.libraries:,} of libraries" if found.libraries else ""
    if not found.files.cycles:
        return f"{counts}; no cycles"
    cycles = f"cycles: {found.folders.cycles:,} of folders, {found.files.cycles:,} of files"
    return f"{counts}; {cycles}{' (*)' if has_stars else ''}; see pkg deps --cycles"


def _name_imports(found: Sequence[MapImport]) -> str:
    """Render the imports of one place, most frequent first."""
    named = [f"{spell_line(each.end)}{'*' if each.cycle else ''}" for each in found[:SHOWN_IMPORTS]]
    more = len(found) - SHOWN_IMPORTS
    return ", ".join(named) + (f" and {more:,} more" if more > 0 else "")
