"""The order of the links of a file, and where its lines begin; both resolvers write links so."""

from __future__ import annotations

from collections.abc import Iterable

from pkg.model import Edge, RelationType, rank_confidence


def drop_doubles(edges: Iterable[Edge]) -> list[Edge]:
    """Sort edges; of those that differ in rule or confidence alone, the surest is kept."""
    kept: dict[tuple[RelationType, str, str, int | None], Edge] = {}
    for edge in edges:
        key = edge.type, edge.start, edge.end, edge.line
        before = kept.get(key)
        if before is None or (edge != before and _rank(edge) < _rank(before)):
            kept[key] = edge
    return sorted(kept.values(), key=lambda edge: (edge.type, edge.start, edge.line or 0, edge.end))


def _rank(edge: Edge) -> tuple[int, str]:
    return rank_confidence(edge.confidence), edge.rule or ""


def find_lines(text: bytes) -> list[int]:
    """List the offsets at which each line begins."""
    starts, position = [0], text.find(b"\n")
    while position >= 0:
        starts.append(position + 1)
        position = text.find(b"\n", position + 1)
    return starts
