"""Read the dependents of all nodes of a source: links of the graph, and implicit ones.

Three kinds of implicit steps have no relationship in the graph. A function depends on one defined inside it, which it
may pass on (HOLDS). The creator of an object depends on its special methods, and on those that a base from a library
may call (ENTERS). A test depends on what its runner runs with it (RUNS).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from pkg.graph.path_filter import is_test
from pkg.model import CERTAIN, LIKELY, POSSIBLE, Edge, Label, Node, RelationType
from pkg.retrieval.deps.answer import ENTERS, HOLDS, READS, RUNS, DepsOptions, RelationKind
from pkg.retrieval.deps.external_bases import ExternalBases, is_special
from pkg.retrieval.deps.levels import find_reachable
from pkg.retrieval.deps.names import Target
from pkg.retrieval.deps.neighbours import LinkReader, Step, choose_types, join_imports, make_step
from pkg.retrieval.deps.set_up_code import PLUGINS, SetUpCode
from pkg.retrieval.deps.set_up_rules import find_set_up

_TYPES = (
    RelationType.CALLS, RelationType.INHERITS, RelationType.OVERRIDES, RelationType.IMPORTS, RelationType.RESOLVES_TO,
)  # fmt: skip
_DEPENDING = (RelationType.CALLS, RelationType.INHERITS, RelationType.OVERRIDES)
_MADE = ("__init__", "__new__")  # a call of the class has a link to these


class Dependents:
    """The steps from definitions to their dependents."""

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
            if step.through is not None and step.end not in self._ids and is_test(start):
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
