"""The shape of a function: what is left when names of its own, docstrings and annotations are taken away (A-16)."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from pkg.extract.syntax import is_string_statement

SHINGLE = 4
"""Tokens that are compared as one: of three, unlike loops over a list share most; of six, one changed line is half of a
short function."""

_LEFT_OUT = frozenset({"annotation", "returns", "decorator_list", "type_comment", "type_params", "ctx", "kind"})
_Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class CodeShape:
    """What of a function can be compared with another one."""

    name: str
    arguments: int  # without the self or cls of a method
    key: bytes  # equal for two functions that are the same but for names of their own, docstrings and annotations
    tokens: int  # of the tree: its nodes, names and constants
    shingles: frozenset[int]  # hashes of the runs of tokens, in which all names of its own are one


class _Token(NamedTuple):
    exact: str
    loose: str


def find_shape(function: _Definition) -> CodeShape | None:
    """Find the shape of a function; None for one that nests deeper than can be walked."""
    names = _Names(function.name, frozenset(_list_bound(function)))
    own = _list_arguments(function.args)
    if own and own[0].arg in ("self", "cls"):
        own = own[1:]
    try:
        tokens = [token for part in (*own, *_list_defaults(function.args)) for token in _walk(part, names)]
        tokens += [token for statement in _drop_docstring(function.body) for token in _walk(statement, names)]
    except RecursionError:
        return None
    key = hashlib.blake2b("\0".join(token.exact for token in tokens).encode("utf-8", "replace"), digest_size=16)
    loose = [token.loose for token in tokens if token.loose]
    shingles = frozenset(hash(tuple(loose[at : at + SHINGLE])) for at in range(max(1, len(loose) - SHINGLE + 1)))
    return CodeShape(function.name, len(own), key.digest(), len(loose), shingles)


class _Names:
    """Numbers the names that a function binds itself, in the order in which they come."""

    def __init__(self, function: str, bound: frozenset[str]) -> None:
        self._numbers = {function: 0}  # it may call itself
        self._bound = bound

    def write(self, name: str) -> _Token:
        if name in self._bound or name in self._numbers:
            return _Token(f"<{self._numbers.setdefault(name, len(self._numbers))}>", "<>")
        return _Token(name, name)


def _list_arguments(found: ast.arguments) -> list[ast.arg]:
    more = [each for each in (found.vararg, found.kwarg) if each is not None]
    return [*found.posonlyargs, *found.args, *found.kwonlyargs, *more]


def _list_defaults(found: ast.arguments) -> list[ast.expr]:
    return [*found.defaults, *(each for each in found.kw_defaults if each is not None)]


def _list_bound(function: _Definition) -> Iterator[str]:
    """List the names that a function and what lies inside it binds; names of modules stay what they are."""
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, _Definition | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.ExceptHandler):
            yield node.name or ""


def _drop_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    return body[1:] if body and is_string_statement(body[0]) else body


def _walk(node: ast.AST, names: _Names) -> Iterator[_Token]:
    """Give the tokens of a tree in the order of the text; a closing one, exact alone, ends each node."""
    if isinstance(node, ast.AnnAssign):
        if node.value is None:
            return
        node = ast.Assign([node.target], node.value)
    if isinstance(node, ast.Name):
        yield names.write(node.id)
        return
    if isinstance(node, ast.Constant):
        written = repr(node.value)
        yield _Token(written, written)
        return
    kind = type(node).__name__
    yield _Token(kind, kind)
    for field in node._fields:
        if field not in _LEFT_OUT:
            yield from _walk_field(field, getattr(node, field, None), node, names)
    yield _Token(")", "")


def _walk_field(field: str, value: object, node: ast.AST, names: _Names) -> Iterator[_Token]:
    if isinstance(value, ast.AST):
        yield from _walk(value, names)
    elif isinstance(value, list):
        is_body = field == "body" and isinstance(node, _Definition | ast.ClassDef)
        for each in _drop_docstring(value) if is_body else value:
            if isinstance(each, ast.AST):
                yield from _walk(each, names)
            else:
                yield _Token(str(each), str(each))  # None in a dict of `**`, a name behind `global`
        yield _Token("]", "")
    elif isinstance(value, str) and field in ("name", "arg"):
        yield names.write(value)  # of keyword arguments, too: they are bound where the function is
    else:
        written = "" if value is None else str(value)
        yield _Token(f"{field}={written}", written)
