"""Substitute values for names in tests, so that expected values need not be sent to the sandbox."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from typing import Any

from pkg.rerank.examples.literals import NotLiteral, evaluate

_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

Environment = dict[str, ast.expr]


class _Substitution(ast.NodeTransformer):
    """Replaces names that are read, except where an inner function or comprehension binds them."""

    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self.values = dict(values)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        value = self.values.get(node.id) if isinstance(node.ctx, ast.Load) else None
        return node if value is None else ast.copy_location(deepcopy(value), node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        hidden = _list_inner(node)
        if not hidden & self.values.keys():
            return super().generic_visit(node)
        kept = self.values
        self.values = {name: value for name, value in kept.items() if name not in hidden}
        try:
            return super().generic_visit(node)
        finally:
            self.values = kept


def _list_inner(node: ast.AST) -> set[str]:
    """Return the names that a node binds in its own scope."""
    if isinstance(node, _Function):
        given = node.args
        named = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
        candidate_names = {each.arg for each in named if each is not None}
        return (
            candidate_names
            if isinstance(node, ast.Lambda)
            else candidate_names | set().union(*map(list_stored, node.body))
        )
    if isinstance(node, _Comprehension):
        return set().union(*(list_stored(each.target) for each in node.generators))
    return set()


def list_stored(node: ast.AST) -> set[str]:
    """Return the names that a statement or target binds."""
    found: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load):
            found.add(each.id)
        elif isinstance(each, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in each.names}
        elif isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or (
            isinstance(each, ast.ExceptHandler) and each.name
        ):
            found.add(str(each.name))
    return found


def substitute(node: Any, values: Mapping[str, ast.expr]) -> Any:
    """Return a copy of a node with values substituted for names that are read."""
    return _Substitution(values).visit(deepcopy(node)) if values else node


def is_replaceable(
    name: str, value: ast.expr, statements: Sequence[ast.stmt], candidate_names: Collection[str]
) -> bool:
    """Return whether a name may be replaced by its value in the statements that follow.

    False if the value may be mutated and read again, such as a list that is passed to a call and compared afterwards.
    True for a name that is only compared, or read once.
    """
    try:
        made = evaluate(value, candidate_names)
    except NotLiteral:
        return False
    stored = {each for statement in statements for each in _list_changed(statement)}
    if name in stored:
        return False
    if _is_frozen(made):
        return True
    reads = [read for statement in statements for read in _list_reads(statement, name)]
    return all(is_compared for is_compared, _ in reads) or (len(reads) == 1 and not reads[0][1])


def _is_frozen(value: object) -> bool:
    if isinstance(value, tuple | frozenset):
        return all(map(_is_frozen, value))
    return not isinstance(value, list | dict | set | bytearray) and type(value).__name__ != "deque"


def _list_changed(statement: ast.stmt) -> set[str]:
    """Return the names that a statement mutates, deletes, declares global, or binds in a loop."""
    found: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        elif isinstance(node, ast.Delete):
            found |= list_stored(node)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            found |= {*node.names}
        elif isinstance(node, ast.While | ast.For | ast.AsyncFor):
            found |= set().union(*map(list_stored, node.body))
    return found


def _list_reads(statement: ast.stmt, name: str) -> list[tuple[bool, bool]]:
    """List the reads of a name: for each whether it is a comparison, and whether it may be repeated."""
    found: list[tuple[bool, bool]] = []
    waiting: list[tuple[ast.AST, bool, bool]] = [(statement, False, False)]
    while waiting:
        node, is_compared, repeats = waiting.pop()
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            found.append((is_compared, repeats))
        compares = isinstance(node, ast.Compare) or (isinstance(node, ast.Call) and _asserts(node))
        again = repeats or isinstance(node, ast.While | ast.For | _Function | _Comprehension)
        waiting += [(child, compares, again) for child in ast.iter_child_nodes(node)]
    return found


def _asserts(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr.startswith("assert")
