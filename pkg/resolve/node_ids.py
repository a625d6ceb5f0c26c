"""The ids of the nodes that links begin and end at."""

from __future__ import annotations

from collections.abc import Mapping

from pkg.model import Label
from pkg.resolve.model import Scope
from pkg.units import UnitText, format_id, hash_key


class NodeIds:
    """Know the nodes of a project's files and definitions."""

    def __init__(self, source: str, units: Mapping[str, UnitText]) -> None:
        self.source = source
        self._units = units

    def of_file(self, path: str) -> str:
        """Give the id of a file."""
        return format_id(hash_key(self.source, path, Label.FILE.value))

    def of_definition(self, scope: Scope) -> str | None:
        """Give the id of a function or class; nothing for one that is no node."""
        return self._units[scope.module.path].ids[scope.definition] if scope.definition >= 0 else None

    def of_owner(self, scope: Scope) -> str:
        """Give the function whose code a site is of; code of a module, and of classes in it, is of the file."""
        each: Scope | None = scope.owner
        while each is not None and each.definition < 0:
            each = each.parent.owner if each.parent is not None else None
        found = self.of_definition(each) if each is not None else None
        return found or self.of_file(scope.module.path)

    def of_imports(self, path: str) -> list[str]:
        """Give the ids of the imports of a file."""
        return self._units[path].import_ids
