"""What a file defines that others find by its name: two versions of a file are compared by it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from pkg.resolve.facts.requests import is_fixture, name_fixture
from pkg.resolve.facts.scope_model import ModuleScopes, Scope, Store
from pkg.units import NAME

ALL = "__all__"
_WORD = re.compile(NAME)
_QUOTED = re.compile(rb"['\"]([^\W\d]\w*)['\"]")
Item = tuple[str, ...]


def count_exported(module: ModuleScopes | None) -> Counter[Item]:
    """Count what a file defines; the name is the last part of each item."""
    return Counter(_list_exported(module)) if module is not None else Counter()


def _list_exported(module: ModuleScopes) -> Iterator[Item]:
    for scope in module.scopes:
        if scope.kind in ("module", "class"):
            for name in scope.names:
                yield "binds", scope.qualname, name
        if scope.kind == "function" and scope.is_property:
            yield "property", scope.name
        if scope.kind == "function" and is_fixture(scope):
            yield "fixture", scope.qualname, scope.name
            yield "fixture", scope.qualname, name_fixture(scope) or scope.name
        if scope.kind == "function" and scope.parent is not None and scope.parent.kind == "class":
            yield "method", scope.parent.qualname, scope.name
        for name in module.fields.get(scope, ()):
            yield "field", scope.qualname, name
    for name, stores in module.stores.items():
        for store in stores:
            yield "assigns", store.scope.qualname, _describe_foreign(module.text, store), name
    for text in _find_exported(module):
        yield "exports", text


def _describe_foreign(text: bytes, store: Store) -> str:
    """Give the text of an assignment to an attribute of something else than self."""
    receiver = text[store.start : store.end]
    value = text[store.binding.start : store.binding.end]
    return "" if receiver in (b"self", b"cls") else f"{receiver!r} {value!r}"


def _find_exported(module: ModuleScopes) -> Iterator[str]:
    for start, end in list_export_spans(module.root):
        for name in _QUOTED.findall(module.text, start, end):
            yield name.decode("utf-8", "replace")


def list_export_spans(root: Scope) -> list[tuple[int, int]]:
    """Give the spans of what is assigned or added to __all__."""
    bindings = root.names.get(ALL, ())
    if not bindings:
        return []
    spans = [(binding.start, binding.end) for binding in bindings]
    return spans + [site.more for site in root.sites if site.text.startswith(b"__all__.")]


def describe_exports(module: ModuleScopes) -> tuple[object, ...]:
    """Give what decides on a file's exports beside the names that it binds; a change of it is not told by names."""
    root = module.root
    spans = list_export_spans(root)
    others = [module.text[start:end] for start, end in spans if b".__all__" in module.text[start:end]]
    named = sorted({name.decode("utf-8", "replace") for text in others for name in _WORD.findall(text)})
    bound = [(name, each.record) for name in named for each in root.names.get(name, ()) if each.record is not None]
    imported = [(name, record.level, record.module, record.name) for name, record in bound]
    return bool(spans), others, imported, [(each.level, each.module) for each in root.stars]
