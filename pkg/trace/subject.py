"""The source that a trace is compared with: functions by place, calls by statement, overrides."""

from __future__ import annotations

import ast
import io
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pkg.errors import PathError, QueryError
from pkg.extract.syntax import silence_warnings
from pkg.graph.store import GraphStore
from pkg.model import Edge, Label, Node, RelationType, Source
from pkg.retrieval.deps.paths import holds_code
from pkg.trace.traced_run import Named, Plan, Spot

Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(slots=True)
class Outline:
    """The lines of one file; empty if this Python cannot parse it, so that each line is its own statement."""

    statements: list[int] = field(default_factory=list)  # first line of the statement, by line; 0 outside statements
    owners: list[tuple[int, str] | None] = field(default_factory=list)  # first line and name of the function, by line
    suspending: set[tuple[int, str]] = field(default_factory=set)  # first lines and names of generators and coroutines
    decorated: set[int] = field(default_factory=set)  # first lines of decorated functions and classes

    def statement(self, line: int) -> int:
        """Return the first line of the innermost statement at a line; a compound statement counts for its head only."""
        return (self.statements[line] if 0 <= line < len(self.statements) else 0) or line

    def owner(self, line: int) -> tuple[int, str] | None:
        """Return the innermost function whose body contains a line; decorators and defaults are not part of it."""
        return self.owners[line] if 0 <= line < len(self.owners) else None


def outline_text(text: bytes) -> Outline:
    """Build the outline of a file; an empty one if it cannot be parsed."""
    try:
        with silence_warnings():
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Outline()
    count = text.count(b"\n") + 2
    outline = Outline([0] * count, [None] * count)
    pending: list[ast.stmt] = list(tree.body)
    while pending:
        pending += _outline_statement(outline, pending.pop())
    return outline


def _outline_statement(outline: Outline, statement: ast.stmt) -> Iterator[ast.stmt]:
    """Mark the lines of a statement, and return the statements inside it, which overwrite their lines."""
    first, last = _first_line(statement), min(statement.end_lineno or statement.lineno, len(outline.statements) - 1)
    outline.statements[first : last + 1] = [first] * (last + 1 - first)
    if isinstance(statement, Definition | ast.ClassDef) and statement.decorator_list:
        outline.decorated.add(first)
    if isinstance(statement, Definition):
        name = first, statement.name
        body = _first_line(statement.body[0])
        outline.owners[body : last + 1] = [name] * (last + 1 - body)
        if isinstance(statement, ast.AsyncFunctionDef) or _has_yield(statement):
            outline.suspending.add(name)
    return _list_inside(statement)


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(each.lineno for each in decorators)])


def _list_inside(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements directly inside, including those of except and case clauses."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, ast.ExceptHandler | ast.match_case):
            yield from _list_inside(child)


def _has_yield(function: Definition) -> bool:
    """Return whether a function is a generator, regardless of the definitions inside it."""
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, ast.Lambda | ast.ClassDef | Definition):
            pending += ast.iter_child_nodes(node)
    return False


class Site(NamedTuple):
    """One statement of a function, or of a file outside functions."""

    owner: str  # id of the Function or File
    statement: int  # first line


@dataclass(slots=True)
class Subject:
    """A source with indexes of its functions and calls by place in the code."""

    source: Source
    nodes: dict[str, Node]  # files, classes and functions
    outlines: dict[str, Outline]
    stale: frozenset[str]  # paths whose file has changed since the build
    functions: dict[Spot, str] = field(default_factory=dict)
    classes: set[Spot] = field(default_factory=set)
    wrappers: dict[Spot, set[str]] = field(default_factory=dict)  # names of decorators by possible wrapper
    calls: dict[Site, list[Edge]] = field(default_factory=lambda: defaultdict(list))
    unbound: dict[Site, list[Node]] = field(default_factory=lambda: defaultdict(list))
    overridden: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _files: dict[str, str] = field(default_factory=dict)

    def place(self, spot: Spot, line: int) -> Site | None:
        """Return the statement of a line; lambdas, comprehensions and class bodies belong to the code around them."""
        owner = self.functions.get(spot) or self._find_around(spot)
        return None if owner is None else Site(owner, self.outlines[spot.path].statement(line))

    def _find_around(self, spot: Spot) -> str | None:
        """Return the function or file around a lambda, a comprehension or a class body."""
        found = self.outlines[spot.path].owner(spot.line) if spot.path in self.outlines else None
        around = self.functions.get(Spot(spot.path, *found)) if found else None
        return around or self._files.get(spot.path)

    def suspends(self, node: Node) -> bool:
        """Return whether a function is a generator or a coroutine."""
        return (node.start_line, node.name) in self.outlines[node.path].suspending

    def plan(self) -> Plan:
        """Return the plan of the source for the tracer."""
        decorators = {spot: list_decorators(self.nodes[identity]) for spot, identity in self.functions.items()}
        decorated = {spot: names for spot, names in decorators.items() if names}
        return Plan(self.source.root, tuple(sorted(self._files)), _list_named(self.wrappers), _list_named(decorated))

    def _find_wrappers(self) -> Iterator[tuple[Spot, set[str]]]:
        """Yield the functions inside functions and classes used as decorators, with the names of the decorators."""
        names = {name for node in self.nodes.values() for name in list_decorators(node)}
        makers = {(n.path, n.qualname) for n in self.nodes.values() if n.label is not Label.FILE and n.name in names}
        for spot, identity in self.functions.items():
            words = self.nodes[identity].qualname.split(".")
            found = {words[at] for at in range(len(words) - 1) if (spot.path, ".".join(words[: at + 1])) in makers}
            if found:
                yield spot, found

    def add_nodes(self) -> None:
        """Index functions, classes and files by their place in the code."""
        for node in self.nodes.values():
            if node.label is Label.FUNCTION:
                self.functions[Spot(node.path, node.start_line, node.name)] = node.id
            elif node.label is Label.CLASS:
                self.classes.add(Spot(node.path, node.start_line, node.name))
            else:
                self._files[node.path] = node.id
        self.wrappers.update(self._find_wrappers())

    def add_edges(self, edges: Iterable[Edge], unbound: dict[str, Node]) -> None:
        """Index calls by the statements that make them, and overrides by method."""
        for edge in edges:
            if edge.type is RelationType.OVERRIDES:
                self.overridden[edge.start].add(edge.end)
                continue
            site = Site(edge.start, self.outlines[self.nodes[edge.start].path].statement(edge.line or 0))
            if edge.type is RelationType.CALLS:
                self.calls[site].append(edge)
            else:
                self.unbound[site].append(unbound[edge.end])

    def find_overridden(self, identity: str) -> set[str]:
        """Return the methods that a method overrides, transitively."""
        found: set[str] = set()
        pending = [identity]
        while pending:
            fresh = self.overridden.get(pending.pop(), set()) - found
            found |= fresh
            pending += fresh
        return found


