"""Turn the statements of a session into one expression, so that its value can be asked for.

`x = [2, 1]` and then `f(x)` becomes `(lambda x: f(x))([2, 1])`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence


def chain_statements(earlier: Sequence[ast.stmt], asked: str) -> str | None:
    """Put those of the earlier statements before an expression that it needs; None where one of them has no place."""
    source, needed = asked, _list_names(ast.parse(asked, mode="eval"))
    bound = {name for statement in earlier for name in _list_bound(statement)}
    if not bound & needed:
        return source
    for statement in reversed(earlier):
        chained = _chain(statement, source)
        if chained is None:
            return None
        source = chained
    return source


def _chain(statement: ast.stmt, rest: str) -> str | None:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        return f"(lambda {statement.targets[0].id}: {rest})({ast.unparse(statement.value)})"
    if isinstance(statement, ast.Expr):
        return f"({ast.unparse(statement.value)}, {rest})[1]"
    if isinstance(statement, ast.Import) and all("." not in each.name for each in statement.names):
        for each in statement.names:
            rest = f"(lambda {each.asname or each.name}: {rest})(__import__({each.name!r}))"
        return rest
    if isinstance(statement, ast.ImportFrom):
        return rest  # of the wanted code itself, which is there without an import
    return None


def _list_names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _list_bound(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.Import):
        return {each.asname or each.name for each in statement.names}
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
