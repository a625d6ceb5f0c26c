"""Parts of a large source, resolved one after another in the order of their imports (A-12).

A part is resolved with what it imports, and without what imports it: its links to its own code and to imported parts
are those of a source with these parts alone. Parts that import one another are one, unless they are too large
together: then the imports of the fewest files are not followed. Memory is that of the largest part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from pkg.model import Import
from pkg.resolution.module_map import INIT, STUB_INIT, ModuleMap

if TYPE_CHECKING:
    import networkx as nx

MOST_FILES = 3_000
"""Files of a folder that are resolved together; a larger one is split, unless it is a package."""
MOST_MERGED = 1_000
"""Files of parts that are resolved together because they import one another.

Of 15,062 files of 50 packages that import another package, 27 lose such imports with this limit, as with a limit of
zero, and 20 with 3,000; pandas and scipy together take 2.5 GB.
"""


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


class Order(NamedTuple):
    """Parts, each after those that it imports."""

    parts: list[Part]
    left_out: dict[tuple[str, str], int]  # files with imports that are not followed, by the folders of both parts


def order_parts(
    folders: Mapping[str, str], imports: Iterable[tuple[str, Sequence[Import]]], modules: ModuleMap
) -> Order:
    """Order the parts; those that import one another are one, of MOST_MERGED files at most.

    folders: the folder of the part of each path. imports: those of each file.
    """
    import networkx as nx

    counts: Counter[tuple[str, str]] = Counter()
    for path, records in imports:
        here = folders[path]
        found = [modules.find_import(path, each).modules + modules.find_bound(path, each).modules for each in records]
        counts.update({(here, folders[each]) for each in chain.from_iterable(found) if folders[each] != here})
    sizes = Counter(folders.values())
    graph: nx.DiGraph[str] = nx.DiGraph(list(counts))
    graph.add_nodes_from(sizes)
    left_out = {pair: counts[pair] for pair in _cut_cycles(graph, counts, sizes)}
    merged = nx.condensation(graph)
    paths: dict[int, list[str]] = {}
    for path, folder in folders.items():
        paths.setdefault(merged.graph["mapping"][folder], []).append(path)
    order = list(nx.lexicographical_topological_sort(merged.reverse(), key=lambda each: min(paths[each])))
    places = {each: place for place, each in enumerate(order)}
    parts = [
        Part(tuple(sorted(paths[each])), tuple(sorted(places[other] for other in nx.descendants(merged, each))))
        for each in order
    ]
    return Order(parts, left_out)


def _cut_cycles(
    graph: nx.DiGraph[str], counts: Mapping[tuple[str, str], int], sizes: Mapping[str, int]
) -> list[tuple[str, str]]:
    """Remove imports from a graph until no parts that import one another have more than MOST_MERGED files together.

    In each cycle that is too large the imports are added one pair of parts after another, those of most files first;
    one is left out if it would make a cycle that is too large. Return these.
    """
    import networkx as nx

    left_out = []
    for members in list(nx.strongly_connected_components(graph)):
        if len(members) == 1 or sum(sizes[each] for each in members) <= MOST_MERGED:
            continue
        pairs = sorted(graph.subgraph(members).edges, key=lambda pair: (-counts[pair], pair))
        kept: nx.DiGraph[str] = nx.DiGraph()
        kept.add_nodes_from(members)
        for start, end in pairs:
            cycle = (nx.descendants(kept, end) | {end}) & (nx.ancestors(kept, start) | {start})
            if start in cycle and sum(sizes[each] for each in cycle) > MOST_MERGED:
                left_out.append((start, end))
            else:
                kept.add_edge(start, end)
    graph.remove_edges_from(left_out)
    return sorted(left_out)


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
