"""Audit: compare all functions of a graph with the solutions of benchmarks, and mark those that leak one (A-16)."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pkg.extract.syntax import find_indent, parse_statements
from pkg.graph.audits import is_current
from pkg.lab.audit.code_shape import CodeShape, find_shape
from pkg.lab.audit.leak_matching import LeakMatcher
from pkg.lab.audit.solutions import SolutionSet
from pkg.model import Audit, Label, Leak, Node, RelationType

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

HELD = (RelationType.HAS_BODY, RelationType.CHILD, RelationType.CONTAINS)
WHOLE = (Label.FUNCTION, Label.BLOCK)  # nodes whose code includes all nested nodes
MAX_DEPTH = 100  # levels of nesting; Python parses no more

REPORT_INTERVAL = 100  # functions

Listen = Callable[[str, int, int], None]
"""Called with the stage, the number of compared functions and the total."""

Marks = Mapping[str, Collection[Leak]]
"""The leaks of nodes, by their ids."""


@dataclass(frozen=True, slots=True)
class LeakedFunction:
    """A function that leaks the solutions of tasks."""

    id: str
    source: str
    path: str
    qualname: str
    start_line: int
    end_line: int
    leaks: tuple[Leak, ...]


@dataclass(frozen=True, slots=True)
class AuditReport:
    """Result of an audit."""

    audit: Audit
    functions: tuple[LeakedFunction, ...]
    compared: int  # functions of the graph
    unread: int  # functions that the running Python cannot parse
    unread_tasks: tuple[str, ...]

    @property
    def share(self) -> float:
        """Return the share of the tasks whose solution leaks."""
        return self.audit.leaked / self.audit.tasks if self.audit.tasks else 0.0

    @property
    def by_source(self) -> Mapping[str, int]:
        """Count the leaking functions of each source."""
        return dict(sorted(Counter(each.source for each in self.functions).items()))

    @property
    def by_kind(self) -> Mapping[str, int]:
        """Count the pairs of function and task by kind of leak."""
        return dict(sorted(Counter(leak.kind for each in self.functions for leak in each.leaks).items()))


def audit_graph(
    store: GraphStore, solutions: Sequence[SolutionSet], listen: Listen = lambda stage, done, total: None
) -> list[AuditReport]:
    """Compare the functions of a graph with the solutions of benchmarks, and mark the leaking ones in the store."""
    with store.snapshot():
        reports = find_leaks(store, solutions, listen)
        marks = [mark_around(store, report.functions) for report in reports]
    with store.write() as writer:
        for report, each in zip(reports, marks, strict=True):
            writer.put_audit(report.audit, each)
    return reports


def find_leaks(
    store: GraphStore, solutions: Sequence[SolutionSet], listen: Listen = lambda stage, done, total: None
) -> list[AuditReport]:
    """Compare the functions of a graph with the solutions of benchmarks, without writing to the store."""
    matchers = [LeakMatcher(each.name, each.solutions) for each in solutions]
    found: list[list[LeakedFunction]] = [[] for _ in solutions]
    known: dict[str, CodeShape | None] = {}  # by content hash
    compared = unread = 0
    total = store.stats().nodes.get(Label.FUNCTION.value, 0)
    for node in store.nodes((Label.FUNCTION,)):
        if node.content_hash not in known:
            known[node.content_hash] = _read_shape(node)
        shape = known[node.content_hash]
        compared, unread = compared + 1, unread + (shape is None)
        if compared % REPORT_INTERVAL == 0:
            listen("comparing functions", compared, total)
        for leaked, matcher in zip(found, matchers, strict=True):
            if shape is not None and (leaks := matcher.match(shape)):
                leaked.append(_make_leaked(node, leaks))
    sources = {each.name: store.source_fingerprint(each.name) or "" for each in store.sources()}
    return [
        AuditReport(_sum_up(each, leaked, sources), tuple(sorted(leaked, key=_order)), compared, unread, each.unread)
        for each, leaked in zip(solutions, found, strict=True)
    ]


def _read_shape(node: Node) -> CodeShape | None:
    content = node.content.encode("utf-8", "replace")
    statements = parse_statements(content, find_indent(content, node.start_col))
    if not statements or not isinstance(statements[0], ast.FunctionDef | ast.AsyncFunctionDef):
        return None
    return find_shape(statements[0])


def _make_leaked(node: Node, leaks: tuple[Leak, ...]) -> LeakedFunction:
    return LeakedFunction(node.id, node.source, node.path, node.qualname, node.start_line, node.end_line, leaks)


def _order(each: LeakedFunction) -> tuple[str, str, int, str]:
    return each.source, each.path, each.start_line, each.id


def _sum_up(solutions: SolutionSet, leaked: Sequence[LeakedFunction], sources: Mapping[str, str]) -> Audit:
    tasks = {leak.task for each in leaked for leak in each.leaks}
    return Audit(solutions.name, solutions.sha256, solutions.tasks, len(tasks), len(leaked), sources)


def mark_around(store: GraphStore, functions: Sequence[LeakedFunction]) -> Marks:
    """Return marks for all nodes that show the code of functions: enclosing nodes, and all nodes inside of those.

    Of an enclosing class only the class itself is marked, as its other methods do not show the code.
    """
    marks: dict[str, set[Leak]] = defaultdict(set)
    around = _follow(store, [each.id for each in functions], "in")
    holders = {each.id: set(_reach(around, each.id)) for each in functions}
    labels = {node.id: node.label for node in store.get(sorted(set().union(*holders.values())))}
    roots = {each: [each, *(one for one in above if labels[one] in WHOLE)] for each, above in holders.items()}
    inside = _follow(store, sorted({one for some in roots.values() for one in some}), "out")
    for each in functions:
        shown = {one for one in holders[each.id] if labels[one] in (*WHOLE, Label.CLASS)}
        for root in roots[each.id]:
            shown.update((root, *_reach(inside, root)))
        for identity in shown:
            marks[identity].update(each.leaks)
    for identity, leaks in _list_modules(store, functions):
        marks[identity].update(leaks)
    return {identity: sorted(leaks) for identity, leaks in marks.items()}


def _list_modules(store: GraphStore, functions: Sequence[LeakedFunction]) -> Iterator[tuple[str, tuple[Leak, ...]]]:
    """Yield the module nodes whose lines include a function, with its leaks."""
    places: dict[tuple[str, str], list[LeakedFunction]] = defaultdict(list)
    for each in functions:
        places[each.source, each.path].append(each)
    for node in store.nodes((Label.MODULE,)) if functions else ():
        for each in places.get((node.source, node.path), ()):
            if node.start_line <= each.start_line and each.end_line <= node.end_line:
                yield node.id, each.leaks


def _follow(store: GraphStore, ids: Sequence[str], direction: str) -> dict[str, list[str]]:
    """Return the adjacency lists of the nodes reachable along HELD edges, by direction."""
    steps: dict[str, list[str]] = defaultdict(list)
    for edge in store.neighbours(ids, HELD, direction, MAX_DEPTH) if ids else ():
        first, last = (edge.start, edge.end) if direction == "out" else (edge.end, edge.start)
        steps[first].append(last)
    return steps


def _reach(steps: Mapping[str, Sequence[str]], identity: str) -> Iterator[str]:
    for each in steps.get(identity, ()):
        yield each
        yield from _reach(steps, each)


def read_marks(store: GraphStore, solutions: SolutionSet) -> Marks:
    """Return the leaks of a benchmark by node, from the stored audit if it is current, or from a new comparison."""
    audit = next((each for each in store.audits() if each.benchmark == solutions.name), None)
    if audit is not None and audit.sha256 == solutions.sha256 and is_current(store, audit):
        found = (
            (identity, [leak for leak in leaks if leak.benchmark == solutions.name])
            for identity, leaks in store.leaks()
        )
        return {identity: leaks for identity, leaks in found if leaks}
    (report,) = find_leaks(store, [solutions])
    return mark_around(store, report.functions)
