"""Pieces of a file that links may be worked out from: two versions of a file are compared by them (versions.py).

A piece is written as its kind, the qualified name of its scope and a name in it:

| kind  | what it is                                                        |
|-------|-------------------------------------------------------------------|
| body  | the whole text of a function                                      |
| name  | what gives a value to a name of the module or of a class          |
| field | what the methods of a class assign to an attribute of self        |
| text  | the text of a module or class around its definitions              |
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from typing import Any

from pkg.resolve.containers import Written
from pkg.resolve.model import ModuleScopes, Scope, Site, Store
from pkg.resolve.solver import Key

BODY, NAME, FIELD, TEXT = "body", "name", "field", "text"
Piece = tuple[str, str, str]
_STANDING = (Site, Store, Written)
_TOLD_BY_OTHERS = ("site", "store", "imported", "foreign field", "object attribute", "class attribute")


def name_piece(key: Key, top: Scope) -> Piece | None:
    """Name the piece of its file that the rule of a set is about; nothing where that is told by other sets."""
    kind, first = key[0], key[1]
    if kind in _TOLD_BY_OTHERS:
        return None
    if isinstance(first, Scope):
        if kind == "field":
            return FIELD, first.qualname, str(key[2])
        if kind in ("variable", "final", "alias") and first.kind in ("module", "class"):
            return NAME, first.qualname, str(key[2])
    return (BODY, top.qualname, "") if top.parent is not None else (TEXT, "", "")


def find_top(place: Hashable, modules: Mapping[str, ModuleScopes]) -> Scope | None:
    """Find the outermost function around what a set or a delivery is about, else its module; None for no place."""
    if isinstance(place, Scope):
        return place.top
    if isinstance(place, _STANDING):
        return place.scope.top
    if isinstance(place, str):
        return modules[place].root if place in modules else None
    parts = place if isinstance(place, tuple) else ()
    if is_position(parts, modules):
        return modules[parts[0]].find_top(parts[1])
    return next((top for top in (find_top(part, modules) for part in parts) if top is not None), None)


def is_position(parts: tuple[Any, ...], paths: Collection[str]) -> bool:
    """Tell whether parts of a name begin with a place in a text: the path of a file, and a position."""
    return len(parts) > 1 and isinstance(parts[1], int) and isinstance(parts[0], str) and parts[0] in paths
