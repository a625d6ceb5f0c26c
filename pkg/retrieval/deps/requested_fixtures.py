"""Find the fixtures that a test, fixture or test class requests: by its parameters, and by usefixtures marks.

Brackets in defaults, annotations and texts defeat regular expressions, so headers, decorators and classes are parsed.
Code that this Python cannot parse requests nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pkg.extract.syntax import parse_statements
from pkg.model import Node
from pkg.retrieval.deps.entries import list_decorators
from pkg.retrieval.heads import locate_header

_MARK = "usefixtures"
_OF_CLASS = "pytestmark"


def requests_fixture(node: Node, name: str) -> bool:
    """Return whether a test or fixture requests a fixture, by a parameter or a mark of its own."""
    if name in node.content and name in _list_parameters(node.content):
        return True
    return name in _list_decorated(node)


def list_marks(owner: Node) -> set[str]:
    """List the fixtures that the marks of a class name: its decorators, and its pytestmark."""
    found = set(_list_decorated(owner))
    if _OF_CLASS in owner.content and _MARK in owner.content:
        found.update(_list_assigned(owner))
    return found


def _list_parameters(content: str) -> Iterator[str]:
    """Yield the parameters of a function that pytest fills: those without a default."""
    place = locate_header(content)
    if place is None:
        return
    header = content[: place.end].split("\n", place.first)[-1].strip()
    for statement in parse_statements(f"{header}\n pass".encode("utf-8", "replace")):  # a header may end in a comment
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = statement.args
            plain = [*arguments.posonlyargs, *arguments.args]
            yield from (each.arg for each in plain[: len(plain) - len(arguments.defaults)])
            named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            yield from (each.arg for each, default in named if default is None)


def _list_decorated(node: Node) -> Iterator[str]:
    for _, call in list_decorators(node):
        yield from _list_named(call) if call is not None else ()


def _list_assigned(owner: Node) -> Iterator[str]:
    """Yield the fixtures that the body of a class assigns to its pytestmark."""
    indent = b" " * owner.start_col
    for definition in parse_statements(owner.content.encode("utf-8", "replace"), indent):
        for each in definition.body if isinstance(definition, ast.ClassDef) else ():
            if isinstance(each, ast.Assign | ast.AnnAssign | ast.AugAssign) and each.value is not None:
                targets = each.targets if isinstance(each, ast.Assign) else [each.target]
                if any(isinstance(target, ast.Name) and target.id == _OF_CLASS for target in targets):
                    yield from _list_named(each.value)


def _list_named(value: ast.expr) -> Iterator[str]:
    """Yield the fixtures in the usefixtures calls of an expression."""
    for each in ast.walk(value):
        if isinstance(each, ast.Call):
            called = each.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", None)
            for argument in each.args if name == _MARK else ():
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield argument.value
