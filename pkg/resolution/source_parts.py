"""Parts of a large source, resolved one after another in the order of their imports (A-12).

A part is resolved with what it imports, and without what imports it: its links to its own code and to imported parts
are those of a source with these parts alone. Parts that import one another are one, unless they are too large
together: then the imports of the fewest files are not followed. Folders of a package that is too large for one part
are gathered into as few parts as their order allows. Memory is that of the largest part and of what it imports.
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
"""Files of a folder that are resolved together; a larger one is split."""
MOST_MERGED = 1_000
"""Files of folders that are resolved together because they import one another, or because they are of one package.

Of 15,062 files of 50 packages that import another package, 27 lose such imports with this limit, as with a limit of
zero, and 20 with 3,000; pandas and scipy together take 2.5 GB.
"""


@dataclass(frozen=True, slots=True)
class Part:
    """Files that are resolved together."""

    paths: tuple[str, ...]  # sorted
    imported: tuple[int, ...]  # positions of the parts that these need, directly or not; all are before this one


class Folder(NamedTuple):
    """A folder whose files are resolved together."""

    path: str
    package: str | None  # the outermost package with the folder; its folders may be resolved together


def split_folders(paths: Iterable[str], is_package: bool = False) -> dict[str, Folder]:
    """Return the folder of each path that is resolved as a whole.

    is_package: whether the root of the source is a package.
    """
    found: dict[str, Folder] = {}
    waiting = [(Folder("", "" if is_package else None), sorted(paths))]
    while waiting:
        here, inside = waiting.pop()
        if len(inside) <= MOST_FILES:
            found.update(dict.fromkeys(inside, here))
            continue
        folders: dict[str, list[str]] = {}
        for path in inside:
            name, is_below, _ = path[len(here.path) :].partition("/")
            if is_below:
                folders.setdefault(f"{here.path}{name}/", []).append(path)
            else:
                found[path] = here  # files beside the folders are one part
        for each, below in folders.items():
            package = each if here.package is None and _is_package(each, below) else here.package
            waiting.append((Folder(each, package), below))
    return found


def _is_package(folder: str, paths: Sequence[str]) -> bool:
    inits = (folder + INIT, folder + STUB_INIT)
    return folder.rstrip("/").rpartition("/")[2].isidentifier() and any(each in inits for each in paths)


class Order(NamedTuple):
    """Parts, each after those that it imports."""

    parts: list[Part]
    left_out: dict[tuple[str, str], int]  # files with imports that are not followed, by the folders of both parts


def order_parts(
    folders: Mapping[str, Folder], imports: Iterable[tuple[str, Sequence[Import]]], modules: ModuleMap
) -> Order:
    """Order the parts; folders that import one another are one, of MOST_MERGED files at most.

    folders: the folder of each path. imports: those of each file.
    """
    import networkx as nx

    counts: Counter[tuple[Folder, Folder]] = Counter()
    for path, records in imports:
        here = folders[path]
        found = [modules.find_import(path, each).modules + modules.find_bound(path, each).modules for each in records]
        counts.update({(here, folders[each]) for each in chain.from_iterable(found) if folders[each] != here})
    sizes = Counter(folders.values())
    graph: nx.DiGraph[Folder] = nx.DiGraph(list(counts))
    graph.add_nodes_from(sizes)
    left_out = {(start.path, end.path): counts[start, end] for start, end in _cut_cycles(graph, counts, sizes)}
    merged = nx.condensation(graph)
    members: dict[int, set[Folder]] = dict(merged.nodes(data="members"))
    order = nx.lexicographical_topological_sort(merged.reverse(), key=lambda each: min(members[each]).path)
    groups = _gather_packages(order, members, sizes)
    places = {each: place for place, group in enumerate(groups) for each in group}
    numbers = {folder: places[each] for folder, each in merged.graph["mapping"].items()}
    paths: list[list[str]] = [[] for _ in groups]
    for path, folder in folders.items():
        paths[numbers[folder]].append(path)
    parts: list[Part] = []
    for place, group in enumerate(groups):
        direct = {places[other] for each in group for other in merged.successors(each)} - {place}
        imported = direct.union(*(parts[each].imported for each in direct))
        parts.append(Part(tuple(sorted(paths[place])), tuple(sorted(imported))))
    return Order(parts, left_out)


def _gather_packages(
    order: Iterable[int], members: Mapping[int, set[Folder]], sizes: Mapping[Folder, int]
) -> list[list[int]]:
    """Group neighbours in the order whose folders are of one package, up to MOST_MERGED files.

    Neighbours alone, because each group must come after those that it imports.
    """
    groups: list[list[int]] = []
    last: set[str | None] = set()
    files = 0
    for each in order:
        packages = {folder.package for folder in members[each]}
        count = sum(sizes[folder] for folder in members[each])
        if packages == last and len(packages) == 1 and None not in packages and files + count <= MOST_MERGED:
            groups[-1].append(each)
            files += count
        else:
            groups.append([each])
            last, files = packages, count
    return groups


def _cut_cycles(
    graph: nx.DiGraph[Folder], counts: Mapping[tuple[Folder, Folder], int], sizes: Mapping[Folder, int]
) -> list[tuple[Folder, Folder]]:
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
        kept: nx.DiGraph[Folder] = nx.DiGraph()
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
