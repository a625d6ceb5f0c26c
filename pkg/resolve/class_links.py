"""Lead classes to their bases, and methods to those that they override."""

from __future__ import annotations

from collections.abc import Iterator

from pkg.model import CERTAIN, Edge, RelationType
from pkg.resolve.hierarchy import Hierarchy
from pkg.resolve.model import ModuleScopes, Scope
from pkg.resolve.node_ids import NodeIds


def link_classes(hierarchy: Hierarchy, ids: NodeIds, module: ModuleScopes) -> Iterator[Edge]:
    """Give the relationships of the classes of a file."""
    for scope in module.scopes:
        start = ids.of_definition(scope) if scope.kind == "class" else None
        if start is not None:
            yield from _link_bases(hierarchy, ids, scope, start)
            yield from _link_overrides(hierarchy, ids, scope)


def _link_bases(hierarchy: Hierarchy, ids: NodeIds, scope: Scope, start: str) -> Iterator[Edge]:
    facts = hierarchy.facts(scope)
    for base, place in zip(facts.bases, facts.places, strict=True):
        end = ids.of_definition(base)
        if end is not None:
            yield Edge(RelationType.INHERITS, start, end, place, None, CERTAIN)


def _link_overrides(hierarchy: Hierarchy, ids: NodeIds, scope: Scope) -> Iterator[Edge]:
    for name in scope.names:
        owner = hierarchy.find(scope, name, after=scope)
        ends = list(_list_functions(ids, owner, name)) if owner is not None else []
        for start in _list_functions(ids, scope, name) if ends else ():
            for end in ends:
                yield Edge(RelationType.OVERRIDES, start, end, None, None, CERTAIN)


def _list_functions(ids: NodeIds, scope: Scope, name: str) -> Iterator[str]:
    """Give the functions that a class defines under a name."""
    for binding in scope.names[name]:
        method = binding.scope
        identity = ids.of_definition(method) if method is not None and method.kind == "function" else None
        if identity is not None:
            yield identity
