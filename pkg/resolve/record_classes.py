"""Classes whose constructor is made of the names that are annotated in them: dataclasses, attrs, NamedTuple (A-12)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from pkg.resolve.hierarchy import Hierarchy
from pkg.resolve.resolution_context import Trees
from pkg.resolve.scope_model import Binding, Scope
from pkg.units import Code

AFTER_INIT = ("__post_init__", "__attrs_post_init__")  # what such a constructor calls at its end
_FACTORIES = ("default_factory", "factory")
_CLASS_VARIABLE = b"ClassVar"
_LEFT_OUT = re.compile(rb"\binit\s*=\s*False\b")


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
            shift += len(list_fields(each))
    return found


def list_fields(scope: Scope) -> list[str]:
    """Give the names that are annotated in the body of a class, in the order of the text."""
    starts = {
        name: binding.at
        for name, bindings in scope.names.items()
        for binding in bindings
        if binding.code == Code.ANNOTATE and _CLASS_VARIABLE not in scope.module.text[binding.start : binding.end]
        and not any(_is_left_out(scope, each) for each in bindings)
    }  # fmt: skip
    return sorted(starts, key=lambda name: starts[name])


def describe_fields(scope: Scope) -> list[tuple[str, list[bytes]]]:
    """Give what decides on the constructor of a class that is made of its fields; nothing for another class."""
    text = scope.module.text
    return [
        (name, [text[each.start : each.end] for each in scope.names[name]])
        for name in (list_fields(scope) if scope.is_record else ())
    ]  # fmt: skip


def _is_left_out(scope: Scope, binding: Binding) -> bool:
    """Tell whether what is assigned to a field says that the constructor does not take it."""
    return binding.code == Code.ASSIGN and _LEFT_OUT.search(scope.module.text, binding.start, binding.end) is not None


def list_factories(trees: Trees, scope: Scope) -> Iterator[tuple[ast.expr, int]]:
    """Give the functions that make the defaults of fields, parsed, with the offset from which their text was."""
    for bindings in scope.names.values():
        for binding in bindings:
            text = scope.module.text[binding.start : binding.end] if binding.code == Code.ASSIGN else b""
            node = trees.parse(scope.module, binding.start, binding.end) if b"factory" in text else None
            for keyword in node.keywords if isinstance(node, ast.Call) else ():
                if keyword.arg in _FACTORIES:
                    yield keyword.value, binding.start
