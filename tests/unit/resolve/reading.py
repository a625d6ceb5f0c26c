"""Read the scopes of small texts, as resolution sees them."""

from __future__ import annotations

from pkg.extract.python import extract_unit
from pkg.resolve.facts.scope_model import ModuleScopes, Scope
from pkg.resolve.facts.scopes import build_scopes


def read_module(text: str, path: str = "mod.py") -> ModuleScopes:
    """Extract a text and sort its facts into scopes."""
    data = text.encode()
    code = extract_unit(data)
    return build_scopes(path, data, code.facts, code.definitions, code.imports)


def find_scope(module: ModuleScopes, qualname: str) -> Scope:
    """Find a scope by its qualified name."""
    return next(scope for scope in module.scopes if scope.qualname == qualname)


def make_classes(names: list[str]) -> list[Scope]:
    """Make the scopes of empty classes."""
    module = read_module("".join(f"class {name}: pass\n" for name in names))
    return [scope for scope in module.scopes if scope.kind == "class"]
