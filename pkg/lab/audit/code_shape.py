"""The shape of a function: its code without local names, docstrings and annotations (A-16)."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pkg.extract.syntax import is_string_statement

SHINGLE = 4
"""Tokens of a shingle. With three, different loops over a list share most shingles; with six, one changed line changes
half of those of a short function."""

_LEFT_OUT = frozenset({"annotation", "returns", "decorator_list", "type_comment", "type_params", "ctx", "kind"})
_NAMING = ("name", "arg")
_Definition = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_FIELDS = {
    kind: tuple(field for field in kind._fields if field not in _LEFT_OUT)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
"""Fields of each node type that are walked."""


@dataclass(frozen=True, slots=True)
class CodeShape:
    """Features by which two functions are compared."""

    name: str
    arguments: int  # without the self or cls of a method
    key: bytes  # equal for functions that differ only in local names, docstrings and annotations
    tokens: int  # number of nodes, names and constants of the tree
    shingles: frozenset[int]  # hashes of token n-grams, in which all local names are equal


def find_shape(function: _Definition) -> CodeShape | None:
    """Return the shape of a function; None if it is nested too deeply."""
    given = function.args
    own = [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
    if own and own[0].arg in ("self", "cls"):
        own = own[1:]
    walk = _Walk(function.name, frozenset(_list_bound(function)))
    try:
        for part in (*own, *given.defaults, *filter(None, given.kw_defaults), *_drop_docstring(function.body)):
            walk.add(part)
    except RecursionError:
        return None
    key = hashlib.blake2b("\0".join(walk.exact).encode("utf-8", "replace"), digest_size=16)
    loose = walk.loose
    runs = zip(*(loose[at:] for at in range(SHINGLE)), strict=False)
    shingles = frozenset(map(hash, runs)) or frozenset((hash(tuple(loose)),))
    return CodeShape(function.name, len(own), key.digest(), len(loose), shingles)


class _Walk:
    """Collects the tokens of trees in source order: exact ones, which also mark the end of nodes, and loose ones.

    Local names are numbered by first occurrence in exact tokens, and all equal in loose ones.
    """

    def __init__(self, function: str, bound: frozenset[str]) -> None:
        self.exact: list[str] = []
        self.loose: list[str] = []
        self._numbers = {function: 0}  # it may call itself
        self._bound = bound

    def add(self, node: ast.AST) -> None:
        kind = type(node)
        if kind is ast.Name:
            self._add_name(node.id)  # type: ignore[attr-defined]
        elif kind is ast.Constant:
            self._add(repr(node.value))  # type: ignore[attr-defined]
        elif kind is ast.AnnAssign:
            if node.value is not None:  # type: ignore[attr-defined]
                self._add_node(ast.Assign([node.target], node.value))  # type: ignore[attr-defined]
        else:
            self._add_node(node)

    def _add_node(self, node: ast.AST) -> None:
        kind = type(node)
        self._add(kind.__name__)
        for field in _FIELDS[kind]:
            value = getattr(node, field, None)
            if isinstance(value, ast.AST):
                self.add(value)
            elif isinstance(value, list):
                is_body = field == "body" and kind in _SCOPES
                self._add_list(_drop_docstring(value) if is_body else value)
            elif isinstance(value, str) and field in _NAMING:
                self._add_name(value)  # includes the names of keyword arguments
            elif value is None:
                self.exact.append("-")
            else:
                self._add(str(value))
        self.exact.append(")")

    def _add_list(self, values: list[Any]) -> None:
        for each in values:
            if isinstance(each, ast.AST):
                self.add(each)
            else:
                self._add(str(each))  # None in a dict with `**`, a name after `global`
        self.exact.append("]")

    def _add(self, token: str) -> None:
        self.exact.append(token)
        self.loose.append(token)

    def _add_name(self, name: str) -> None:
        if name in self._bound or name in self._numbers:
            self.exact.append(f"<{self._numbers.setdefault(name, len(self._numbers))}>")
            self.loose.append("<>")
        else:
            self._add(name)


def _list_bound(function: _Definition) -> Iterator[str]:
    """Yield the names that a function and its nested scopes bind, except by imports."""
    nodes: list[ast.AST] = [function]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, _SCOPES):
            yield node.name
        elif isinstance(node, ast.ExceptHandler):
            yield node.name or ""
        for field in _FIELDS[type(node)]:
            value = getattr(node, field, None)
            if isinstance(value, ast.AST):
                nodes.append(value)
            elif isinstance(value, list):
                nodes += [each for each in value if isinstance(each, ast.AST)]


def _drop_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    return body[1:] if body and is_string_statement(body[0]) else body
