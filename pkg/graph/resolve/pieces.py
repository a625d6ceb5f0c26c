"""Pieces of a file that the links of others may be worked out from: two versions of a file are compared by them.

A piece is written as its kind, the qualified name of its scope and a name in it:

| kind  | what it is                                                        |
|-------|-------------------------------------------------------------------|
| body  | the whole text of a function                                      |
| name  | what gives a value to a name of the module or of a class          |
| field | what the methods of a class assign to an attribute of self        |
| text  | the text of a module or class around its definitions              |
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pkg.graph.resolve.containers import Written
from pkg.graph.resolve.model import Binding, ModuleScopes, Scope, Store
from pkg.graph.resolve.names import stands_alone
from pkg.graph.resolve.solver import Key

BODY, NAME, FIELD, TEXT = "body", "name", "field", "text"
Piece = tuple[str, str, str]


def name_piece(key: Key, module: ModuleScopes) -> Piece | None:
    """Name the piece of its file that the rule of a set is about; nothing where that is told by other sets."""
    kind, first = key[0], key[1]
    if kind in ("site", "store", "imported", "object attribute", "class attribute"):
        return None
    if isinstance(first, Written):
        return _name_place(first.scope)
    if not isinstance(first, Scope):
        return _name_place(_find_scope(first, module) or module.root)
    if kind == "field":
        return FIELD, first.qualname, str(key[2])
    if kind == "foreign field":
        return None
    if kind in ("variable", "final", "alias") and first.kind in ("module", "class"):
        return NAME, first.qualname, str(key[2])
    return _name_place(first)


def _find_scope(container: Any, module: ModuleScopes) -> Scope | None:
    """Find the scope of a container by its name: that of a parameter or annotation, or where it is written."""
    for part in container if isinstance(container, tuple) else ():
        if isinstance(part, Scope):
            return part
        if isinstance(part, tuple):
            return _find_scope(part, module)
        if part == module.path:
            inside = (scope for scope in module.scopes if scope.head[0] <= container[1] < scope.code_end)
            return max(inside, key=lambda scope: scope.head[0])
    return None


def _name_place(scope: Scope) -> Piece:
    """Name the outermost function around a scope, else the text of its module or class."""
    found: Scope | None = None
    each: Scope | None = scope
    while each is not None:
        if each.kind == "function":
            found = each
        each = each.parent
    return (BODY, found.qualname, "") if found is not None else (TEXT, "", "")


class Version:
    """One version of a file, its pieces described without regard to where they stand."""

    def __init__(self, module: ModuleScopes) -> None:
        self._module = module
        self._scopes: dict[str, list[Scope]] = {}
        for scope in module.scopes:
            if scope.kind in ("module", "class", "function"):
                self._scopes.setdefault(scope.qualname, []).append(scope)

    def list_heads(self) -> dict[str, object]:
        """Give the heads of all definitions by their qualified names: what tells how they are called.

        Special names count as part of a head: Python looks for them though no text speaks of them.
        """
        return {name: [self._describe_head(scope) for scope in scopes] for name, scopes in self._scopes.items()}

    def _describe_head(self, scope: Scope) -> object:
        if scope.kind == "function":
            text: object = self._module.text[slice(*scope.head)]
        else:
            text = sorted(name for name in scope.names if name.startswith("__"))
        is_node = scope.definition >= 0
        return scope.kind, is_node, text, scope.decorators, bool(scope.yields), bool(scope.returns)

    def describe(self, piece: Piece) -> object:
        """Describe a piece; equal descriptions mean the same wherever the file is not looked into otherwise."""
        kind, qualname, name = piece
        if kind == TEXT:
            return self._read_around()
        scopes = self._scopes.get(qualname, [])
        if kind == BODY:
            return [self._read_whole(scope) for scope in scopes]
        if kind == NAME:
            return [
                [(stands_alone(scope, each), self._describe_binding(each)) for each in scope.names.get(name, ())]
                for scope in scopes
            ]
        return [self._describe_store(store) for store in self._list_fields(scopes, name)]

    def _read_whole(self, scope: Scope) -> bytes:
        return self._module.text[scope.head[0] : scope.code_end]

    def _read_around(self) -> list[bytes]:
        """Give the words of the file without the functions that stand in no other."""
        spans = [
            (scope.head[0], scope.code_end) for scope in self._module.scopes
            if scope.kind == "function" and _name_place(scope)[1] == scope.qualname
        ]  # fmt: skip
        parts, position = [], 0
        for start, end in sorted(spans):
            parts.append(self._module.text[position:start])
            position = max(position, end)
        return b" ".join([*parts, self._module.text[position:]]).split()

    def _describe_binding(self, binding: Binding) -> object:
        if binding.scope is not None:
            return binding.scope.kind, binding.scope.qualname
        if binding.record is not None:
            return binding.record.statement
        return str(binding.code), self._module.text[binding.start : binding.end], binding.path

    def _describe_store(self, store: Store) -> object:
        return store.scope.qualname, self._module.text[store.start : store.end], self._describe_binding(store.binding)

    def _list_fields(self, scopes: list[Scope], name: str) -> Iterator[Store]:
        for store in self._module.stores.get(name, ()):
            if any(store.stands_in(scope.qualname) for scope in scopes):
                yield store


def has_same_outside(before: ModuleScopes, now: ModuleScopes, pieces: Iterable[Piece]) -> bool:
    """Tell whether nothing has changed in a file that the links of others were worked out from.

    What it defines beside, or no longer, is found by name.
    """
    old, new = Version(before), Version(now)
    heads = new.list_heads()
    if any(heads.get(name) != head for name, head in old.list_heads().items() if name in heads):
        return False
    return all(old.describe(piece) == new.describe(piece) for piece in pieces)
