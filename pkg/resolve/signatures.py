"""The heads of functions and lambdas: parameters, defaults and annotations."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from pkg.resolve.parsing import parse_quietly

_SIMPLE = re.compile(rb"[^(]*\(([\w\s,]*)\)\s*:?\s*\Z")


class Parameter(NamedTuple):
    """One parameter of a function or lambda."""

    name: str
    kind: str  # "", "*" or "**"
    default: ast.expr | None
    annotation: ast.expr | None
    is_keyword_only: bool = False


class Signature(NamedTuple):
    """What the head of a function says."""

    parameters: tuple[Parameter, ...] = ()
    returns: ast.expr | None = None


def parse_signature(text: bytes) -> Signature:
    """Read the head of a function or lambda, up to its colon; one that this Python does not know has no parameters."""
    if text.startswith(b"lambda"):
        text = b"def _(" + text.removeprefix(b"lambda").rstrip().removesuffix(b":") + b"):"  # all stays in its place
    simple = _SIMPLE.match(text)
    if simple:
        names = simple.group(1).decode("utf-8", "replace").replace(",", " ").split()
        return Signature(tuple(Parameter(name, "", None, None) for name in names))
    tree = parse_quietly(text.rstrip() + b"\n pass", "exec")  # the head may end in a comment
    node = tree.body[0] if isinstance(tree, ast.Module) else None
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return Signature()
    return Signature(tuple(_list_parameters(node.args)), node.returns)


def _list_parameters(arguments: ast.arguments) -> Iterator[Parameter]:
    plain = [*arguments.posonlyargs, *arguments.args]
    missing: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults))
    for argument, default in zip(plain, [*missing, *arguments.defaults], strict=True):
        yield Parameter(argument.arg, "", default, argument.annotation)
    if arguments.vararg:
        yield Parameter(arguments.vararg.arg, "*", None, arguments.vararg.annotation)
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield Parameter(argument.arg, "", default, argument.annotation, is_keyword_only=True)
    if arguments.kwarg:
        yield Parameter(arguments.kwarg.arg, "**", None, arguments.kwarg.annotation)
