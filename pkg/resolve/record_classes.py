"""Classes whose constructor is made of the names that are annotated in them: dataclasses, attrs, NamedTuple (A-12)."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pkg.extract.code_pieces import Parameter
from pkg.resolve.facts.parsed_trees import Trees
from pkg.resolve.facts.scope_model import FieldKind, Scope
from pkg.resolve.hierarchy import Hierarchy
from pkg.units import Code

AFTER_INIT = ("__post_init__", "__attrs_post_init__")  # what such a constructor calls at its end
CONSTRUCTORS = ("__init__", "__new__")
_FACTORIES = ("default_factory", "factory")


class Records:
    """Know which constructors are made of fields, and what they take."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self._hierarchy = hierarchy
        self._parameters: dict[Scope, dict[str, tuple[int, Parameter]]] = {}

    def forget(self) -> None:
        """Forget what constructors take: there may be more names now."""
        self._parameters.clear()

    def find_generated(self, scope: Scope, name: str, after: Scope | None = None) -> Scope | None:
        """Find the class whose constructor of a name a class has, where that is made of fields and not written.

        `after` begins behind one in the order (super).
        """
        order = self._hierarchy.order(scope)
        is_behind = after is None
        for each in order if order.has_record else ():
            if is_behind and name in each.names:
                return None
            if is_behind and each.generated == name:
                return each
            is_behind = is_behind or each is after
        return None

    def list_classes(self, made: Scope) -> list[Scope]:
        """Give the classes whose fields the constructor of a class takes."""
        return [each for each in self._hierarchy.order(made) if each.is_record]

    def find_parameter(self, made: Scope, field: str) -> tuple[int, Parameter] | None:
        """Find the parameter of the constructor of a class by which it takes a field, and its place."""
        found = self._parameters.get(made)
        if found is None:
            found = self._parameters[made] = self._list_parameters(made)
        return found.get(field)

    def _list_parameters(self, made: Scope) -> dict[str, tuple[int, Parameter]]:
        """List parameters by field: those of bases come first, and a field that is declared again keeps its place."""
        kinds: dict[str, FieldKind] = {}
        for each in reversed(self.list_classes(made)):
            for name, kind in each.record_fields.items():
                if each.is_attrs:  # where it goes to the end
                    kinds.pop(name, None)
                kinds[name] = kind
        by_name = {name: kind is FieldKind.BY_NAME for name, kind in kinds.items() if kind is not FieldKind.LEFT_OUT}
        return {
            name: (place, Parameter(name.lstrip("_") if made.is_attrs else name, "", None, None, by_name[name]))
            for place, name in enumerate(sorted(by_name, key=by_name.__getitem__))
        }  # fmt: skip


def describe_fields(scope: Scope) -> object:
    """Give what decides on the constructor of a class that is made of its fields; nothing for another class."""
    text = scope.module.text
    fields = [(name, [text[each.start : each.end] for each in scope.names[name]]) for name in scope.record_fields]
    return (scope.decorators, scope.generated, list(scope.record_fields.values()), fields) if scope.is_record else None


def list_factories(trees: Trees, scope: Scope) -> Iterator[tuple[ast.expr, int]]:
    """Give the functions that make the defaults of fields, parsed, with the offset from which their text was."""
    for bindings in scope.names.values():
        for binding in bindings:
            text = scope.module.text[binding.start : binding.end] if binding.code == Code.ASSIGN else b""
            node = trees.parse(scope.module, binding.start, binding.end) if b"factory" in text else None
            for keyword in node.keywords if isinstance(node, ast.Call) else ():
                if keyword.arg in _FACTORIES:
                    yield keyword.value, binding.start
