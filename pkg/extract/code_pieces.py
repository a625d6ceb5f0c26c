"""Pieces of a text as Python: expressions and heads of functions, parsed one by one and found again in the text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from pkg.extract.syntax import parse_tree, silence_warnings

_WARNED_OF = re.compile(rb"\\|\d[^\W\d]")  # an escape, or a number with a name right behind it


def parse_expression(text: bytes) -> ast.expr | None:
    """Parse an expression that may go over several lines; None for what this Python does not know."""
    tree = parse_quietly(b"(" + text + b"\n)", "eval")
    return tree.body if isinstance(tree, ast.Expression) else None


def parse_quietly(text: bytes, mode: Literal["exec", "eval"]) -> ast.AST | None:
    """Parse a text without a word about doubtful escapes in it; None for what this Python does not know."""
    try:
        if not _WARNED_OF.search(text):
            return parse_tree(text, mode, "<piece>")
        with silence_warnings():
            return parse_tree(text, mode, "<piece>")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


_CASE = b"match _:\n case "
_BEFORE_PATTERN = len(_CASE.splitlines()[-1])


def parse_pattern(text: bytes) -> ast.pattern | None:
    """Parse the pattern of a case; None for what this Python does not know."""
    tree = parse_quietly(_CASE + text + b":\n  pass", "exec")
    statement = tree.body[0] if isinstance(tree, ast.Module) else None
    return statement.cases[0].pattern if isinstance(statement, ast.Match) else None


def locate(node: ast.expr, text: bytes, at: int) -> tuple[int, int]:
    """Give the byte offsets of a node of an expression that was parsed from an offset of a text on."""
    end_line = node.end_lineno or node.lineno
    start = _find_line(text, at, node.lineno) + node.col_offset
    return start, _find_line(text, at, end_line) + (node.end_col_offset or 0)


def locate_in_pattern(node: ast.expr, text: bytes, at: int) -> tuple[int, int]:
    """Give the byte offsets of an expression in a pattern that was parsed from an offset of a text on."""
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    start = _find_line(text, at, first, _BEFORE_PATTERN) + node.col_offset
    return start, _find_line(text, at, last, _BEFORE_PATTERN) + (node.end_col_offset or 0)


def _find_line(text: bytes, at: int, line: int, before: int = 1) -> int:
    """Find where a line of a piece begins; its first has something before it: the bracket of parse_expression."""
    if line == 1:
        return at - before
    for _ in range(line - 1):
        at = text.find(b"\n", at) + 1
    return at


def spell(node: ast.expr) -> str | None:
    """Write a name with the attributes and items behind it as conditions are known by; nothing for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.NamedExpr):
        return spell(node.target)
    if isinstance(node, ast.Attribute):
        inner = spell(node.value)
        return f"{inner}.{node.attr}" if inner is not None else None
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        inner, key = spell(node.value), node.slice.value
        if inner is None or not isinstance(key, str | int):
            return None
        return f'{inner}["{key}"]' if isinstance(key, str) else f"{inner}[{key}]"
    return None


_SIMPLE_HEAD = re.compile(rb"[^(]*\(([\w\s,]*)\)\s*:?\s*\Z")


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
    simple = _SIMPLE_HEAD.match(text)
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
