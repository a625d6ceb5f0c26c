"""Find what may break when places change: direct and indirect callers, importers, subclasses and overriders."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence, Set
from dataclasses import replace
from itertools import islice

from pkg.model import Label, Node, RelationType, is_bound, rank_confidence
from pkg.retrieval.deps.answer import (
    Affected,
    CallCoverage,
    Change,
    DepsOptions,
    Impact,
    Place,
    ReachedEntry,
    apply_limit,
    is_test,
    make_place,
)
from pkg.retrieval.deps.dependents import Dependents
from pkg.retrieval.deps.levels import walk_levels
from pkg.retrieval.deps.named_sites import count_named_sites
from pkg.retrieval.deps.names import Target
from pkg.retrieval.deps.neighbours import LinkReader, Step, choose_types, count_calls
from pkg.retrieval.deps.unbound import count_same_name, count_sites

Reached = dict[str, tuple[int, Step]]  # id -> distance and the last step of the chain

_ENTERED = (Label.FUNCTION, Label.CLASS)


def find_impact(
    reader: LinkReader,
    source: str,
    targets: Sequence[Target],
    options: DepsOptions,
    notes: tuple[str, ...] = (),
    changes: tuple[Change, ...] = (),
) -> Impact:
    """List the dependents of targets of one source, nearest first: those by bound links, then the others.

    The importers of a file depend on it, and so do their importers: an error at import affects them all.
    """
    dependents = Dependents(reader, source, options.relations)
    for target in targets:
        if target.is_constant:
            dependents.add_readers(target)
    tests = dependents.add_tests(_list_classes(targets))
    dependents.add_importers(node for each in targets for node in each.nodes if node.label is Label.FILE)
    starts = sorted({node_id for target in targets for node_id in target.ids})
    known = set(starts) - tests  # a changed class may break the tests in it
    bound, _ = _walk_dependents(dependents, starts, known, options.steps, lambda step: is_bound(step.confidence))
    everything, is_cut = _walk_dependents(dependents, starts, known, options.steps, lambda step: True)
    affected = _describe(reader, bound, everything)
    shown = apply_limit(options.limit, len(affected))
    coverage = _cover(reader, source, targets, dependents, everything.keys() | set(starts))
    cut = (f"stopped at depth {options.steps}; more lies beyond, see --depth",) if is_cut else ()
    if not affected and RelationType.CALLS in choose_types(options.relations):
        coverage = replace(coverage, named=count_named_sites(reader.store, source, targets))
    linked = _link(reader, affected[:shown], everything | bound)
    return Impact(
        targets=tuple(each.place for each in targets),
        depth=options.steps,
        affected=tuple(linked),
        total=len(affected),
        tests=sum(is_test(place) for place, _, _ in affected),
        possible=len(affected) - len(bound),
        left_out=len(affected) - shown,
        changes=changes,
        coverage=replace(coverage, notes=(*notes, *cut)),
        entries=tuple(_find_reached(reader, source, targets, linked)) if options.entries else (),
    )


def _list_classes(targets: Sequence[Target]) -> Iterator[Node]:
    """Yield the classes among targets and inside them: pytest collects tests of both."""
    for target in targets:
        inside = target.inside if target.nodes[0].label is Label.CLASS else ()
        yield from (node for node in (*target.nodes, *inside) if node.label is Label.CLASS)


def _walk_dependents(
    dependents: Dependents,
    starts: Sequence[str],
    known: Set[str],
    depth: int,
    is_followed: Callable[[Step], bool],
) -> tuple[Reached, bool]:
    """Walk to dependents, level by level; return whether there are more beyond the depth as well."""

    def list_steps(node_id: str) -> Iterator[Step]:
        return filter(is_followed, dependents.list_steps(node_id))

    reached: Reached = {}
    last: Collection[str] = starts
    levels = walk_levels(starts, known, list_steps, lambda step: step.start)
    for distance, found in enumerate(islice(levels, depth), 1):
        reached |= {node_id: (distance, min(steps, key=_rank)) for node_id, steps in found.items()}
        last = found
    seen = known | reached.keys()
    return reached, any(step.start not in seen for node_id in last for step in list_steps(node_id))


def _rank(step: Step) -> tuple[int, str, int]:
    return rank_confidence(step.confidence), step.end, step.line or 0


def _describe(reader: LinkReader, bound: Reached, everything: Reached) -> list[tuple[Place, int, bool]]:
    """Return (place, distance, whether it is bound), bound ones first, then by distance and place."""
    nodes = reader.nodes(sorted(everything))
    found = [
        (make_place(nodes[node_id]), bound.get(node_id, everything[node_id])[0], node_id in bound)
        for node_id in everything
    ]
    return sorted(found, key=lambda each: (not each[2], each[1], each[0].path, each[0].line, each[0].id))


def _link(reader: LinkReader, affected: Sequence[tuple[Place, int, bool]], reached: Reached) -> list[Affected]:
    """Return the affected places with the link to each."""
    steps = [reached[place.id][1] for place, _, _ in affected]
    reader.fetch_ends(steps)
    confidences = _weaken(reached)
    return [
        Affected(place, distance, confidences[place.id], is_test(place), reader.make_links([step])[0])
        for (place, distance, _), step in zip(affected, steps, strict=True)
    ]


def _weaken(reached: Reached) -> dict[str, str]:
    """Return the weakest confidence of the chain to each place."""
    weakest: dict[str, str] = {}
    for node_id, (_, step) in sorted(reached.items(), key=lambda item: item[1][0]):
        confidences = [step.confidence or "certain", weakest.get(step.end, "certain")]
        weakest[node_id] = max(confidences, key=rank_confidence)
    return weakest


def _find_reached(
    reader: LinkReader, source: str, targets: Sequence[Target], affected: Sequence[Affected]
) -> Iterator[ReachedEntry]:
    """Yield the entries into changed and affected code, in the order of that."""
    from pkg.retrieval.deps.entries import find_entries

    confidences = {node.id: "certain" for each in targets for node in each.nodes}
    confidences |= {each.place.id: each.confidence for each in affected if each.place.id not in confidences}
    nodes = [node for node in reader.nodes(confidences).values() if node.label in _ENTERED]
    code = {node.id: place for node in nodes if not is_test(place := make_place(node))}
    found = find_entries(reader.store, source, [node for node in nodes if node.id in code])
    for node_id, place in code.items():
        for entry in found.get(node_id, ()):
            yield ReachedEntry(entry, place, confidences[node_id])


def _cover(
    reader: LinkReader, source: str, targets: Sequence[Target], dependents: Dependents, into: set[str]
) -> CallCoverage:
    """Count the calls into affected code, and the unbound call sites of the same names."""
    unbound = reader.unbound_names(source)
    called = {node.name for node in reader.nodes(sorted(into)).values()}
    scope = "into affected code; unbound: those of the same names"
    same = count_same_name(unbound, targets)
    counted = count_calls((edge for edge in dependents.edges if edge.end in into), scope, same)
    return replace(counted, unbound=sum(count_sites(unbound, name) for name in called))
