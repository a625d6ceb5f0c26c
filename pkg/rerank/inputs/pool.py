"""Gather what the values of inputs are made of: what the code of the candidates compares with, and what the query says.

Code that looks for 'zero' or for '1' does nothing worth comparing on texts without them, so the literals of all
candidates are a dictionary to make inputs of, as fuzzers take them from the program that they try.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeGuard

LONGEST_TEXT = 12  # characters; a longer literal is a message or a pattern
LARGEST = 1_000  # a larger number of the code is a modulus or stands for infinity

_SORTED = re.compile(
    r"\b(?:in|of|from|given|the|an?|two|three)\s+sorted\s+(?:\w+\s+)?(?:arrays?|lists?|sequences?)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Pool:
    """What values are made of, beside what stands in pkg.rerank.inputs.values."""

    texts: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    is_sorted: bool = False  # the query speaks of sorted lists


def make_pool(query: str, trees: Iterable[ast.AST]) -> Pool:
    """Gather the literals of some code, each once and sorted, so that the order of candidates does not matter."""
    found = {value for tree in trees for value in _list_literals(tree)}
    texts = sorted(each for each in found if isinstance(each, str))
    numbers = sorted(each for each in found if isinstance(each, int))
    return Pool(tuple(texts), tuple(numbers), _SORTED.search(query) is not None)


def _list_literals(tree: ast.AST) -> Iterator[str | int]:
    """List the short texts and small numbers of the code; an f-string and a docstring hold none."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Constant) and _is_of_use(node.value):
            yield node.value
        elif not isinstance(node, ast.JoinedStr) and not _is_said(node):
            waiting += ast.iter_child_nodes(node)


def _is_of_use(value: object) -> TypeGuard[str | int]:
    if isinstance(value, str):
        return bool(value.strip()) and len(value) <= LONGEST_TEXT
    return type(value) is int and abs(value) <= LARGEST


def _is_said(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
