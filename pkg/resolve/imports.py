"""Imports: what they bind their names to, and the attributes of modules (Q-04, A-12)."""

from __future__ import annotations

import builtins

from pkg.model import Import
from pkg.resolve.context import Context
from pkg.resolve.exports import Exports
from pkg.resolve.model import Scope
from pkg.resolve.modules import Found
from pkg.resolve.names import Names
from pkg.resolve.values import FOLDER, LIBRARY, MODULE, Reason, Value, Values, library, unknown

_BUILTINS = frozenset(dir(builtins)) | {"reveal_type", "unicode", "xrange", "basestring", "raw_input"}
_MODULE_NAMES = frozenset(("__name__", "__file__", "__doc__", "__package__", "__spec__", "__path__", "__class__"))


class Imports:
    """Follow imports into the modules that they mean."""

    def __init__(self, context: Context, names: Names, exports: Exports) -> None:
        self._modules = context.modules
        self._map = context.map
        self._names = names
        self._exports = exports

    def read(self, path: str, record: Import) -> Values:
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
            return self.read_attribute(found, record.name)
        return unknown(Reason.MODULE_ATTRIBUTE) if record.level else _make_library(record.module, record.name)

    def read_attribute(self, found: Found, name: str) -> Values:
        """Give a name of a module: what it binds, else the module of that name inside a package."""
        module = self._modules.get(found.module or "")
        root = module.root if module is not None else None
        if root is not None and (root.binds(name) or (root.stars and self._exports.exports(root.module.path, name))):
            return self._names.read(root, name)
        inner = self._map.step(found, name)
        if inner:
            return _make_module(inner, name)
        if root is not None and root.binds("__getattr__"):
            return unknown(Reason.DYNAMIC)
        return self.read_unbound(root, name) if root is not None and root.stars else unknown(Reason.MODULE_ATTRIBUTE)

    def read_member(self, value: Value, name: str) -> Values:
        """Give an attribute of a module or namespace package that stands as a value."""
        if value[0] == MODULE:
            folder, _, file = value[1].rpartition("/")
            return self.read_attribute(Found(value[1], folder if file.startswith("__init__.") else None), name)
        found = self._map.step(Found(folder=value[1]), name)
        return _make_module(found, name) if found else unknown(Reason.MODULE_ATTRIBUTE)

    def read_unbound(self, scope: Scope, name: str) -> Values:
        """Give the values of a name that its module does not bind itself: of a star import, or a builtin."""
        star = self._exports.find_star(scope, name)
        if star is not None:
            return self.read_attribute(star, name)
        if name in _BUILTINS:
            return _make_library("builtins", name)
        if name in _MODULE_NAMES:
            return frozenset({(LIBRARY, "builtins.str()")})
        missing = self._exports.list_missing(scope)
        return frozenset(library(f"{module}.{name}") for module in missing) or unknown(Reason.UNDEFINED)


def _make_module(found: Found, name: str) -> Values:
    """Give a module as a value; one that is not in the repository is a library."""
    if found.module is not None:
        return frozenset({(MODULE, found.module)})
    return frozenset({(FOLDER, found.folder) if found.folder is not None else (LIBRARY, name)})


def _make_library(module: str, name: str) -> Values:
    return frozenset({library(f"{module}.{name}")})
