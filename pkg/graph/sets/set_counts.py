"""Add the statistics of the members of a set; what several of them hold counts once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from pkg.graph.embedded.relations import list_neighbours
from pkg.graph.sets.member import SetMember
from pkg.graph.store import StoreStats
from pkg.model import Label, RelationType, Source


def add_stats(members: Sequence[SetMember], sources: tuple[Source, ...], source: str | None) -> StoreStats:
    """Return the statistics of a set with some sources, of one of them or of all; sizes are those of all members."""
    found = [member.stats(source) for member in members]
    nodes, relations = _add(stats.nodes for stats in found), _add(stats.relations for stats in found)
    stages: dict[str, Counter[str]] = {}
    for member, stats in zip(members, found, strict=True):
        for name, seconds in stats.stages.items():
            stages.setdefault(name, Counter()).update(seconds)
        repeated = member.list_repeated(source)
        edges = list_neighbours((member.connection,), set(repeated), None, "out", 1)
        nodes.subtract(label.value for label in repeated.values())
        relations.subtract(edge.type.value for edge in edges)
        relations[RelationType.NAMES.value] -= sum(label is Label.FUNCTION for label in repeated.values())
    ids = [member.list_shared_ids(source) for member in members]
    for label in ids[0]:
        nodes[label.value] = len(np.unique(np.concatenate([each[label] for each in ids])))
    nodes[Label.SOURCE.value] = len(sources)
    return replace(
        found[0],
        generation=sum(stats.generation for stats in found),
        sources=sources,
        nodes=_sort(nodes),
        relations=_sort(relations),
        partial=tuple(sorted((each for stats in found for each in stats.partial), key=lambda each: each.path)),
        skipped=tuple(dict.fromkeys(each for stats in found for each in stats.skipped)),
        errors=tuple(dict.fromkeys(each for stats in found for each in stats.errors)),
        stages={name: dict(seconds) for name, seconds in sorted(stages.items())},
        parts=dict(_add(stats.parts for stats in found)),
        bytes={name: size for stats in found for name, size in stats.bytes.items()},
    )


def _add(counts: Iterable[Mapping[str, int]]) -> Counter[str]:
    total = Counter[str]()
    for each in counts:
        total.update(each)
    return total


def _sort(counts: Counter[str]) -> dict[str, int]:
    return {name: count for name, count in sorted(counts.items()) if count}
