"""Find functions of a repository by their relation to a masked function: its callers, and those of a similar role."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from pathlib import PurePosixPath
from typing import NamedTuple

from pkg.extract.syntax import is_string_statement, parse_code
from pkg.generation.aligned_code import align_code
from pkg.generation.prompt_templates.prompt_template import HelperText
from pkg.graph.path_filter import is_test
from pkg.graph.store import GraphStore
from pkg.lab.evaluation.repository.masked_functions import Definition, MaskedFunction
from pkg.lab.evaluation.repository.project_tests import Project
from pkg.model import Edge, Label, Node, RelationType, is_bound
from pkg.terms.words import split_identifier

AROUND = 3  # lines shown before and after a call
MAKERS = ("__init__", "__new__")  # called through their class
IMPLICIT = ("self", "cls")  # parameters that say nothing about a role

Belongs = Callable[[str, int, int, str, MaskedFunction], bool]
"""Whether code, by path, first and last line and text, is of a test, of a masked function, or contains its body."""


class Usage(NamedTuple):
    """A call of a function."""

    line: str  # the line of the call, without indentation
    text: HelperText  # the lines around it, with their place


class FunctionLinks:
    """Lists the calls of functions, and functions of a similar role, without what belongs to a masked function."""

    def __init__(self, store: GraphStore, project: Project, belongs: Belongs) -> None:
        self._store, self._project, self._belongs = store, project, belongs

    def find_targets(self, masked: MaskedFunction) -> set[str]:
        """Return the ids under which a function is called: its own, and that of the class that it initialises."""
        owner = masked.qualname.rpartition(".")[0]
        return {
            node.id
            for node in self._definitions.values()
            if node.path == masked.path
            and (
                (node.label is Label.FUNCTION and node.start_line == masked.line)
                or (node.label is Label.CLASS and masked.name in MAKERS and node.qualname == owner)
            )
        }

    def list_usages(self, targets: Collection[str], masked: MaskedFunction) -> Iterator[Usage]:
        """Yield a call by each other function: first those near the masked one, then those with most callers."""
        first: dict[str, Edge] = {}
        for target in targets:
            for edge in self._calls.get(target, ()):
                if edge.start not in first or (edge.line or 0) < (first[edge.start].line or 0):
                    first[edge.start] = edge
        callers = {id_: self._definitions[id_] for id_ in first.keys() - set(targets) if id_ in self._definitions}
        for node in sorted(callers.values(), key=lambda node: self._rank_caller(node, masked)):
            usage = self._show_call(node, first[node.id].line or 0, masked)
            if usage is not None:
                yield usage

    def _rank_caller(self, node: Node, masked: MaskedFunction) -> tuple[int, int, str, int]:
        callers = {edge.start for edge in self._calls.get(node.id, ())}
        return _measure_distance(node, masked), -len(callers), node.path, node.start

    def _show_call(self, caller: Node, line: int, masked: MaskedFunction) -> Usage | None:
        """Return the lines around a call; None if they, or a function on these lines, belong to the masked function."""
        lines = (self._project.read_text(caller.path) or "").split("\n") if caller.path in self._project.files else []
        if not 0 < line <= len(lines):
            return None
        is_function = caller.label is Label.FUNCTION
        body = _find_body(caller) if is_function else 1
        start = max(line - AROUND, body if body <= line else caller.start_line)
        end = min(line + AROUND, caller.end_line if is_function else len(lines))
        code = "\n".join(lines[start - 1 : end])
        if self._belongs(caller.path, start, end, code, masked):
            return None
        touched = (each for each in self._by_path[caller.path] if each.start_line <= end and each.end_line >= start)
        if any(self._belongs(each.path, each.start_line, each.end_line, each.content, masked) for each in touched):
            return None
        name = caller.qualname if is_function else "module"
        place = f"{caller.path}:{start}-{end} {name}"
        return Usage(lines[line - 1].strip(), HelperText(place, _dedent(lines[start - 1 : end])))

    def find_similar(self, masked: MaskedFunction, among: Sequence[Node]) -> Node | None:
        """Return the function of the most similar role.

        Overrides of the same method come first, then functions of the same name, then those that share most words of
        name and parameters; the nearest of equal ones.
        """
        linked = self._list_overrides(self.find_targets(masked))
        wanted = _list_words(masked.code)

        def rank(node: Node) -> tuple[bool, bool, float, int, str, int]:
            distance = _measure_distance(node, masked)
            shared = _share_words(wanted, self._words_of(node))
            return node.id not in linked, node.name != masked.name, -shared, distance, node.path, node.start

        fitting = (
            node for node in among if not self._belongs(node.path, node.start_line, node.end_line, node.content, masked)
        )
        return min(fitting, key=rank, default=None)

    def _list_overrides(self, ids: Collection[str]) -> set[str]:
        """Return the methods that override the same methods, these themselves, and those that override them."""
        bases = {end for start, end in self._overrides if start in ids}
        return {start for start, end in self._overrides if end in bases or end in ids} | bases

    def _words_of(self, node: Node) -> frozenset[str]:
        if node.id not in self._words:
            self._words[node.id] = _list_words(align_code(node.content))
        return self._words[node.id]

    @cached_property
    def _words(self) -> dict[str, frozenset[str]]:
        return {}

    @cached_property
    def _definitions(self) -> dict[str, Node]:
        """Return the functions, classes and files outside of tests by id."""
        nodes = self._store.nodes((Label.FUNCTION, Label.CLASS, Label.FILE))
        return {node.id: node for node in nodes if not is_test(node.path)}

    @cached_property
    def _by_path(self) -> dict[str, list[Node]]:
        found: dict[str, list[Node]] = defaultdict(list)
        for node in self._definitions.values():
            if node.label is Label.FUNCTION:
                found[node.path].append(node)
        return found

    @cached_property
    def _calls(self) -> dict[str, list[Edge]]:
        """Return the calls outside of tests by the id of the callee, without possible ones."""
        found: dict[str, list[Edge]] = defaultdict(list)
        for edge in self._store.edges((RelationType.CALLS,)):
            if edge.start in self._definitions and is_bound(edge.confidence):
                found[edge.end].append(edge)
        return found

    @cached_property
    def _overrides(self) -> list[tuple[str, str]]:
        return [(edge.start, edge.end) for edge in self._store.edges((RelationType.OVERRIDES,))]


def _measure_distance(node: Node, masked: MaskedFunction) -> int:
    """Return 0 for the same class, or functions of the same module; 1 for the same file, 2 for the same folder, 3."""
    if node.path == masked.path:
        return int(node.qualname.rpartition(".")[0] != masked.qualname.rpartition(".")[0])
    return 2 if PurePosixPath(node.path).parent == PurePosixPath(masked.path).parent else 3


def _find_body(node: Node) -> int:
    """Return the first line of a function after its docstring; its first line if it has none."""
    tree = parse_code(align_code(node.content))
    function = tree.body[0] if tree is not None and tree.body else None
    if not isinstance(function, Definition) or not is_string_statement(function.body[0]):
        return node.start_line
    return node.start_line + (function.body[0].end_lineno or 0)


def _dedent(lines: Sequence[str]) -> str:
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[margin:] for line in lines)


def _list_words(code: str) -> frozenset[str]:
    """Return the words of the name and the parameters of the outermost function in code."""
    tree = parse_code(code)
    found = [each for each in ast.walk(tree) if isinstance(each, Definition)] if tree is not None else []
    if not found:
        return frozenset()
    function = found[0]
    given = function.args
    names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs) if each.arg not in IMPLICIT]
    names += [each.arg for each in (given.vararg, given.kwarg) if each is not None]
    return frozenset(word for name in (function.name, *names) for word in split_identifier(name.encode()))


def _share_words(first: frozenset[str], second: frozenset[str]) -> float:
    """Return the number of common words by that of all words."""
    return len(first & second) / max(1, len(first | second))
