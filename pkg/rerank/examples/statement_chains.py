"""Put statements before an expression that needs what they bind: `x = f(2)` and then `x` are one expression."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pkg.rerank.examples.literals import parse_expression, write_code


def chain_statements(earlier: Sequence[ast.stmt], asked: str) -> str | None:
    """Put those of the earlier statements before an expression that it needs; None where one of them has no place."""
    tree = parse_expression(asked)
    bound = {name for statement in earlier for name in _list_bound(statement)}
    source, needed = asked, bound & _list_names(tree) if tree is not None else set()
    if not needed:
        return source
    for statement in reversed(earlier):
        own = _list_bound(statement)
        is_idle = isinstance(statement, ast.Assign | ast.AnnAssign | ast.Import) and not own & needed
        if is_idle or isinstance(statement, ast.Assert):  # which is an example of its own
            continue
        chained = _chain(statement, source)
        if chained is None:
            return None
        source, needed = chained, needed - own | bound & _list_read(statement)
    return source


def _chain(statement: ast.stmt, rest: str) -> str | None:
    if write_code(statement) is None:
        return None
    if isinstance(statement, ast.Assign):
        return _bind(statement.targets, ast.unparse(statement.value), rest)
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        return _bind([statement.target], ast.unparse(statement.value), rest)
    if isinstance(statement, ast.Expr):
        return f"({ast.unparse(statement.value)}, {rest})[1]"
    if isinstance(statement, ast.Import) and all("." not in each.name for each in statement.names):
        for each in statement.names:
            rest = f"(lambda {each.asname or each.name}: {rest})(__import__({each.name!r}))"
        return rest
    if isinstance(statement, ast.ImportFrom):
        return rest  # of the wanted code itself, which is there without an import
    return None


def _bind(targets: Sequence[ast.expr], value: str, rest: str) -> str | None:
    """Write `x = value`, `a, b = value` or `x = y = value` before an expression, as a function that is called."""
    first, *others = targets
    if isinstance(first, ast.Name):
        inner = _bind(others, first.id, rest) if others else rest
        return inner and f"(lambda {first.id}: {inner})({value})"
    if others or not isinstance(first, ast.Tuple | ast.List) or not all(isinstance(e, ast.Name) for e in first.elts):
        return None
    return f"(lambda {', '.join(map(ast.unparse, first.elts))}: {rest})(*({value}))" if first.elts else None


def _list_names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _list_read(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _list_bound(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.Import):
        return {each.asname or each.name for each in statement.names}
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
