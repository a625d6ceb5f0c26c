"""Links of a file that is resolved in parts: those of its other parts are as they were, and moved with the text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pkg.model import Edge, RelationType
from pkg.resolve.model import Scope
from pkg.resolve.node_ids import NodeIds
from pkg.resolve.versions import Parts
from pkg.units import UnboundCall, UnitLinks

_OF_CLASSES = (RelationType.INHERITS, RelationType.OVERRIDES)


@dataclass(frozen=True, slots=True)
class KeptLinks:
    """Links that are as they were; None where they are to be found anew."""

    calls: Sequence[Edge] = ()
    unbound: Sequence[UnboundCall] = ()
    imports: Sequence[Edge] | None = None
    libraries: tuple[str, ...] = ()
    classes: Sequence[Edge] | None = None


NOTHING_KEPT = KeptLinks()


def keep_links(ids: NodeIds, parts: Parts, before: UnitLinks) -> KeptLinks:
    """Take those links of a file that what changed in it leaves alone."""
    moves = {identity: lines for scope, lines in _list_moves(parts) if (identity := ids.of_definition(scope))}
    return KeptLinks(
        [
            edge._replace(line=edge.line + moves[edge.start])
            for edge in before.edges
            if edge.type == RelationType.CALLS and edge.start in moves and edge.line is not None
        ],
        [each._replace(line=each.line + moves[each.owner]) for each in before.unbound if each.owner in moves],
        [edge for edge in before.edges if edge.type == RelationType.RESOLVES_TO] if parts.is_local else None,
        before.libraries,
        [edge for edge in before.edges if edge.type in _OF_CLASSES] if parts.has_same_classes else None,
    )


def _list_moves(parts: Parts) -> Iterator[tuple[Scope, int]]:
    """Give the functions that are as they were, with the lines by which they moved down."""
    before, now = find_lines(parts.before.text), find_lines(parts.now.text)
    moves = {}
    for top in parts.now.outermost:
        old = parts.before.find(top.kind, top.qualname, parts.now.count_before(top)) if not parts.covers(top) else None
        if old is not None:
            moves[top] = bisect_right(now, top.head[0]) - bisect_right(before, old.head[0])
    for scope in parts.now.scopes:
        if scope.kind == "function" and scope.top in moves:
            yield scope, moves[scope.top]


def find_lines(text: bytes) -> list[int]:
    """Give the offset at which each line begins."""
    starts, position = [0], text.find(b"\n")
    while position >= 0:
        starts.append(position + 1)
        position = text.find(b"\n", position + 1)
    return starts
