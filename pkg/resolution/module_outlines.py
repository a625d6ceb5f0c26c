"""Outlines of modules, used before solving: classes, and assigned attributes (A-12).

Records keep them, so that an edit reads the code of few modules.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from pkg.extract.summary import operations as o
from pkg.extract.summary.operations import REGISTERS, SETS_ANY, TAKES_CALLABLES

if TYPE_CHECKING:
    from pkg.resolution.classes import ClassInfo
    from pkg.resolution.program import ModuleInfo

_PLAIN_MEMBERS = (o.FUNC, o.CONST, o.CLASS, o.COLLECT, o.TEXT)
ClassName = tuple[str, str]
"""Path of the file of a class, and its key there."""


class ClassOutline(NamedTuple):
    """A class with its bases."""

    key: str
    members: list[str]
    fields: list[str]
    computed: list[str]  # members that may be properties or descriptors
    initialised: list[str]  # attributes that its __init__ assigns
    bases: list[ClassName]
    places: list[int]
    libraries: list[str]
    has_unknown: bool
    is_protocol: bool
    metaclass: ClassName | None


class ModuleOutline(NamedTuple):
    """Outline of a module."""

    codes: int
    operations: int
    is_always_read: bool  # whether it registers classes or annotates callables: its code is always read
    sets_any: bool  # whether it calls setattr()
    foreign: list[str]  # attributes that it assigns, other than of self
    classes: list[ClassOutline]

    def pack(self) -> bytes:
        """Return the outline as compressed JSON."""
        return zlib.compress(json.dumps(self, separators=(",", ":")).encode("utf-8", "surrogatepass"), 1)


def unpack_outline(packed: bytes) -> ModuleOutline:
    """Load a packed outline."""
    found = ModuleOutline(*json.loads(zlib.decompress(packed)))
    return found._replace(classes=[ClassOutline(*each) for each in found.classes])


def outline_module(module: ModuleInfo) -> ModuleOutline:
    """Return the outline of a module whose code was read and whose bases are known."""
    foreign: dict[str, None] = {}
    initialised: dict[ClassInfo | None, dict[str, None]] = {}
    flags = 0
    for code in module.codes:
        head, is_method = code.summary.head, code.receiver_place == 0
        foreign.update(dict.fromkeys(head.foreign if is_method else (*head.foreign, *head.own)))
        if is_method and code.name == "__init__":
            initialised.setdefault(code.owner_class, {}).update(dict.fromkeys(head.own))
        flags |= code.summary.flags
    return ModuleOutline(
        len(module.codes), sum(code.summary.count or 1 for code in module.codes),
        bool(flags & (REGISTERS | TAKES_CALLABLES)), bool(flags & SETS_ANY), list(foreign),
        [_outline_class(each, list(initialised.get(each, ()))) for each in module.classes.values()],
    )  # fmt: skip


def _outline_class(info: ClassInfo, initialised: list[str]) -> ClassOutline:
    return ClassOutline(
        key=info.key, members=list(info.members), fields=list(info.fields), computed=list(_list_computed(info)),
        initialised=initialised, bases=[_name(each) for each in info.bases], places=list(info.places),
        libraries=list(info.libraries), has_unknown=info.has_unknown, is_protocol=info.is_protocol,
        metaclass=_name(info.metaclass) if info.metaclass is not None else None,
    )  # fmt: skip


def _name(info: ClassInfo) -> ClassName:
    return info.module.path, info.key


def _list_computed(info: ClassInfo) -> Iterator[str]:
    nodes = info.code.summary.nodes
    for node in nodes:
        if node[0] == o.MEMBER and nodes[node[2]][0] not in _PLAIN_MEMBERS:
            yield node[1]
