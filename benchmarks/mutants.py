"""Generate wrong answers from right ones: one operator, number, comparison or branch changed.

A development set, not the benchmark: models make other kinds of errors, mostly further from the truth.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from random import Random

_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.FloorDiv,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


def list_mutants(code: str) -> list[str]:
    """Return the distinct programs that differ from a program in one place, and not only in layout."""
    tree = ast.parse(code)
    count = sum(1 for _ in ast.walk(tree))
    found = {ast.unparse(tree): None}
    for place in range(count):
        for mutant in _mutate_place(tree, place):
            found.setdefault(mutant, None)
    return list(found)[1:]


def _mutate_place(tree: ast.Module, place: int) -> Iterator[str]:
    """Yield the changes of the node at one place of the walk."""
    for variant in range(2):
        changed = copy.deepcopy(tree)
        node = list(ast.walk(changed))[place]
        if _change(node, variant):
            yield ast.unparse(ast.fix_missing_locations(changed))


def _change(node: ast.AST, variant: int) -> bool:
    """Change a node in place; return whether there was something to change."""
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign) and type(node.op) in _SWAPS and not variant:
        node.op = _SWAPS[type(node.op)]()  # type: ignore[assignment]
        return True
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _SWAPS and not variant:
        node.ops[0] = _SWAPS[type(node.ops[0])]()  # type: ignore[call-overload]
        return True
    if isinstance(node, ast.Constant) and type(node.value) is int:
        node.value += 1 - 2 * variant
        return True
    if isinstance(node, ast.If) and variant and node.orelse:
        node.orelse = []
        return True
    if isinstance(node, ast.If) and not variant:
        node.test = ast.UnaryOp(ast.Not(), node.test)
        return True
    if isinstance(node, ast.Return) and node.value is not None and not variant:
        node.value = ast.Constant(None)
        return True
    return False


def choose_mutants(code: str, count: int, seed: str) -> list[str]:
    """Choose some mutants of a program, reproducibly by seed."""
    mutants = list_mutants(code)
    return Random(seed).sample(mutants, min(count, len(mutants)))
