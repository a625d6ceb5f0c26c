"""Find files that import each other and functions that call each other."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pkg.errors import InputError, PathError
from pkg.model import Edge, Label, RelationType, is_bound, rank_confidence
from pkg.retrieval.deps.answer import Cycle, Cycles, DepsOptions, apply_limit, make_place
from pkg.retrieval.deps.names import Target
from pkg.retrieval.deps.neighbours import LinkReader, Step, count_calls, join_imports, make_step
from pkg.units import format_id, hash_key

_TYPES = (
    RelationType.CALLS, RelationType.UNRESOLVED, RelationType.IMPORTS, RelationType.RESOLVES_TO, RelationType.CONTAINS,
)  # fmt: skip

Graph = dict[str, dict[str, Step]]  # start -> end -> the surest step


def find_cycles(reader: LinkReader, target: Target | None, options: DepsOptions) -> Cycles:
    """List the strongly connected components of imports and of calls; possible links are ignored.

    With a target, list only those that contain it, or a definition inside it.
    """
    edges = list(reader.store.edges(_TYPES, options.source))
    calls = [edge for edge in edges if edge.type is RelationType.CALLS]
    graphs = {
        "import": _make_graph(_list_file_imports(reader, edges)),
        "call": _make_graph(make_step(edge) for edge in calls),
    }
    wanted = None if target is None else set(target.ids)
    found = [
        (kind, group)
        for kind, graph in graphs.items()
        for group in _find_groups(graph)
        if wanted is None or wanted & set(group)
    ]
    shown = apply_limit(options.limit, len(found))
    cycles = [_describe(reader, kind, group, graphs[kind], options.limit) for kind, group in _sort(found)[:shown]]
    kinds = [kind for kind, _ in found]
    recursive = len({edge.start for edge in calls if edge.start == edge.end and is_bound(edge.confidence)})
    coverage = count_calls(edges, "of all definitions; possible calls are not followed")
    return Cycles(
        tuple(cycles), kinds.count("import"), kinds.count("call"), recursive, len(found) - shown, coverage
    )  # fmt: skip


def _list_file_imports(reader: LinkReader, edges: Sequence[Edge]) -> Iterator[Step]:
    """Yield the imports between files: an imported definition belongs to the file around it."""
    roots = {format_id(hash_key(Label.SOURCE.value, source.name)) for source in reader.store.sources()}
    parents = {edge.end: edge.start for edge in edges if edge.type is RelationType.CONTAINS and edge.start not in roots}
    for step in join_imports(edges):
        end = step.end
        while end in parents:
            end = parents[end]
        yield step._replace(end=end)


def _make_graph(steps: Iterable[Step]) -> Graph:
    graph: Graph = defaultdict(dict)
    for step in steps:
        if step.start != step.end and is_bound(step.confidence):
            known = graph[step.start].get(step.end)
            if known is None or _rank(step) < _rank(known):
                graph[step.start][step.end] = step
    return graph


def _rank(step: Step) -> tuple[int, int, str]:
    return rank_confidence(step.confidence), step.line or 0, step.rule or ""


def _find_groups(graph: Graph) -> list[list[str]]:
    """Return the strongly connected components of several members, each sorted."""
    import networkx

    directed = networkx.DiGraph()
    directed.add_edges_from((start, end) for start, ends in graph.items() for end in ends)
    return [sorted(group) for group in networkx.strongly_connected_components(directed) if len(group) > 1]


def _sort(found: Iterable[tuple[str, list[str]]]) -> list[tuple[str, list[str]]]:
    """Sort imports before calls, the largest component first."""
    return sorted(found, key=lambda each: (each[0] != "import", -len(each[1]), each[1]))


def _describe(reader: LinkReader, kind: str, group: list[str], graph: Graph, limit: int) -> Cycle:
    around = reader.make_links(_find_shortest_cycle(graph, group))
    nodes = reader.nodes(group[: apply_limit(limit, len(group))])
    places = sorted((make_place(node) for node in nodes.values()), key=lambda place: (place.path, place.line, place.id))
    return Cycle(kind, tuple(places), len(group), tuple(around))


def _find_shortest_cycle(graph: Graph, group: Sequence[str]) -> list[Step]:
    """Return the shortest path from the first member back to itself."""
    first, members = group[0], set(group)
    leading: dict[str, Step] = {}
    open_nodes = deque([first])
    while first not in leading:
        node_id = open_nodes.popleft()
        for end, step in sorted(graph[node_id].items()):
            if end in members and end not in leading:
                leading[end] = step
                open_nodes.append(end)
    way = [leading[first]]
    while way[-1].start != first:
        way.append(leading[way[-1].start])
    return way[::-1]


def keep_new_imports(answer: Cycles, known: Sequence[frozenset[str]] = ()) -> Cycles:
    """Keep the cycles of imports with a file outside of each known cycle: a known one may shrink, not grow."""
    imports = [each for each in answer.cycles if each.kind == "import"]
    new = [each for each in imports if not any({place.path for place in each.members} <= group for group in known)]
    spared = len(imports) - len(new)
    notes = (f"{spared:,} known cycles of imports are left out",) if spared else ()
    coverage = replace(answer.coverage, notes=(*answer.coverage.notes, *notes))
    return replace(answer, cycles=tuple(new), imports=len(new), coverage=coverage)


def format_cycle(cycle: Cycle) -> str:
    """Format a cycle as one line, with the line of each import."""
    steps = [f"{link.start.path}:{link.lines[0] if link.lines else 0}" for link in cycle.around]
    more = cycle.size - len(steps)
    return " -> ".join([*steps, cycle.around[0].start.path]) + (f", and {more:,} more files" if more else "")


def read_known_cycles(path: str) -> list[frozenset[str]]:
    """Read the paths of each cycle of imports from JSON lines, as written by `pkg deps --cycles --limit 0 --json`.

    Raises InputError for an invalid line, and PathError if the file cannot be read.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise PathError(f"cannot read {path}: {fault}; expected the JSON lines of pkg deps --cycles") from fault
    return list(_read_lines(path, text))


def _read_lines(path: str, text: str) -> Iterator[frozenset[str]]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            read: Any = json.loads(line)
            if read["type"] == "cycle" and read["kind"] == "import":
                yield frozenset(str(member["path"]) for member in read["members"])
        except (ValueError, KeyError, TypeError, RecursionError) as fault:
            raise InputError(
                f"line {number} of {path} is no line of pkg deps --cycles; write the file again: pkg deps --cycles"
                f" --limit 0 --json > {path}"
            ) from fault
