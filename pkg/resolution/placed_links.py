"""Links of a file by call site, and the lines of these sites, which an edit may move (A-12)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from pkg.extract.summary.file_summary import split_summary
from pkg.model import Edge, RelationType, rank_confidence
from pkg.units import UnboundCall, UnitLinks, UnitText, format_id, hash_inside, render_callee

CallEnd = tuple[str, str, str]
"""Id of a callee, rule, and confidence."""


class SiteLinks(NamedTuple):
    """Callees of one site, or of pytest for a function."""

    site: int  # number in the file; -1 where pytest calls
    definition: int  # number of the function that pytest calls for; -1 for a site
    owner: str  # id of the calling function, or of the file for module code
    ends: list[CallEnd]
    reason: str = ""  # why the call is unbound


@dataclass(slots=True)
class FileLinks:
    """Links of one file by its sites, independent of lines."""

    edges: list[Edge] = field(default_factory=list)  # of imports and classes
    sites: list[SiteLinks] = field(default_factory=list)
    libraries: list[str] = field(default_factory=list)


def place_links(unit: UnitText, links: FileLinks, notes: bytes = b"") -> UnitLinks:
    """Return the links of a file with the lines of its sites."""
    placing = _Placing(unit)
    edges = drop_doubles([*links.edges, *placing.place_calls(links.sites)])
    unbound = sorted(placing.unbound, key=lambda each: (each.line, each.id))
    return UnitLinks(unit.path, tuple(edges), tuple(unbound), tuple(links.libraries), notes)


class _Placing:
    """Lines of the sites of one file."""

    def __init__(self, unit: UnitText) -> None:
        self._unit = unit
        _, self._places = split_summary(unit.summary)
        self._starts = find_lines(unit.text)
        self._equals: dict[tuple[str, str], int] = {}
        self.unbound: list[UnboundCall] = []

    def place_calls(self, sites: Iterable[SiteLinks]) -> list[Edge]:
        """Return the edges of call sites with their lines, and collect the unbound calls."""
        edges: list[Edge] = []
        for site, definition, owner, ends, reason in sites:
            if definition >= 0:
                line = self._unit.definitions[definition].span.start_line
            else:
                start, end = self._places[2 * site : 2 * site + 2]
                line = bisect_right(self._starts, start)
                if reason:
                    self.unbound.append(self._make_unbound(self._unit.text[start:end], owner, line, reason))
            for identity, rule, confidence in ends:
                edges.append(Edge(RelationType.CALLS, owner, identity, line, rule, confidence))
        return edges

    def _make_unbound(self, text: bytes, owner: str, line: int, reason: str) -> UnboundCall:
        expression = render_callee(text)
        position = self._equals.get((owner, expression), 0)
        self._equals[owner, expression] = position + 1
        identity = format_id(hash_inside(int(owner, 16), f"call/{expression}[{position}]"))
        return UnboundCall(identity, owner, expression, line, reason)


def drop_doubles(edges: Iterable[Edge]) -> list[Edge]:
    """Sort edges, and keep the surest of those that differ only in rule or confidence."""
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
    """Return the offset at which each line begins."""
    starts, position = [0], text.find(b"\n")
    while position >= 0:
        starts.append(position + 1)
        position = text.find(b"\n", position + 1)
    return starts
