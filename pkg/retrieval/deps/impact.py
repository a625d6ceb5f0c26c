"""Find what may break when a place changes: callers, importers, subclasses and overriders, however far away."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from pkg.model import Edge, RelationType, is_bound, rank_confidence
from pkg.retrieval.deps.answer import Affected, CallCoverage, DepsOptions, Impact, Place, cut_limit, make_place
from pkg.retrieval.deps.names import Target
from pkg.retrieval.deps.neighbours import (
    LinkReader,
    Step,
    count_calls,
    count_unbound_names,
    fetch_edges,
    join_imports,
    make_step,
)

_TYPES = (
    RelationType.CALLS, RelationType.INHERITS, RelationType.OVERRIDES, RelationType.IMPORTS, RelationType.RESOLVES_TO,
)  # fmt: skip
_DEPENDING = (RelationType.CALLS, RelationType.INHERITS, RelationType.OVERRIDES)

Reached = dict[str, tuple[int, Step]]  # id -> distance and the last step of the chain


def find_impact(reader: LinkReader, target: Target, options: DepsOptions) -> Impact:
    """List what depends on the target, nearest first: what bound links lead to, then what only possible ones do.

    Whoever imports a file depends on it, and so do those who import the importer: an error at import stops them all.
    """
    starts = target.ids
    # An import is two relationships long, so twice the depth holds all steps that are wanted.
    edges = fetch_edges(reader.store, starts, _TYPES, "in", 2 * options.steps, target.place.source)
    steps = [make_step(edge) for edge in edges if edge.type in _DEPENDING] + join_imports(edges)
    bound, _ = _spread((step for step in steps if is_bound(step.confidence)), starts, options.steps)
    everything, is_cut = _spread(steps, starts, options.steps)
    affected = _describe(reader, bound, everything)
    shown = cut_limit(options.limit, len(affected))
    return Impact(
        target.place, options.steps, tuple(_link(reader, affected[:shown], everything | bound)), len(affected),
        sum(is_test(place) for place, _, _ in affected), len(affected) - len(bound),
        len(affected) - shown, _cover(reader, target, edges, everything, is_cut, options.steps),
    )  # fmt: skip


def _spread(steps: Iterable[Step], starts: Sequence[str], depth: int) -> tuple[Reached, bool]:
    """Go from what is needed to who needs it, level by level; tell whether more lies beyond the depth."""
    depending: dict[str, list[Step]] = defaultdict(list)
    for step in steps:
        depending[step.end].append(step)
    reached: Reached = {}
    known, level = set(starts), list(starts)
    for distance in range(1, depth + 1):
        found: Reached = {}
        for step in (step for node_id in level for step in depending[node_id] if step.start not in known):
            if step.start not in found or _rank(step) < _rank(found[step.start][1]):
                found[step.start] = distance, step
        reached |= found
        known |= found.keys()
        level = sorted(found)
    return reached, any(step.start not in known for node_id in level for step in depending[node_id])


def _rank(step: Step) -> tuple[int, str, int]:
    return rank_confidence(step.confidence), step.end, step.line or 0


def _describe(reader: LinkReader, bound: Reached, everything: Reached) -> list[tuple[Place, int, bool]]:
    """Give (place, distance, whether it is bound), bound ones first, then by distance and place."""
    nodes = reader.nodes(sorted(everything))
    found = [
        (make_place(nodes[node_id]), bound.get(node_id, everything[node_id])[0], node_id in bound)
        for node_id in everything
    ]
    return sorted(found, key=lambda each: (not each[2], each[1], each[0].path, each[0].line, each[0].id))


def _link(reader: LinkReader, affected: Sequence[tuple[Place, int, bool]], reached: Reached) -> list[Affected]:
    """Say for each place which link leads to it."""
    steps = [reached[place.id][1] for place, _, _ in affected]
    reader.fetch_ends(steps)
    confidences = _weaken(reached)
    return [
        Affected(place, distance, confidences[place.id], is_test(place), reader.make_links([step])[0])
        for (place, distance, _), step in zip(affected, steps, strict=True)
    ]


def _weaken(reached: Reached) -> dict[str, str]:
    """Give the weakest confidence of the chain to each place."""
    weakest: dict[str, str] = {}
    for node_id, (_, step) in sorted(reached.items(), key=lambda item: item[1][0]):
        confidences = [step.confidence or "certain", weakest.get(step.end, "certain")]
        weakest[node_id] = max(confidences, key=rank_confidence)
    return weakest


def _cover(
    reader: LinkReader, target: Target, edges: Sequence[Edge], reached: Reached, is_cut: bool, depth: int
) -> CallCoverage:
    """Count the calls into what is affected, and the unbound call sites that may be calls of it, too."""
    into = reached.keys() | set(target.ids)
    names = count_unbound_names(reader.store, target.place.source)
    called = {node.name for node in reader.nodes(sorted(into)).values()}
    own = {node.name for node in (*target.nodes, *target.inside)}
    notes = (f"stopped at depth {depth}; more lies beyond, see --depth",) if is_cut else ()
    whose = f"the names inside {target.place.qualname}" if target.inside else f"the name {target.nodes[0].name}"
    counted = count_calls(
        (edge for edge in edges if edge.end in into),
        "into what is affected, unbound those of the same names",
        sum(names[name] for name in own),
        whose,
        notes,
    )
    return replace(counted, unbound=sum(names[name] for name in called))


def is_test(place: Place) -> bool:
    """Tell whether a place belongs to tests by the names that test runners look for."""
    path = PurePosixPath(place.path)
    names = place.qualname.split(".")
    return (
        any(part in ("test", "tests", "testing") for part in path.parts[:-1])
        or path.stem == "conftest"
        or path.stem.startswith("test_")
        or path.stem.endswith("_test")
        or (place.label in ("Function", "Class") and any(name.startswith(("test_", "Test")) for name in names))
    )