def read_subject(store: GraphStore, name: str | None, folder: Path) -> Subject:
    """Read a source of a store, by name or as the one whose root contains the folder.

    Raises QueryError if no source, or more than one, matches, PathError if its folder does not exist.
    """
    with store.snapshot():
        source = _choose_source(store, name, folder)
        labels = (Label.FILE, Label.CLASS, Label.FUNCTION)
        found = (node for node in store.nodes(labels, source.name) if node.label is not Label.FILE or holds_code(node))
        nodes = {node.id: node for node in found}
        paths = [node.path for node in nodes.values() if node.label is Label.FILE]
        texts = dict(store.texts(source.name, paths))
        outlines = {path: outline_text(texts.get(path, b"")) for path in paths}
        stale = frozenset(path for path in paths if _is_stale(Path(source.root, path), texts.get(path, b"")))
        subject = Subject(source, nodes, outlines, stale)
        subject.add_nodes()
        unbound = {node.id: node for node in store.nodes((Label.CALL,), source.name)}
        types = (RelationType.CALLS, RelationType.OVERRIDES, RelationType.UNRESOLVED)
        subject.add_edges(store.edges(types, source.name), unbound)
    return subject


def _choose_source(store: GraphStore, name: str | None, folder: Path) -> Source:
    sources = store.sources()
    found = [each for each in sources if each.name == name] if name else _list_around(sources, folder)
    if len(found) != 1:
        known = ", ".join(each.name for each in sources) or "none"
        what = f"no source '{name}'" if name else f"{len(found)} sources fit the folder {folder}"
        raise QueryError(f"{what} in {store.address}; sources that are there: {known}; give one with --source NAME")
    source = found[0]
    if source.kind != "repository" or source.revision is not None or not Path(source.root).is_dir():
        raise PathError(
            f"source '{source.name}' was built from {source.root}, where there is no folder to run code of; expected"
            " a source that was built from a folder; run: pkg build FOLDER"
        )
    return source


def _list_around(sources: tuple[Source, ...], folder: Path) -> list[Source]:
    """Return the only source, or those with the nearest root at or above the folder."""
    if len(sources) == 1:
        return list(sources)
    around = [each for each in sources if Path(each.root) in (folder, *folder.parents)]
    deepest = max((len(Path(each.root).parts) for each in around), default=0)
    return [each for each in around if len(Path(each.root).parts) == deepest]


def _is_stale(file: Path, text: bytes) -> bool:
    """Return whether a file is missing or has other lines than at the build; line ends are ignored."""
    try:
        raw = file.read_bytes()
        if raw == text:
            return False
        with io.TextIOWrapper(io.BytesIO(raw), tokenize.detect_encoding(io.BytesIO(raw).readline)[0]) as stream:
            return stream.read().splitlines() != text.decode("utf-8-sig", "replace").splitlines()
    except (OSError, SyntaxError, UnicodeDecodeError):
        return True


def _list_named(found: Mapping[Spot, set[str]]) -> tuple[Named, ...]:
    return tuple((spot.path, spot.line, tuple(sorted(names))) for spot, names in sorted(found.items()))


def list_decorators(node: Node) -> set[str]:
    """Return the unqualified names of a definition's decorators."""
    texts = node.properties.get("decorators") or ()
    assert isinstance(texts, tuple | list)
    return {str(text).lstrip("@ ").partition("(")[0].rpartition(".")[2].strip() for text in texts}
