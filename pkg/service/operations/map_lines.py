"""The map of a source as JSON-ready lines and as text: folders, their imports, and optionally files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from pkg.retrieval.deps.package_map import MapLevel, PackageMap


def map_lines(found: PackageMap, with_files: bool = False) -> Iterator[dict[str, Any]]:
    """Yield one line per folder and per import between folders, the same for files, then the coverage line."""
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
    """Yield one line per folder with its imports, most frequent first; folders on a cycle are marked."""
    imported = found.folders.rank_imports()
    for place in found.folders.places:
        listed = ", ".join(each.end for each in imported.get(place.path, ()))
        cycle = f" (cycle {place.cycle})" if place.cycle else ""
        yield f"{place.path}/{cycle}: {f'imports {listed}' if listed else 'imports no other folder'}"
