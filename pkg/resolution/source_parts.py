"""Parts of a large source, resolved one after another in the order of their imports (A-12).

A part is resolved with what it imports, and without what imports it: its links to its own code and to imported parts
are those of a source with these parts alone. Memory is that of the largest part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pkg.model import Import
from pkg.resolution.module_map import INIT, STUB_INIT, ModuleMap

MOST_FILES = 3_000
"""Files of a folder that are resolved together; a larger one is split, unless it is a package."""


@dataclass(frozen=True, slots=True)
class Part:
    """Files that are resolved together."""

    paths: tuple[str, ...]  # sorted
    imported: tuple[int, ...]  # positions of the parts that these need, directly or not; all are before this one


def split_folders(paths: Iterable[str], is_package: bool = False) -> dict[str, str]:
    """Return the folder of the part of each path.

    is_package: whether the root of the source is a package.
    """
    found: dict[str, str] = {}
    waiting = [("", sorted(paths), is_package)]
    while waiting:
        folder, inside, is_whole = waiting.pop()
        if is_whole or len(inside) <= MOST_FILES:
            found.update(dict.fromkeys(inside, folder))
            continue
        folders: dict[str, list[str]] = {}
        for path in inside:
            name, is_below, _ = path[len(folder) :].partition("/")
            if is_below:
                folders.setdefault(f"{folder}{name}/", []).append(path)
            else:
                found[path] = folder  # files beside the folders are one part
        waiting += ((each, below, _is_package(each, below)) for each, below in folders.items())
    return found


def _is_package(folder: str, paths: Sequence[str]) -> bool:
    inits = (folder + INIT, folder + STUB_INIT)
    return folder.rstrip("/").rpartition("/")[2].isidentifier() and any(each in inits for each in paths)


def order_parts(
    folders: Mapping[str, str], imports: Iterable[tuple[str, Sequence[Import]]], modules: ModuleMap
) -> list[Part]:
    """Return the parts, each after those that it imports; parts that import one another are one.

    folders: the folder of the part of each path. imports: those of each file.
    """
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(sorted(set(folders.values())))
    for path, records in imports:
        here = folders[path]
        for record in records:
            for found in modules.find_import(path, record).modules + modules.find_bound(path, record).modules:
                if folders[found] != here:
                    graph.add_edge(here, folders[found])
    merged = nx.condensation(graph)
    paths: dict[int, list[str]] = {}
    for path, folder in folders.items():
        paths.setdefault(merged.graph["mapping"][folder], []).append(path)
    order = list(nx.lexicographical_topological_sort(merged.reverse(), key=lambda each: min(paths[each])))
    places = {each: place for place, each in enumerate(order)}
    return [
        Part(tuple(sorted(paths[each])), tuple(sorted(places[other] for other in nx.descendants(merged, each))))
        for each in order
    ]


def list_waves(parts: Sequence[Part]) -> list[list[int]]:
    """Group parts by number so that each imports parts of the groups before its own alone."""
    depths: list[int] = []
    waves: list[list[int]] = []
    for number, part in enumerate(parts):
        depths.append(max((depths[each] + 1 for each in part.imported), default=0))
        if depths[-1] == len(waves):
            waves.append([])
        waves[depths[-1]].append(number)
    return waves
