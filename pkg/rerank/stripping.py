"""Strip what a candidate says about itself, so that what it does is compared with the query (A-07)."""

from __future__ import annotations

import ast

from pkg.rerank.question import Definition
from pkg.rerank.syntax import parse_code


def strip_code(code: str) -> str:
    """Give code without comments, docstrings and layout; what does not parse stays as it is."""
    tree = parse_code(code)
    if tree is None:
        return code
    for node in ast.walk(tree):
        if isinstance(node, Definition | ast.Module):
            body = [each for each in node.body if not _is_text(each)]
            node.body = body if body or isinstance(node, ast.Module) else [ast.Pass()]
    try:
        return ast.unparse(tree)
    except RecursionError:
        return code


def _is_text(statement: ast.stmt) -> bool:
    """Tell whether a statement is a string alone: a docstring, or a comment in its clothes."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
