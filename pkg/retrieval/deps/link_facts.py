"""Find whether the graph has a link between two names, to check statements about code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from pkg.model import Label, Node
from pkg.retrieval.deps.answer import Dependency, DepsOptions
from pkg.retrieval.deps.names import DEFINITIONS, Target, find_named
from pkg.retrieval.deps.neighbours import LinkReader
from pkg.retrieval.deps.paths import list_sources
from pkg.retrieval.deps.walk import walk_relations

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

LinkVerb = Literal["calls", "imports", "inherits from", "overrides", "is defined in"]

_RELATIONS = {"calls": "callees", "imports": "imports", "inherits from": "bases", "overrides": "overrides"}
MOST_TARGETS = 20  # definitions of one name that are looked at


class LinkClaim(NamedTuple):
    """A link as a statement claims it, from the start of the link to its end."""

    verb: LinkVerb
    start: str
    end: str
    is_negated: bool = False


class LinkFact(NamedTuple):
    """A claim, and whether it is true of the graph."""

    claim: LinkClaim
    holds: bool
    place: str = ""  # path:line of the link


class LinkFacts:
    """The links of a graph by the names of their ends."""

    def __init__(self, store: GraphStore, source: str | None = None) -> None:
        self._store = store
        self._source = source
        self._found: dict[str, Sequence[Dependency]] = {}  # by the id of a node

    def check(self, claim: LinkClaim) -> LinkFact | None:
        """Compare a claim with the graph; None if it does not know a name, or cannot bind a call of that name."""
        starts = self._find(claim.start)
        if not starts:
            return None
        if claim.verb == "is defined in":
            homes = [node for node in starts if _is_inside(node, claim.end)]
            place = f"{homes[0].path}:{homes[0].start_line}" if homes else ""
            return LinkFact(claim, bool(homes) is not claim.is_negated, place)
        if not self._find(claim.end):
            return None
        for node in starts[:MOST_TARGETS]:
            for each in self._walk(node):
                if each.relation != _RELATIONS[claim.verb]:
                    continue
                if _is_named(each.place.qualname, claim.end) or _is_named(each.place.path, claim.end):
                    line = each.link.lines[0] if each.link.lines else node.start_line
                    return LinkFact(claim, not claim.is_negated, f"{each.link.start.path}:{line}")
        is_unbound = claim.verb == "calls" and any(_has_call(node, claim.end) for node in starts)
        return None if is_unbound else LinkFact(claim, claim.is_negated)

    def _find(self, name: str) -> Sequence[Node]:
        return find_named(self._store, name, list_sources(self._store, self._source))

    def _walk(self, node: Node) -> Sequence[Dependency]:
        """Return the links that start at a node or inside of it."""
        if node.id not in self._found:
            inside = tuple(each for each in self._store.subtree(node.id) if each.label in DEFINITIONS)
            options = DepsOptions(direction="out", limit=0)
            self._found[node.id] = walk_relations(LinkReader(self._store), Target((node,), inside), options).found
        return self._found[node.id]


def _has_call(node: Node, name: str) -> bool:
    """Return whether the code of a node calls something of a name."""
    return re.search(rf"(?<!def )\b{re.escape(name.rpartition('.')[2])}\s*\(", node.content) is not None


def _is_named(full: str, name: str) -> bool:
    """Return whether a qualified name or path ends with a name."""
    if name.endswith(".py") or "/" in full:
        return f"/{full}".endswith(f"/{name}") or f"/{full}".removesuffix(".py").replace("/", ".").endswith(f".{name}")
    return f".{full}".endswith((f".{name}", f".{name}.__init__"))


def _is_inside(node: Node, home: str) -> bool:
    """Return whether a node is in a file, module or class of some name."""
    owner = node.qualname.rpartition(".")[0]
    module = node.path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    homes = (f"/{node.path}", f"/{home}"), (f".{module}", f".{home}"), (f".{owner}", f".{home}")
    return node.label is not Label.FILE and any(place.endswith(end) for place, end in homes)
