"""Strip what a candidate says about itself, so that what it does is compared with the query (A-07)."""

from __future__ import annotations

import ast

from pkg.rerank.question import Definition
from pkg.rerank.syntax import parse_code
from pkg.retrieval.syntax import is_string_statement


def strip_code(code: str) -> str:
    """Give code without comments, docstrings and layout; what does not parse stays as it is."""
    tree = parse_code(code)
    if tree is None:
        return code
    for node in ast.walk(tree):
        if isinstance(node, Definition | ast.Module):
            body = [each for each in node.body if not is_string_statement(each)]
            node.body = body if body or isinstance(node, ast.Module) else [ast.Pass()]
    try:
        return ast.unparse(tree)
    except RecursionError:
        return code
