"""Write what was resolved of each file as relationships: imports, base classes, overrides, calls, unbound calls."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping

from pkg.model import POSSIBLE, Edge, RelationType, rank_confidence
from pkg.resolve.class_links import link_classes
from pkg.resolve.import_links import ImportLinks
from pkg.resolve.model import Scope, Site
from pkg.resolve.node_ids import NodeIds
from pkg.resolve.outcomes import Outcome, Target, Unbound, settle
from pkg.resolve.project import Project
from pkg.resolve.summary import has_one_method
from pkg.resolve.values import Reason, Values
from pkg.units import Code, UnboundCall, UnitLinks, UnitText, format_id, hash_inside, render_callee

Settled = tuple[list[Target], list[Reason]]
"""What a site calls, and why it may call something else that is not known."""

UNIQUE_NAME = "only function of this name"
_GUESSED = frozenset((Reason.PARAMETER, Reason.ARGUMENT, Reason.RESULT, Reason.ITEM, Reason.EXPRESSION))
"""Where nothing is known of a receiver, a method of a unique name is better than nothing, and said to be a guess."""
_COMMON = frozenset(
    name for kind in (str, bytes, list, dict, set, int, float, complex, tuple) for name in dir(kind)
) | {"read", "write", "close", "open", "flush", "seek", "readline", "readlines", "run", "send", "start", "main", "next"}
"""Names that builtin objects have as well: unique in a repository says nothing about them."""


class LinkWriter:
    """Write the links of every file of a project."""

    def __init__(self, source: str, units: Mapping[str, UnitText], project: Project) -> None:
        self._ids = NodeIds(source, units)
        self._project = project
        self._settled: dict[tuple[Values, Code], Settled] = {}  # many sites have the same outcomes

    def write(self, path: str) -> UnitLinks:
        """Write the links of one file."""
        binder = self._project.binder
        module = binder.modules[path]
        imports = ImportLinks(binder, self._ids, module)
        edges = [*imports.link(), *link_classes(binder.hierarchy, self._ids, module)]
        calls = _CallLinks(self._ids, module.text)
        for site in self._project.sites[path]:
            targets, reasons = self._settle(site)
            if targets or reasons:
                calls.add(site, targets, reasons)
        unbound = sorted(calls.unbound, key=lambda each: (each.line, each.id))
        return UnitLinks(
            path, tuple(_drop_doubles([*edges, *calls.edges])), tuple(unbound), tuple(sorted(imports.libraries))
        )

    def _settle(self, site: Site) -> Settled:
        """Give what a site calls, and why it may call something else that is not known."""
        outcomes = self._project.outcomes(site)
        found = self._settled.get((outcomes, site.code))
        if found is None:
            found = self._settled[outcomes, site.code] = _sort_out(settle(outcomes, site.code))
        targets, reasons = found
        if reasons and not targets and site.code == Code.CALL and _GUESSED.intersection(reasons):
            targets = list(self._guess(site))
        return targets, reasons

    def _guess(self, site: Site) -> Iterator[Target]:
        _, dot, name = site.text.rpartition(b".")
        target = self._find_unique(name.strip().decode("utf-8", "replace")) if dot else None
        if target is not None:
            yield Target(target, UNIQUE_NAME, POSSIBLE)

    def _find_unique(self, name: str) -> Scope | None:
        """Find the method of a name that no other function or class of the repository has."""
        files = self._project.binder.modules
        if not has_one_method(files.totals, name) or name in _COMMON or name.startswith("__"):
            return None
        return files.find_method(name)


def _sort_out(outcomes: Iterable[Outcome]) -> Settled:
    targets = [each for each in outcomes if isinstance(each, Target)]
    reasons = {each.reason for each in outcomes if isinstance(each, Unbound)}
    return targets, sorted(reasons, key=lambda each: each.value)


class _CallLinks:
    """Collect the calls of one file: those that are bound, and those that could not be."""

    def __init__(self, ids: NodeIds, text: bytes) -> None:
        self._ids = ids
        self._starts = _find_lines(text)
        self._equals: dict[tuple[str, str], int] = {}
        self.edges: list[Edge] = []
        self.unbound: list[UnboundCall] = []

    def add(self, site: Site, targets: list[Target], reasons: list[Reason]) -> None:
        """Add what a site calls; a call that leads nowhere is unbound, where there is a reason."""
        line = bisect_right(self._starts, site.start)
        owner = self._ids.of_owner(site.scope)
        for target in targets:
            end = self._ids.of_definition(target.scope)
            if end is not None:
                self.edges.append(Edge(RelationType.CALLS, owner, end, line, target.rule, target.confidence))
        if site.code == Code.CALL and reasons and not targets:
            self.unbound.append(self._make_unbound(site, owner, line, reasons[0]))

    def _make_unbound(self, site: Site, owner: str, line: int, reason: Reason) -> UnboundCall:
        expression = render_callee(site.text)
        position = self._equals.get((owner, expression), 0)
        self._equals[owner, expression] = position + 1
        identity = format_id(hash_inside(int(owner, 16), f"call/{expression}[{position}]"))
        return UnboundCall(identity, owner, expression, line, reason.value)


def _drop_doubles(edges: Iterable[Edge]) -> list[Edge]:
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


def _find_lines(text: bytes) -> list[int]:
    """Give the offset at which each line begins."""
    starts, position = [0], text.find(b"\n")
    while position >= 0:
        starts.append(position + 1)
        position = text.find(b"\n", position + 1)
    return starts
