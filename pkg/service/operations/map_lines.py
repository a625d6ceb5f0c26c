"""Give the map of a source as JSON-ready lines: folders, what they import, and files where they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from pkg.retrieval.deps.package_map import MapLevel, PackageMap


def map_lines(found: PackageMap, with_files: bool = False) -> Iterator[dict[str, Any]]:
    """Give one line a folder, one for what a folder imports of another, the same for files, and what was counted."""
    yield from _list_level("folder", found.folders)
    if with_files:
        yield from _list_level("file", found.files)
    yield {
        "type": "coverage",
        "source": found.source,
        "path": found.path,
        "files": len(found.files.places),
        "imports": len(found.files.imports),
        "folder_cycles": found.folders.cycles,
        "file_cycles": found.files.cycles,
        "outside": found.outside,
        "libraries": found.libraries,
        "unbound": found.unbound,
        "stale": [asdict(each) for each in found.stale],
    }


def _list_level(kind: str, level: MapLevel) -> Iterator[dict[str, Any]]:
    yield from ({"type": kind, **asdict(place)} for place in level.places)
    yield from ({"type": "import", "between": f"{kind}s", **asdict(each)} for each in level.imports)


def write_map(found: PackageMap) -> Iterator[str]:
    """Write a line a folder with what it imports, most first, and mark what lies on a cycle."""
    imported = found.folders.rank_imports()
    for place in found.folders.places:
        listed = ", ".join(each.end for each in imported.get(place.path, ()))
        cycle = f" (cycle {place.cycle})" if place.cycle else ""
        yield f"{place.path}/{cycle}: {f'imports {listed}' if listed else 'imports no other folder'}"
