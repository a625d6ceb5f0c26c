"""What star imports bring: the names that a module exports, told from its text alone (Q-04)."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pkg.resolve.context import Context
from pkg.resolve.model import ModuleScopes, Scope
from pkg.resolve.modules import Found
from pkg.resolve.statics import ALL, list_export_spans


class Exports:
    """The names that star imports take from each module."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._names: dict[str, frozenset[str]] = {}

    def list_names(self, path: str) -> frozenset[str]:
        """Give the names that a star import takes from a module: those of __all__, else those without underscore."""
        if path not in self._names and path in self._context.modules:
            self._collect(path)
        return self._names.get(path, frozenset())

    def find_star(self, scope: Scope, name: str, after: int = -1) -> Found | None:
        """Find the module of the last star import behind a position that brings a name."""
        for record in reversed(scope.stars):
            found = self._context.map.find_import(scope.module.path, record)
            if record.span.start > after and found.module is not None and name in self.list_names(found.module):
                return found
        return None

    def _collect(self, path: str) -> None:
        """Collect the names of a module and of those that it takes names from, again as long as they grow."""
        modules = self._context.modules
        new = self._list_sources(path)
        self._names.update((each, frozenset()) for each in new)
        while new:
            found = {each: self._list_exported(modules[each]) for each in new}
            has_grown = any(names != self._names[each] for each, names in found.items())
            self._names.update(found)
            new = [each for each in new if _takes_names(modules[each])] if has_grown else []

    def _list_sources(self, path: str) -> list[str]:
        """Give a module and those that it takes names from, at any distance, whose names are not known yet."""
        found, waiting = {path: None}, [path]
        while waiting:
            for source in self._list_next(self._context.modules[waiting.pop()]):
                if source.module is not None and source.module not in found and source.module not in self._names:
                    found[source.module] = None
                    waiting.append(source.module)
        return sorted(found)

    def _list_next(self, module: ModuleScopes) -> Iterator[Found]:
        for record in module.root.stars:
            yield self._context.map.find_import(module.path, record)
        for node in self._walk_all(module):
            if isinstance(node, ast.Attribute) and node.attr == ALL:
                yield from self._find_modules(module, node.value)

    def _walk_all(self, module: ModuleScopes) -> Iterator[ast.AST]:
        """Give the parts of what is assigned or added to __all__."""
        for start, end in list_export_spans(module.root):
            tree = self._context.trees.parse(module, start, end)
            yield from ast.walk(tree) if tree is not None else ()

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
        if not list_export_spans(module.root):
            return None
        names: set[str] = set()
        for node in self._walk_all(module):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                names.add(node.value)
            elif isinstance(node, ast.Attribute) and node.attr == ALL:
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
