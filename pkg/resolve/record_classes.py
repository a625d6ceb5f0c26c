"""Classes whose constructor is made of the names that are annotated in them: dataclasses, attrs, NamedTuple (A-12)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from pkg.resolve.hierarchy import Hierarchy
from pkg.resolve.resolution_context import Trees
from pkg.resolve.scope_model import Scope
from pkg.units import Code

AFTER_INIT = ("__post_init__", "__attrs_post_init__")  # what such a constructor calls at its end
_FACTORIES = ("default_factory", "factory")


class Generated(NamedTuple):
    """A class whose fields a constructor takes, and how many of its parameters come before them."""

    scope: Scope
    shift: int


def list_generated(hierarchy: Hierarchy, scope: Scope) -> list[Generated]:
    """Give the classes whose fields the constructor of a class takes; none where it is written."""
    order = list(hierarchy.order(scope))
    made = next((place for place, each in enumerate(order) if each.is_record or "__init__" in each.names), None)
    if made is None or "__init__" in order[made].names:
        return []
    found, shift = [], 0
    for each in reversed(order[made:]):
        if each.is_record:
            found.append(Generated(each, shift))
            shift += len(each.record_fields)
    return found


def describe_fields(scope: Scope) -> list[tuple[str, list[bytes]]]:
    """Give what decides on the constructor of a class that is made of its fields; nothing for another class."""
    text = scope.module.text
    return [
        (name, [text[each.start : each.end] for each in scope.names[name]])
        for name in scope.record_fields
    ]  # fmt: skip


def list_factories(trees: Trees, scope: Scope) -> Iterator[tuple[ast.expr, int]]:
    """Give the functions that make the defaults of fields, parsed, with the offset from which their text was."""
    for bindings in scope.names.values():
        for binding in bindings:
            text = scope.module.text[binding.start : binding.end] if binding.code == Code.ASSIGN else b""
            node = trees.parse(scope.module, binding.start, binding.end) if b"factory" in text else None
            for keyword in node.keywords if isinstance(node, ast.Call) else ():
                if keyword.arg in _FACTORIES:
                    yield keyword.value, binding.start
