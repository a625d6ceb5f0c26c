"""Unroll the loops of a test: the items of a loop, and the names that each iteration binds."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable

from pkg.rerank.examples.literals import NotLiteral, evaluate, find_name, write_value
from pkg.rerank.examples.substitution import Environment


def exits_early(loop: ast.For) -> bool:
    """Return whether a loop has a `break` or `continue`."""
    return any(isinstance(node, ast.Break | ast.Continue) for each in loop.body for node in ast.walk(each))


def pair_names(target: ast.expr, value: ast.expr) -> Environment | None:
    """Unpack a value into the names of a target; None if the target is not made of names or does not fit."""
    if isinstance(target, ast.Name):
        return {target.id: value}
    if not isinstance(target, ast.Tuple | ast.List) or not isinstance(value, ast.Tuple | ast.List):
        return None
    if len(target.elts) != len(value.elts):
        return None
    found: Environment = {}
    for each, part in zip(target.elts, value.elts, strict=True):
        inner = pair_names(each, part)
        if inner is None:
            return None
        found |= inner
    return found


def list_items(node: ast.expr, candidate_names: Collection[str]) -> list[ast.expr] | None:
    """List the items of a loop over an expression; None if they are unknown."""
    if isinstance(node, ast.List | ast.Tuple) and not any(isinstance(each, ast.Starred) for each in node.elts):
        return node.elts
    if isinstance(node, ast.Call):
        return _list_call_items(node, candidate_names)
    try:
        value = evaluate(node, candidate_names)
    except NotLiteral:
        return None
    return _write_items(value) if isinstance(value, str | dict | list | tuple) else None


def _list_call_items(node: ast.Call, candidate_names: Collection[str]) -> list[ast.expr] | None:
    name = find_name(node.func)
    if isinstance(node.func, ast.Attribute):
        held = node.func.value
        if name in ("items", "keys", "values") and isinstance(held, ast.Dict) and None not in held.keys:
            keys = [each for each in held.keys if each is not None]
            pairs: list[ast.expr] = [
                ast.Tuple([key, value], ast.Load()) for key, value in zip(keys, held.values, strict=True)
            ]
            return pairs if name == "items" else keys if name == "keys" else held.values
        return None
    if name in ("zip", "enumerate") and name not in candidate_names and not node.keywords:
        columns = [list_items(each, candidate_names) for each in node.args]
        known = [each for each in columns if each is not None]
        if len(known) != len(columns) or not known:
            return None
        if name == "enumerate":
            known.insert(0, [ast.Constant(number) for number in range(len(known[0]))])
        return [ast.Tuple(list(row), ast.Load()) for row in zip(*known, strict=False)]
    try:
        value = evaluate(node, candidate_names)
    except NotLiteral:
        return None
    return _write_items(value) if isinstance(value, str | dict | list | tuple) else None


def _write_items(values: Iterable[object]) -> list[ast.expr]:
    return [ast.parse(write_value(each), mode="eval").body for each in values]
