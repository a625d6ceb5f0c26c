"""Pieces of a text as expressions of Python: parsed one by one, and found again in the text they are of."""

from __future__ import annotations

import ast
import re
from typing import Literal

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
