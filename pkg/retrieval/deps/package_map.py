"""Map a source by its imports: between files, between folders, and the cycles among both."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pkg.model import Label, RelationType, Stale, is_bound
from pkg.retrieval.deps.import_table import choose_ends
from pkg.retrieval.freshness import find_stale
from pkg.retrieval.outline_scope import find_scope

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore
    from pkg.retrieval.outline_scope import Scope


@dataclass(frozen=True, slots=True)
class MapPlace:
    """A file, or a folder with the files directly in it."""

    path: str  # "." for the root of a source
    files: int  # 1 for a file
    imports: int  # number of others of its kind that it imports
    importers: int  # number of others of its kind that import it
    cycle: int | None  # number of its cycle, from 1


@dataclass(frozen=True, slots=True)
class MapImport:
    """Imports of one file or folder by another, and their place."""

    start: str
    end: str
    count: int  # imported names, each alias as one
    line: int  # of the first import; 0 for folders
    cycle: int | None  # number of the cycle that both belong to


@dataclass(frozen=True, slots=True)
class MapLevel:
    """Files or folders, sorted by path, and the imports between them."""

    places: tuple[MapPlace, ...]
    imports: tuple[MapImport, ...]

    @property
    def cycles(self) -> int:
        """Return the number of cycles."""
        return len({each.cycle for each in self.places} - {None})

    def rank_imports(self) -> Mapping[str, list[MapImport]]:
        """Return the imports of each place, most first; a place without imports is absent."""
        found: dict[str, list[MapImport]] = defaultdict(list)
        for each in sorted(self.imports, key=lambda each: (-each.count, each.end)):
            found[each.start].append(each)
        return found


@dataclass(frozen=True, slots=True)
class PackageMap:
    """The imports of a source, or of a part of it, between folders and between files."""

    source: str
    path: str  # "" for the whole source
    folders: MapLevel
    files: MapLevel
    outside: int  # imports of other files of the source, if only a part is mapped
    libraries: int  # imports of libraries
    unbound: int  # unresolved imports
    stale: tuple[Stale, ...] = ()  # files that have changed since the build


def run_map(store: GraphStore, path: str | None = None, source: str | None = None) -> PackageMap:
    """Map the files below a path, or a whole source; possible imports are ignored.

    Raises QueryError for a missing path, and without a path if there are several sources.
    """
    with store.snapshot():
        scope = find_scope(store, path, source)
        return mark_map(store, _make_map(scope, _read_imports(store, scope.source)))


def mark_map(store: GraphStore, found: PackageMap) -> PackageMap:
    """Mark the files of a map that have changed since the build."""
    places = ((found.source, each.path) for each in found.files.places)
    return replace(found, stale=find_stale(store, places))


def _make_map(scope: Scope, read: Iterable[_Pair]) -> PackageMap:
    inside = set(scope.files)
    mine = [each for each in read if each.start in inside]
    pairs = [each for each in mine if each.end in inside and each.start != each.end]
    return PackageMap(
        source=scope.source,
        path=scope.path,
        folders=_make_level(Counter(map(_find_folder, scope.files)), _join_folders(pairs)),
        files=_make_level(dict.fromkeys(scope.files, 1), pairs),
        outside=sum(each.count for each in mine if each.end and each.end not in inside),
        libraries=sum(each.count for each in mine if each.kind == "library"),
        unbound=sum(each.count for each in mine if each.kind == "unbound"),
    )


@dataclass(frozen=True, slots=True)
class _Pair:
    """Imports of one file or folder by another; without an end they are of libraries or unresolved."""

    start: str
    end: str
    count: int
    line: int
    kind: str = "file"


def _read_imports(store: GraphStore, source: str) -> list[_Pair]:
    """Read the imports between the files of a source, each pair once."""
    edges = [edge for edge in store.edges((RelationType.RESOLVES_TO,), source) if is_bound(edge.confidence)]
    chosen = choose_ends(edges)
    ends = {node.id: node for node in store.get(sorted({edge.end for edge in chosen.values()}))}
    targets = {start: ends[edge.end] for start, edge in chosen.items()}
    lines: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for node in store.nodes((Label.IMPORT,), source):
        target = targets.get(node.id)
        kind = "unbound" if target is None else "library" if target.label is Label.LIBRARY else "file"
        end = target.path if target is not None and kind == "file" else ""
        lines[node.path, end, kind].append(node.start_line)
    return [_Pair(start, end, len(at), min(at), kind) for (start, end, kind), at in sorted(lines.items())]


def _join_folders(pairs: Iterable[_Pair]) -> list[_Pair]:
    """Count the imports between folders, without those inside one."""
    counts: Counter[tuple[str, str]] = Counter()
    for each in pairs:
        start, end = _find_folder(each.start), _find_folder(each.end)
        if start != end:
            counts[start, end] += each.count
    return [_Pair(start, end, count, 0) for (start, end), count in sorted(counts.items())]


def _find_folder(path: str) -> str:
    return str(PurePosixPath(path).parent)


def _make_level(sizes: Mapping[str, int], pairs: Sequence[_Pair]) -> MapLevel:
    cycles = _number_cycles(pairs)
    imports, importers = Counter(each.start for each in pairs), Counter(each.end for each in pairs)
    places = [MapPlace(path, sizes[path], imports[path], importers[path], cycles.get(path)) for path in sorted(sizes)]
    return MapLevel(tuple(places), tuple(_mark_imports(pairs, cycles)))


def _mark_imports(pairs: Iterable[_Pair], cycles: Mapping[str, int]) -> Iterator[MapImport]:
    for each in pairs:
        cycle = cycles.get(each.start)
        is_around = cycle is not None and cycle == cycles.get(each.end)
        yield MapImport(each.start, each.end, each.count, each.line, cycle if is_around else None)


def _number_cycles(pairs: Iterable[_Pair]) -> dict[str, int]:
    """Number the strongly connected components of several members, the largest first."""
    import networkx

    graph = networkx.DiGraph((each.start, each.end) for each in pairs)
    groups = [sorted(each) for each in networkx.strongly_connected_components(graph) if len(each) > 1]
    ordered = sorted(groups, key=lambda group: (-len(group), group))
    return {path: number for number, group in enumerate(ordered, 1) for path in group}
