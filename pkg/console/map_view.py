"""Render the map of a source as a table of its folders: their imports, and their cycles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pkg.console.streams import style_words
from pkg.console.tables import make_table
from pkg.errors import count_things
from pkg.quoting.hidden_characters import spell_line

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.retrieval.deps.package_map import MapImport, PackageMap

SHOWN_IMPORTS = 6  # imports listed for each folder; JSON output lists all


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
    files, imports = len(found.files.places), len(found.files.imports)
    counts = f"{count_things(files, 'file')}, {count_things(imports, 'import')} between them"
    yield style_words(
        f"{counts}; cycles: {found.folders.cycles:,} of folders, {found.files.cycles:,} of files;"
        f" {found.libraries:,} imports of libraries, {found.unbound:,} that lead to nothing that was found",
        "dim",
    )


def _name_imports(found: Sequence[MapImport]) -> str:
    """Render the imports of one place, most frequent first."""
    named = [f"{spell_line(each.end)}{'*' if each.cycle else ''}" for each in found[:SHOWN_IMPORTS]]
    more = len(found) - SHOWN_IMPORTS
    return ", ".join(named) + (f" and {more:,} more" if more > 0 else "")
