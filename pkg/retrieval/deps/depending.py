"""Read who depends on what in a whole source: links of the graph, and what follows from where definitions stand.

Two kinds of steps have no relationship of their own. What holds a function inside it gives it away, so it depends on it
(HOLDS). And whoever makes an object lets Python or a library call its special methods, and those that it has for a base
of the library (ENTERS).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from pkg.model import CERTAIN, LIKELY, POSSIBLE, Edge, Label, Node, RelationType
from pkg.retrieval.deps.answer import ENTERS, HOLDS, READS, DepsOptions, RelationKind, is_test, make_place
from pkg.retrieval.deps.entries import is_unasked
from pkg.retrieval.deps.names import Target
from pkg.retrieval.deps.neighbours import LinkReader, Step, choose_types, join_imports, make_step
from pkg.retrieval.deps.outside_bases import OutsideBases, close_over, is_special

_TYPES = (
    RelationType.CALLS, RelationType.INHERITS, RelationType.OVERRIDES, RelationType.IMPORTS, RelationType.RESOLVES_TO,
)  # fmt: skip
_DEPENDING = (RelationType.CALLS, RelationType.INHERITS, RelationType.OVERRIDES)
CONFTEST = "conftest.py"
_MADE = ("__init__", "__new__")  # a call of the class has a link to these


class Depending:
    """The steps from what is needed to who needs it."""

    def __init__(self, reader: LinkReader, source: str, relations: Sequence[RelationKind] = ()) -> None:
        self._reader = reader
        types = choose_types(relations)
        self.edges: list[Edge] = list(reader.store.edges(_TYPES, source))
        self._definitions = list(reader.store.nodes((Label.CLASS, Label.FUNCTION), source))
        self._scopes = {(node.path, node.qualname): node for node in self._definitions}
        self._ids = {node.id: node for node in self._definitions}
        self._bases = OutsideBases(self._definitions, self.edges)
        self._steps: dict[str, list[Step]] = defaultdict(list)
        self._children = self._list_children()
        steps = [*map(make_step, (edge for edge in self.edges if edge.type in _DEPENDING)), *join_imports(self.edges)]
        self._add(step for step in steps if step.type in types)
        if RelationType.CALLS in types:
            self._add(self._list_decorated())
            self._add(self._list_holders())
            self._add(self._list_makers())
            self._add(self._list_unasked())

    def _add(self, steps: Iterable[Step]) -> None:
        for step in list(steps):
            self._steps[step.end].append(step)

    def list_steps(self, node_id: str) -> Sequence[Step]:
        """List the steps that end at a node."""
        return self._steps.get(node_id, ())

    def add_readers(self, target: Target) -> None:
        """Let who reads a constant depend on it; the texts of the source are looked through."""
        from pkg.retrieval.deps.readers import find_readers

        for each in find_readers(self._reader, target, DepsOptions(direction="in", limit=0)).found:
            link = each.link
            line = link.lines[0] if link.lines else None
            self._add([Step(READS, link.start.id, target.nodes[0].id, line, None, link.confidence)])

    def add_importers(self, files: Iterable[Node]) -> None:
        """Let who imports anything of a file depend on its module code, and who imports anything of those, too."""
        nodes = {node.id: node.path for node in files}
        imports = [step for step in join_imports(self.edges) if step.type == RelationType.RESOLVES_TO]
        paths = {
            node.id: node.path
            for node in self._reader.nodes(sorted({s.end for s in imports} | {s.start for s in imports})).values()
        }
        by_path: dict[str, list[Step]] = defaultdict(list)
        for step in imports:
            by_path[paths[step.end]].append(step)
        level = sorted(nodes.items())
        while level:
            found: dict[str, str] = {}
            for node_id, path in level:
                for step in by_path[path]:
                    if step.end != node_id:
                        self._add([step._replace(end=node_id)])
                    if step.start not in nodes:
                        found[step.start] = paths[step.start]
            nodes |= found
            level = sorted(found.items())

    def _list_children(self) -> dict[tuple[str, str], list[Node]]:
        children: dict[tuple[str, str], list[Node]] = defaultdict(list)
        for node in self._definitions:
            children[node.path, node.qualname.rpartition(".")[0]].append(node)
        return children

    def _list_decorated(self) -> Iterator[Step]:
        """Let a definition depend on what the code around it calls on its lines: its decorators and defaults."""
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
        """Let who makes an object depend on those of its methods that Python or a library calls by itself."""
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
                for each in sorted(close_over({owner.id}, below)):
                    for edge in made[each]:
                        yield Step(ENTERS, edge.start, node.id, edge.line, "object made", POSSIBLE)

    def _list_unasked(self) -> Iterator[Step]:
        """Let the tests around a fixture depend on it that pytest gives them unasked (autouse)."""
        fixtures = [node for node in self._definitions if is_unasked(node)]
        tests = [node for node in self._definitions if fixtures and is_test(make_place(node))]
        for fixture in fixtures:
            folder, _, file = fixture.path.rpartition("/")
            around = fixture.qualname.rpartition(".")[0]
            for test in tests:
                is_near = (
                    test.path.startswith(f"{folder}/" if folder else "")
                    if file == CONFTEST
                    else (test.path == fixture.path and f"{test.qualname}.".startswith(f"{around}." if around else ""))
                )
                if is_near and test.name.startswith("test") and test.label is Label.FUNCTION:
                    yield Step(RelationType.CALLS.value, test.id, fixture.id, None, "autouse fixture", CERTAIN)

    def _is_entered(self, node: Node, owner: Node) -> bool:
        if node.label is not Label.FUNCTION or node.name in _MADE:
            return False
        return is_special(node.name) or self._bases.may_call(owner, node.name)
