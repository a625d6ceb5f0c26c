"""What the text of an annotation says, whatever its names stand for (A-12)."""

from __future__ import annotations

import ast
from collections.abc import Iterator

SAYING_NOTHING = ("Any", "object", "Callable")


def name_last(node: ast.expr) -> str:
    """Give the last name of a dotted one."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def list_parts(node: ast.expr) -> Iterator[ast.expr]:
    """Give what an annotation is made of, without arguments; of several kinds of object, each."""
    if isinstance(node, ast.BinOp):
        yield from list_parts(node.left)
        yield from list_parts(node.right)
    elif not isinstance(node, ast.Subscript):
        yield node
    elif name_last(node.value) in ("Type", "type", "Optional", "Union"):
        for part in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
            yield from list_parts(part)
    else:
        yield node.value


def is_open(node: ast.expr | None) -> bool:
    """Tell whether an annotation leaves open what an object is, beside what it promises.

    So does a short name in capitals, as type variables have; but so has many a class.
    """
    names = [name_last(part) for part in list_parts(node)] if node is not None else []
    return any(name in SAYING_NOTHING or (len(name) <= 2 and name.isupper()) for name in names)
