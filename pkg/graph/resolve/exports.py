"""What star imports bring: the names that a module exports, told from its text alone (Q-04)."""

from __future__ import annotations

import ast

from pkg.graph.resolve.context import Context
from pkg.graph.resolve.model import ModuleScopes, Scope
from pkg.graph.resolve.modules import Found
from pkg.graph.resolve.statics import list_export_spans


class Exports:
    """The names that star imports take from each module."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._names: dict[str, frozenset[str]] = {}

    def list_names(self, path: str) -> frozenset[str]:
        """Give the names that a star import takes from a module: those of __all__, else those without underscore."""
        if not self._names:
            self._collect()
        return self._names.get(path, frozenset())

    def find_star(self, scope: Scope, name: str, after: int = -1) -> Found | None:
        """Find the module of the last star import behind a position that brings a name."""
        for record in reversed(scope.stars):
            found = self._context.map.find_import(scope.module.path, record)
            if record.span.start > after and found.module is not None and name in self.list_names(found.module):
                return found
        return None

    def _collect(self) -> None:
        """Collect the names of all modules, and again as long as they grow: modules may import one another."""
        modules = self._context.modules
        self._names = {each: frozenset() for each in modules}
        waiting = sorted(modules)
        while waiting:
            found = {each: self._list_exported(modules[each]) for each in waiting}
            has_grown = any(names != self._names[each] for each, names in found.items())
            self._names.update(found)
            waiting = [each for each in waiting if _takes_names(modules[each])] if has_grown else []

    def _list_exported(self, module: ModuleScopes) -> frozenset[str]:
        listed = self._read_all(module)
        if listed is not None:
            return listed
        names = set(module.root.names)
        for record in module.root.stars:
            found = self._context.map.find_import(module.path, record)
            names |= self._names.get(found.module or "", frozenset())
        return frozenset(name for name in names if not name.startswith("_"))

    def _read_all(self, module: ModuleScopes) -> frozenset[str] | None:
        """Read __all__: the texts in what is assigned or added to it, and the __all__ of modules that it names."""
        spans = list_export_spans(module.root)
        if not spans:
            return None
        names: set[str] = set()
        for start, end in spans:
            tree = self._context.trees.parse(module, start, end)
            for node in ast.walk(tree) if tree is not None else ():
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    names.add(node.value)
                elif isinstance(node, ast.Attribute) and node.attr == "__all__":
                    for found in self._find_modules(module, node.value):
                        names |= self._names.get(found.module or "", frozenset())
        return frozenset(names)

    def _find_modules(self, module: ModuleScopes, node: ast.expr) -> list[Found]:
        """Find the modules that a dotted name may mean, by the imports of the module that it stands in."""
        repository = self._context.map
        if isinstance(node, ast.Attribute):
            return [repository.step(found, node.attr) for found in self._find_modules(module, node.value)]
        bindings = module.root.names.get(node.id, ()) if isinstance(node, ast.Name) else ()
        return [repository.find_bound(module.path, each.record) for each in bindings if each.record is not None]


def _takes_names(module: ModuleScopes) -> bool:
    """Tell whether what a module exports depends on others."""
    return bool(module.root.stars) or b".__all__" in module.text
