"""Lead imports to what they import: a file, a class, a function, or a library (Q-04, A-11)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pkg.model import CERTAIN, Edge, Import, RelationType
from pkg.resolve.calls import Binder
from pkg.resolve.model import ModuleScopes
from pkg.resolve.modules import Found
from pkg.resolve.node_ids import NodeIds
from pkg.resolve.values import CLASS, FUNCTION, LIBRARY, MODULE, Value
from pkg.units import name_library

End = tuple[str, str]
"""The id of a node, and the kind of artifact that it is."""


class ImportLinks:
    """Link the imports of one file; the libraries that they lead to are collected."""

    def __init__(self, binder: Binder, ids: NodeIds, module: ModuleScopes) -> None:
        self._binder = binder
        self._ids = ids
        self._module = module
        self.libraries: set[str] = set()

    def link(self) -> Iterator[Edge]:
        """Give the relationships of all imports that lead anywhere."""
        ids = self._ids.of_imports(self._module.path)
        for place, (identity, record) in enumerate(zip(ids, self._module.imports, strict=True)):
            found = self._resolve(place, record)
            if found is not None:
                end, kind = found
                yield Edge(RelationType.RESOLVES_TO, identity, end, None, kind, CERTAIN)

    def _resolve(self, place: int, record: Import) -> End | None:
        found = self._binder.map.find_import(self._module.path, record)
        kind = "unknown" if record.name else "module"
        if not found:
            return None if record.level else self._link_library(record.module, kind)
        if record.name is None or record.name == "*":
            return (self._ids.of_file(found.module), kind) if found.module is not None else None
        values = self._binder.solver.get(("imported", self._module.root, place))
        end = self._pick_value(values) if len(values) == 1 else None
        return end or self._pick_name(found, record.name)

    def _pick_value(self, values: Iterable[Value]) -> End | None:
        """Give the node of the one value that an imported name stands for."""
        (value,) = values
        if value[0] in (CLASS, FUNCTION):
            identity = self._ids.of_definition(value[1])
            return (identity, "class" if value[0] == CLASS else "function") if identity is not None else None
        if value[0] == MODULE:
            return self._ids.of_file(value[1]), "module"
        if value[0] == LIBRARY and _is_importable(value[1]):
            return self._link_library(value[1], "unknown" if "." in value[1] else "module")
        return None

    def _pick_name(self, found: Found, name: str) -> End | None:
        """Give the last definition of a name of several values or none that is known; else the file that binds it."""
        if found.module is None:
            return None
        file = self._ids.of_file(found.module)
        module = self._binder.modules.get(found.module)
        if module is None or not module.root.binds(name):
            return file, "unknown"
        for binding in reversed(module.root.names[name]):
            identity = self._ids.of_definition(binding.scope) if binding.scope is not None else None
            if identity is not None and binding.scope is not None:
                return identity, binding.scope.kind
        return file, "variable"

    def _link_library(self, name: str, kind: str) -> End:
        top = name.partition(".")[0]
        self.libraries.add(top)
        return name_library(self._ids.source, top), kind


def _is_importable(name: str) -> bool:
    return name.replace(".", "").isidentifier() and not name.startswith("builtins.")
