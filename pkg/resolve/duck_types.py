"""Guess what an object is of which nothing is known: of the one class that has all the attributes asked of it (A-12).

A guess looks at names alone, those that a file shows (facts/exported_names.py) and those at the place that asks: so
whatever changes a guess changes a name that stands there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pkg.resolve.assigned_fields import Fields
from pkg.resolve.facts.repository_files import Files
from pkg.resolve.facts.scope_model import Scope, Site
from pkg.resolve.hierarchy import Hierarchy, place_class
from pkg.units import NAME, Code, read_name

MAX_FILES = 8  # whose classes have an attribute; one that more have picks no class out, it only has to be there
_CHAIN = re.compile(rb"(?<![\w.])" + NAME + rb"(?:\." + NAME + rb")+")
_COMMON = frozenset(
    name for kind in (str, bytes, list, dict, set, int, float, complex, tuple) for name in dir(kind)
) | {"read", "write", "close", "open", "flush", "seek", "readline", "readlines", "run", "send", "start", "main", "next"}
"""Names that builtin objects have as well: that a class of the repository has them says nothing about an object."""


class DuckTypes:
    """Find classes by the attributes that are asked of one expression in one function."""

    def __init__(self, files: Files, hierarchy: Hierarchy, fields: Fields) -> None:
        self._files = files
        self._hierarchy = hierarchy
        self._fields = fields
        self._owners: dict[str, frozenset[Scope]] = {}
        self._heirs: dict[str, frozenset[Scope]] = {}
        self._asked: dict[Scope, dict[bytes, frozenset[str]]] = {}
        self._found: dict[frozenset[str], Scope | None] = {}

    def find_functions(self, site: Site) -> Iterator[Scope]:
        """Find the functions that a call or read of an attribute may run: those of the class, and of heirs of it."""
        receiver, dot, last = site.text.rpartition(b".")
        name = read_name(last.strip())
        if not dot or name in _COMMON or name.startswith("__") or not self._files.list_defining(name):
            return
        asked = self._list_asked(site.scope.owner, receiver.strip()) | {name}
        if asked not in self._found:
            self._found[asked] = self._find_class(asked)
        found = self._found[asked]
        owner = self._hierarchy.find(found, name) if found is not None else None
        if found is None or owner is None:
            return
        is_read = site.code == Code.READ
        for each in (owner, *self._hierarchy.find_overrides(found, name)):
            functions = (binding.scope for binding in each.names[name] if binding.scope is not None)
            yield from (one for one in functions if one.kind == "function" and one.is_property == is_read)

    def _list_asked(self, owner: Scope, receiver: bytes) -> frozenset[str]:
        """Give the attributes that a function asks of a name, or of an attribute of one."""
        if owner.parent is None:
            return frozenset()
        found = self._asked.get(owner)
        if found is None:
            asked: dict[bytes, set[str]] = {}
            for chain in set(_CHAIN.findall(owner.module.text, owner.head[1], owner.code_end)):
                parts = chain.split(b".")
                for place, part in enumerate(parts[1:], 1):
                    if not part.startswith(b"__"):
                        asked.setdefault(b".".join(parts[:place]), set()).add(read_name(part))
            found = self._asked[owner] = {each: frozenset(names) for each, names in asked.items()}
        return found.get(receiver, frozenset())

    def _find_class(self, asked: frozenset[str]) -> Scope | None:
        """Find the one class that has some attributes, the heirs of it left out; it defines one of them itself."""
        picking = [name for name in asked if len(self._files.list_defining(name)) <= MAX_FILES]
        if not picking:
            return None
        owners = {name: self._list_owners(name) for name in picking}
        rarest = min(picking, key=lambda name: (len(owners[name]), name))
        defines, has_base = self._fields.defines, self._hierarchy.has_base
        having = [
            each
            for each in self._list_with_heirs(rarest) & frozenset[Scope]().union(*owners.values())
            if all(each in owners.get(name, ()) or defines(each, name) for name in asked)
        ]
        top: Scope | None = None
        for each in sorted(having, key=place_class):
            if top is None or has_base(top, each):
                top = each
        return top if top is not None and all(has_base(each, top) for each in having) else None

    def _list_owners(self, name: str) -> frozenset[Scope]:
        """Give the classes that define an attribute in their body or assign to it in methods."""
        found = self._owners.get(name)
        if found is None:
            modules = map(self._files.__getitem__, self._files.list_defining(name))
            found = self._owners[name] = frozenset(
                scope
                for module in modules
                for scope in module.scopes
                if scope.kind == "class" and (name in scope.names or name in module.fields.get(scope, ()))
            )
        return found

    def _list_with_heirs(self, name: str) -> frozenset[Scope]:
        """Give the classes that define an attribute, and all that are derived from them."""
        found = self._heirs.get(name)
        if found is None:
            owners = self._list_owners(name)
            found = self._heirs[name] = owners.union(*map(self._hierarchy.list_derived, owners))
        return found
