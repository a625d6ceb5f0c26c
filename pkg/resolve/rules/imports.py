"""Imports: what they bind their names to, what star imports bring, and the attributes of modules (Q-04, A-12)."""

from __future__ import annotations

import ast
import builtins
from bisect import bisect_left
from collections.abc import Iterator
from functools import reduce
from itertools import accumulate
from operator import or_
from typing import NamedTuple

from pkg.model import Import
from pkg.resolution.module_map import Found
from pkg.resolution.reasons import Reason
from pkg.resolve import queries as q
from pkg.resolve.abstract_values import EMPTY, FOLDER, LIBRARY, MODULE, Value, Values, join, library, unknown
from pkg.resolve.closure import join_reached
from pkg.resolve.facts.exported_names import ALL, list_export_spans
from pkg.resolve.facts.scope_model import ModuleScopes, Scope
from pkg.resolve.resolution_context import Context


class _Stars(NamedTuple):
    """The star imports of a scope, from the last to the first."""

    records: list[Import]
    brought: list[int]  # names that come with each or one behind it
    missing: list[str]  # modules that are not in the repository


class Exports:
    """The names that star imports take from each module: sets of them are numbers of one bit a name."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._bits: dict[str, int] = {}  # of each name
        self._names: dict[str, int] = {}  # by file
        self._hidden: dict[str, int] = {}  # by file, of those the names that begin with an underscore
        self._stars: dict[Scope, _Stars] = {}

    def exports(self, path: str, name: str) -> bool:
        """Tell whether a star import takes a name from a module: one of __all__, else one without underscore."""
        return bool(self._list_names(path) & self._bits.get(name, 0))

    def find_star(self, scope: Scope, name: str, after: int = -1) -> Found | None:
        """Find the module of the last star import behind a position that brings a name."""
        stars = self._list_stars(scope)
        bit = self._bits.get(name, 0)
        place = bisect_left(stars.brought, True, key=lambda names: bool(names & bit))
        if place == len(stars.records) or stars.records[place].span.start <= after:
            return None
        return self._context.map.find_import(scope.module.path, stars.records[place])

    def list_missing(self, scope: Scope) -> list[str]:
        """Give the modules of star imports that are not in the repository."""
        return self._list_stars(scope).missing

    def _list_stars(self, scope: Scope) -> _Stars:
        found = self._stars.get(scope)
        if found is None:
            records = scope.stars[::-1]
            modules = [self._context.map.find_import(scope.module.path, record) for record in records]
            names = [reduce(or_, map(self._list_names, each.modules), 0) for each in modules]
            missing = [record.module for record, each in zip(records, modules, strict=True) if not each]
            found = self._stars[scope] = _Stars(records, list(accumulate(names, or_)), missing)
        return found

    def _list_names(self, path: str) -> int:
        """Give the names that a module exports, and note those of all modules that it takes names from.

        Names with an underscore go no further than from one __all__ to another.
        """
        if path not in self._hidden and path in self._context.modules:
            join_reached(path, self._list_sources, lambda each: self._list_own(each)[0], self._names)
            join_reached(path, self._list_listed, lambda each: self._list_own(each)[1], self._hidden)
        return self._names.get(path, 0) | self._hidden.get(path, 0)

    def _list_own(self, path: str) -> tuple[int, int]:
        """Give the names that a module exports by itself, apart those that begin with an underscore."""
        module = self._context.modules[path]
        is_listed = bool(list_export_spans(module.root))
        public = hidden = 0
        for name in _list_texts(self._walk_all(module)) if is_listed else module.root.names:
            bit = self._bits.setdefault(name, 1 << len(self._bits))
            if not name.startswith("_"):
                public |= bit
            elif is_listed:
                hidden |= bit
        return public, hidden

    def _list_sources(self, path: str) -> list[str]:
        """Give the modules that a module takes names from: those whose __all__ its own names, else of star imports."""
        module = self._context.modules[path]
        if list_export_spans(module.root):
            return self._list_listed(path)
        found = (self._context.map.find_import(path, record) for record in module.root.stars)
        return [each for one in found for each in one.modules]

    def _list_listed(self, path: str) -> list[str]:
        """Give the modules whose __all__ is named in that of a module."""
        module = self._context.modules[path]
        nodes = (node for node in self._walk_all(module) if isinstance(node, ast.Attribute) and node.attr == ALL)
        found = (each for node in nodes for each in self._find_modules(module, node.value))
        return [each for one in found for each in one.modules]

    def _walk_all(self, module: ModuleScopes) -> Iterator[ast.AST]:
        """Give the parts of what is assigned or added to __all__."""
        for start, end in list_export_spans(module.root):
            tree = self._context.trees.parse(module, start, end)
            yield from ast.walk(tree) if tree is not None else ()

    def _find_modules(self, module: ModuleScopes, node: ast.expr) -> list[Found]:
        """Find the modules that a dotted name may mean, by the imports of the module that it stands in."""
        repository = self._context.map
        if isinstance(node, ast.Attribute):
            return [repository.step(found, node.attr) for found in self._find_modules(module, node.value)]
        bindings = module.root.names.get(node.id, ()) if isinstance(node, ast.Name) else ()
        return [repository.find_bound(module.path, each.record) for each in bindings if each.record is not None]


def _list_texts(nodes: Iterator[ast.AST]) -> Iterator[str]:
    return (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))


_BUILTINS = frozenset(dir(builtins)) | {"reveal_type", "unicode", "xrange", "basestring", "raw_input"}
_MODULE_NAMES = frozenset(("__name__", "__file__", "__doc__", "__package__", "__spec__", "__path__", "__class__"))


class Imports:
    """Follow imports into the modules that they mean."""

    def __init__(self, context: Context) -> None:
        self._modules = context.modules
        self._map = context.map
        self._ask = context.ask
        self._exports = Exports(context)
        context.answer(q.IMPORT, self.derive)
        context.answer(q.MODULE_NAME, self.derive_attribute)
        context.answer(q.MODULE_MEMBER, self.derive_member)
        context.answer(q.UNBOUND_NAME, self.derive_unbound)
        context.answer(q.STAR, self._exports.find_star)
        context.keep(q.IMPORTED, self._derive_imported)

    def derive(self, path: str, record: Import) -> Values:
        """Give what an import binds its name to."""
        if record.name is None:
            name = record.module if record.alias is not None else record.module.partition(".")[0]
            return _make_module(self._map.find_bound(path, record), name)
        found = self._map.find_import(path, record)
        if found.module == path:  # a package that takes one of its own modules
            inner = self._map.step(found, record.name)
            if inner:
                return _make_module(inner, record.name)
        if found:
            return self._derive_named(found, record)
        return unknown(Reason.MODULE_ATTRIBUTE) if record.level else _make_library(record.module, record.name)

    def _derive_imported(self, root: Scope, place: int) -> Values:
        """Give what a name stands for that is imported from a module of the repository."""
        record = root.module.imports[place]
        found = self._map.find_import(root.module.path, record)
        is_named = found and record.name not in (None, "*")
        return self._derive_named(found, record) if is_named else EMPTY

    def _derive_named(self, found: Found, record: Import) -> Values:
        """Give what an import takes from a module; where that may be a library, what it lacks is the library's."""
        name = record.name or ""
        if not found.may_be_library:
            return self.derive_attribute(found, name)
        values = join([self.derive_attribute(each, name) for each in found.list_all() if each])
        return (values - unknown(Reason.MODULE_ATTRIBUTE)) | _make_library(record.module, name)

    def derive_attribute(self, found: Found, name: str) -> Values:
        """Give a name of a module: what it binds, else the module of that name inside a package."""
        if found.others:
            return join([self.derive_attribute(each, name) for each in found.list_all()])
        module = self._modules.get(found.module or "")
        root = module.root if module is not None else None
        if root is not None and (root.binds(name) or (root.stars and self._exports.exports(root.module.path, name))):
            return self._ask(q.MEMBER, root, name)
        inner = self._map.step(found, name)
        if inner:
            return _make_module(inner, name)
        if root is not None and root.binds("__getattr__"):
            return unknown(Reason.DYNAMIC)
        return self.derive_unbound(root, name) if root is not None and root.stars else unknown(Reason.MODULE_ATTRIBUTE)

    def derive_member(self, value: Value, name: str) -> Values:
        """Give an attribute of a module or namespace package that stands as a value."""
        if value[0] == MODULE:
            return self.derive_attribute(self._map.open(value[1]), name)
        found = self._map.step(Found(folder=value[1]), name)
        if not found and self._map.is_outer(value[1]):
            return _make_library(value[1].replace("/", "."), name)
        return _make_module(found, name) if found else unknown(Reason.MODULE_ATTRIBUTE)

    def derive_unbound(self, scope: Scope, name: str) -> Values:
        """Give the values of a name that its module does not bind itself: of a star import, or a builtin."""
        star = self._exports.find_star(scope, name)
        if star is not None:
            return self.derive_attribute(star, name)
        if name in _BUILTINS:
            return _make_library("builtins", name)
        if name in _MODULE_NAMES:
            return frozenset({(LIBRARY, "builtins.str()")})
        missing = self._exports.list_missing(scope)
        return frozenset(library(f"{module}.{name}") for module in missing) or unknown(Reason.UNDEFINED)


def _make_module(found: Found, name: str) -> Values:
    """Give a module as a value; one that is not in the repository is a library."""
    return frozenset(_make_value(each, name) for each in found.list_all())


def _make_value(found: Found, name: str) -> Value:
    if found.module is not None:
        return MODULE, found.module
    return (FOLDER, found.folder) if found.folder is not None else (LIBRARY, name)


def _make_library(module: str, name: str) -> Values:
    return frozenset({library(f"{module}.{name}")})
