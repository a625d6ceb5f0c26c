"""Find what may break when places change: direct and indirect callers, importers, subclasses and overriders."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import cached_property
from itertools import islice

from pkg.graph.path_filter import is_product
from pkg.graph.path_filter import is_test as is_test_path
from pkg.model import CERTAIN, LIKELY, POSSIBLE, Edge, Label, Node, RelationType, is_bound, rank_confidence
from pkg.retrieval.deps.answer import (
    ENTERS,
    HOLDS,
    READS,
    RUNS,
    Affected,
    CallCoverage,
    Change,
    DepsOptions,
    Impact,
    Place,
    ReachedEntry,
    RelationKind,
    apply_limit,
    is_test,
    make_place,
)
from pkg.retrieval.deps.external_bases import ExternalBases, is_special
from pkg.retrieval.deps.levels import find_reachable, walk_levels
from pkg.retrieval.deps.named_sites import count_named_sites
from pkg.retrieval.deps.names import Target
from pkg.retrieval.deps.neighbours import (
    LinkReader,
    Step,
    choose_types,
    count_calls,
    count_same_name,
    count_sites,
    join_imports,
    make_step,
)
from pkg.retrieval.deps.set_up_code import PLUGINS, SetUpCode
from pkg.retrieval.deps.set_up_rules import find_set_up, is_collected

Reached = dict[str, tuple[int, Step]]  # id -> distance and the last step of the chain

_ENTERED = (Label.FUNCTION, Label.CLASS)
_TYPES = (
    RelationType.CALLS, RelationType.INHERITS, RelationType.OVERRIDES, RelationType.IMPORTS, RelationType.RESOLVES_TO,
)  # fmt: skip
_DEPENDING = (RelationType.CALLS, RelationType.INHERITS, RelationType.OVERRIDES)
_MADE = ("__init__", "__new__")  # a call of the class has a link to these


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
    """Return (place, distance, whether it is bound): bound ones first, then by distance, tests and examples last."""
    nodes = reader.nodes(sorted(everything))
    found = [
        (make_place(nodes[node_id]), bound.get(node_id, everything[node_id])[0], node_id in bound)
        for node_id in everything
    ]

    def order(each: tuple[Place, int, bool]) -> tuple[object, ...]:
        place, distance, is_sure = each
        return not is_sure, distance, not is_product(place.path), place.path, place.line, place.id

    return sorted(found, key=order)


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


class Dependents:
    """The steps from definitions to their dependents: links of the graph, and implicit ones.

    Three kinds of implicit steps have no relationship in the graph. A function depends on one defined inside it, which
    it may pass on (HOLDS). The creator of an object depends on its special methods, and on those that a base from a
    library may call (ENTERS). A test depends on what its runner runs with it (RUNS).
    """

    def __init__(self, reader: LinkReader, source: str, relations: Sequence[RelationKind] = ()) -> None:
        self._reader = reader
        self._source = source
        types = choose_types(relations)
        self.edges: list[Edge] = list(reader.store.edges(_TYPES, source))
        self._definitions = list(reader.store.nodes((Label.CLASS, Label.FUNCTION), source))
        self._scopes = {(node.path, node.qualname): node for node in self._definitions}
        self._ids = {node.id: node for node in self._definitions}
        self._bases = ExternalBases(self._definitions, self.edges)
        self._steps: dict[str, list[Step]] = defaultdict(list)
        self._children = self._list_children()
        steps = [*map(make_step, (edge for edge in self.edges if edge.type in _DEPENDING)), *join_imports(self.edges)]
        self._add(step for step in steps if step.type in types and not self._replaces_set_up(step))
        self._set_up: SetUpCode | None = None
        self._run: dict[str, list[Step]] = {}  # from tests, by the end of the step
        if RelationType.CALLS in types:
            self._set_up = SetUpCode(self._definitions, self.edges, lambda: self._importers, self._list_plugins)
            self._add(self._list_decorated())
            self._add(self._list_holders())
            self._add(self._list_makers())

    def _add(self, steps: Iterable[Step]) -> None:
        for step in list(steps):
            self._steps[step.end].append(step)

    def _replaces_set_up(self, step: Step) -> bool:
        """Return whether a method replaces the set-up of a base class, which then runs only if called."""
        node = self._ids.get(step.start) if step.type == RelationType.OVERRIDES else None
        return node is not None and find_set_up(node.name, "class") is not None

    def list_steps(self, node_id: str) -> Sequence[Step]:
        """List the steps that end at a node."""
        steps = self._steps.get(node_id, [])
        if self._set_up is None:
            return steps
        if node_id not in self._run:
            runs = (each for step in steps for each in self._list_runs(self._set_up, step))
            self._run[node_id] = [*self._set_up.list_steps(node_id), *runs]
        return [*steps, *self._run[node_id]]

    def _list_runs(self, set_up: SetUpCode, step: Step) -> Iterator[Step]:
        path = None if step.start in self._ids else self._paths.get(step.start)
        return set_up.list_runs(step, path)

    def add_readers(self, target: Target) -> None:
        """Add the readers of a constant as its dependents, which searches the texts of the source."""
        from pkg.retrieval.deps.readers import find_readers

        for each in find_readers(self._reader, target, DepsOptions(direction="in", limit=0)).found:
            link = each.link
            line = link.lines[0] if link.lines else None
            self._add([Step(READS, link.start.id, target.nodes[0].id, line, None, link.confidence)])

    def add_tests(self, classes: Iterable[Node]) -> set[str]:
        """Add links from the tests of some classes to these, and return the ids of the tests."""
        found: set[str] = set()
        for owner in classes if self._set_up is not None else ():
            tests = self._set_up.list_of_class(owner) if self._set_up is not None else []
            self._add(Step(RUNS, test.id, owner.id, None, "class of the test", CERTAIN) for test in tests)
            found |= {test.id for test in tests}
        return found

    def add_importers(self, files: Iterable[Node]) -> None:
        """Add all direct and indirect importers of a file as dependents of its module code."""
        starts = {node.id: node.path for node in files}
        paths = starts | (self._paths if starts else {})
        by_path: dict[str, list[Step]] = defaultdict(list)
        for step in self._imports if starts else ():
            by_path[paths[step.end]].append(step)
        for node_id in find_reachable(starts, lambda each: [step.start for step in by_path[paths[each]]]):
            self._add(step._replace(end=node_id) for step in by_path[paths[node_id]] if step.end != node_id)
            tests = self._set_up.list_served(paths[node_id]) if self._set_up is not None else ()
            self._add(Step(RUNS, test.id, node_id, None, "module code", CERTAIN) for test in tests)

    @cached_property
    def _imports(self) -> list[Step]:
        return [step for step in join_imports(self.edges) if step.type == RelationType.RESOLVES_TO]

    @cached_property
    def _paths(self) -> dict[str, str]:
        """The paths of both ends of imports, and of files whose module code calls something."""
        ends = {end for step in self._imports for end in (step.start, step.end)}
        starts = {edge.start for edge in self.edges if edge.type is RelationType.CALLS} - self._ids.keys()
        return {node.id: node.path for node in self._reader.nodes(sorted(ends | starts)).values()}

    @cached_property
    def _importers(self) -> Mapping[str, set[str]]:
        """The paths of importing files, by path and id of the imported, and by * and path for a star import."""
        found: dict[str, set[str]] = defaultdict(set)
        whole: dict[str, Step] = {}  # imports of modules by test files, some of which have a star
        for step in self._imports:
            start, end = self._paths[step.start], self._paths[step.end]
            found[end].add(start)
            found[step.end].add(start)
            if step.through is not None and step.end not in self._ids and is_test_path(start):
                whole[step.through] = step
        for node in self._reader.nodes(sorted(whole)).values():
            if node.properties.get("imported") == "*":
                found[f"*{self._paths[whole[node.id].end]}"].add(node.path)
        return found

    def _list_plugins(self) -> list[Node]:
        return [node for node in self._reader.store.find_names([PLUGINS], self._source) if node.label is Label.CONSTANT]

    def _list_children(self) -> dict[tuple[str, str], list[Node]]:
        children: dict[tuple[str, str], list[Node]] = defaultdict(list)
        for node in self._definitions:
            children[node.path, node.qualname.rpartition(".")[0]].append(node)
        return children

    def _list_decorated(self) -> Iterator[Step]:
        """Yield steps from a definition to calls on its lines in the code around it: decorators and defaults."""
        files = {edge.start for edge in self.edges if edge.type is RelationType.CALLS} - self._ids.keys()
        paths = {node.id: (node.path, "") for node in self._reader.nodes(sorted(files)).values()}
        for edge in self.edges:
            if edge.type is RelationType.CALLS and edge.line is not None:
                around = self._ids.get(edge.start)
                scope = (around.path, around.qualname) if around is not None else paths[edge.start]
                for node in self._children.get(scope, ()):
                    if node.start_line <= edge.line <= node.end_line and node.id != edge.end:
                        yield make_step(edge)._replace(start=node.id)

    def _list_holders(self) -> Iterator[Step]:
        for node in self._definitions:
            holder = self._scopes.get((node.path, node.qualname.rpartition(".")[0]))
            if node.label is Label.FUNCTION and holder is not None and holder.label is Label.FUNCTION:
                yield Step(HOLDS, holder.id, node.id, node.start_line, "defined inside", LIKELY)

    def _list_makers(self) -> Iterator[Step]:
        """Yield steps from the creators of objects to those methods that Python or a library calls implicitly."""
        made: dict[str, list[Edge]] = defaultdict(list)
        below: dict[str, set[str]] = defaultdict(set)
        for edge in self.edges:
            if edge.type is RelationType.CALLS and edge.end in self._ids:
                made[edge.end].append(edge)
            elif edge.type is RelationType.INHERITS:
                below[edge.end].add(edge.start)
        for node in self._definitions:
            owner = self._scopes.get((node.path, node.qualname.rpartition(".")[0]))
            if owner is not None and owner.label is Label.CLASS and self._is_entered(node, owner):
                for each in sorted(find_reachable([owner.id], below.__getitem__)):
                    for edge in made[each]:
                        yield Step(ENTERS, edge.start, node.id, edge.line, "object made", POSSIBLE)

    def _is_entered(self, node: Node, owner: Node) -> bool:
        if node.label is not Label.FUNCTION or node.name in _MADE:
            return False
        return is_special(node.name) or self._bases.may_call(owner, node.name)


def list_tests(answer: Impact) -> list[str]:
    """List path::Class::test of each test function, and only the path if a change breaks the whole file at its import.

    A class without a test stands for the tests that it inherits. Changed tests are included.
    """
    inheriting = {each.place.id for each in answer.affected if each.link.type == RUNS and each.place.label == "Class"}
    found = [*answer.targets, *(each.place for each in answer.affected)]
    tests = [place for place in found if is_test(place) and _is_collected(place, inheriting)]
    stopped = _list_stopped(answer)
    files = {place.path for place in tests if place.id in stopped}
    inside = {
        "::".join([place.path, *place.qualname.split(".")])
        for place in tests
        if place.label != "File" and place.path not in files
    }
    return sorted(files | inside)


def _list_stopped(answer: Impact) -> set[str]:
    """Return the ids of the files whose module code has changed, and of their importers."""
    stopped = {place.id for place in answer.targets if place.label == "File"}
    for each in sorted(answer.affected, key=lambda each: each.distance):
        if each.place.label == "File" and each.link.end.id in stopped:
            stopped.add(each.place.id)
    return stopped


def _is_collected(place: Place, inheriting: set[str]) -> bool:
    """Return whether pytest collects a place: a file of tests, a test function, a class that inherits tests."""
    if not is_collected(place.path):
        return False
    if place.label != "Function":
        return place.label == "File" or place.id in inheriting
    name, *around = reversed(place.qualname.split("."))
    return name.startswith("test") and all(each[:1].isupper() for each in around)
