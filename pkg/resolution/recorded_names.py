"""Stable names of values and variables for records, equal in every resolution (A-12).

Names are JSON; code is named by its file and its key there.
"""

from __future__ import annotations

import json
from ast import literal_eval
from collections.abc import Iterable
from typing import Any

from pkg.resolution import variables as v
from pkg.resolution.attribute_access import Attributes
from pkg.resolution.classes import ClassInfo
from pkg.resolution.program import Code, ModuleInfo, OutdatedNameError, Program
from pkg.resolution.reasons import Reason
from pkg.resolution.types import promise_container
from pkg.resolution.value_sets import (
    PLAIN,
    PROMISED,
    Class,
    Constant,
    Container,
    ContainerMethod,
    Coroutine,
    Flavour,
    Folder,
    Function,
    Generator,
    Instance,
    Library,
    Maker,
    Method,
    Module,
    Namespace,
    Partial,
    Property,
    Register,
    Signature,
    Super,
    Text,
    Unknown,
    Value,
    Wrapped,
    unknown,
)
from pkg.resolution.variables import Home, Substitutes, Variable, find_key, open_container

_PARTS: dict[type[Value], tuple[str, ...]] = {
    Function: ("code",), Method: ("code", "receiver"), Class: ("info", "is_open"), Instance: ("info", "flavour"),
    Module: ("path",), Folder: ("folder",), Library: ("name",), Constant: ("kind", "value"),
    Text: ("beginning", "end"), Container: ("kind", "code", "site", "promised"), ContainerMethod: ("container", "name"),
    Super: ("info", "receiver"), Property: ("getter", "setter", "deleter"), Wrapped: ("kind", "inner", "manager"),
    Signature: ("given", "result"), Partial: ("inner", "code", "site"), Maker: ("made", "info", "is_bound"),
    Generator: ("code", "receiver", "is_context"), Coroutine: ("code", "receiver"), Namespace: ("owner",),
    Register: ("owner",), Unknown: ("reason",),
}  # fmt: skip
"""Constructor arguments by kind of value."""
_ENCODER = json.JSONEncoder(separators=(",", ":"))
_KINDS = {kind.__name__: kind for kind in _PARTS}


class RecordedNames:
    """Names of the values and variables of a program."""

    def __init__(self, program: Program, attributes: Attributes) -> None:
        self.program = program
        self._make = program.interner.make
        self._attributes = attributes
        self._values: dict[Value, str] = {}
        self._found: dict[str, Value] = {}
        self._variables: dict[Variable, str] = {}

    # Values.

    def name_value(self, value: Value) -> str:
        """Return the name of a value."""
        found = self._values.get(value)
        if found is None:
            found = self._values[value] = _ENCODER.encode(self._spell(value))
        return found

    def find_value(self, name: str) -> Value:
        """Return the value of a name; OutdatedNameError where its code no longer exists."""
        found = self._found.get(name)
        if found is None:
            found = self._found[name] = self._read(json.loads(name))
            self._values[found] = name
        return found

    def _spell(self, part: Any) -> Any:
        if part is None or isinstance(part, bool | int | str):
            return part
        if isinstance(part, Value):
            return ["v", type(part).__name__, *(self._spell(getattr(part, name)) for name in _PARTS[type(part)])]
        if isinstance(part, Code):
            return ["c", part.module.path, part.key]
        if isinstance(part, ClassInfo):
            return ["k", part.module.path, part.key]
        if isinstance(part, frozenset):
            return ["s", *sorted((self._spell(each) for each in part), key=repr)]
        if isinstance(part, tuple):
            return ["t", *map(self._spell, part)]
        if isinstance(part, Flavour | Reason):
            return ["f" if isinstance(part, Flavour) else "u", part.name]
        return ["l", repr(part)]

    def _read(self, spelled: Any) -> Any:
        if not isinstance(spelled, list):
            return spelled
        tag, *parts = spelled
        if tag == "v":
            return self._make_value(_KINDS[parts[0]], [self._read(each) for each in parts[1:]])
        if tag == "c":
            return self.program.find_code(*parts)
        if tag == "k":
            info = self.program.find_class(*parts)
            if info is None:
                raise OutdatedNameError(f"{parts[0]}: {parts[1]}")
            return info
        if tag == "s":
            return frozenset(self._read(each) for each in parts)
        if tag == "t":
            return tuple(self._read(each) for each in parts)
        if tag in ("f", "u"):
            return (Flavour if tag == "f" else Reason)[parts[0]]
        return literal_eval(parts[0])

    def _make_value(self, kind: type[Value], parts: list[Any]) -> Value:
        if kind is Constant and parts[1] is None:
            return PLAIN[parts[0]]
        if kind is Unknown:
            (value,) = unknown(parts[0])
            return value
        if kind is Container:
            name, code, site, promised = parts
            if site == PROMISED:
                return promise_container(self._make, code, name, *promised)
            return open_container(self._make(Container, name, code, site))
        return self._make(kind, *parts)

    def spell_container(self, container: Container) -> str:
        """Return the part of variable names that names a container."""
        return _ENCODER.encode(self._spell(container))

    # Variables.

    def name_variable(self, variable: Variable) -> str:
        """Return the name of a variable within its module."""
        found = self._variables.get(variable)
        if found is None:
            owner = "" if isinstance(variable.owner, ModuleInfo) else self._spell(variable.owner)
            spelled = [owner, variable.kind, self._spell(variable.part)]
            found = self._variables[variable] = _ENCODER.encode(spelled)
        return found

    def find_variable(self, home: Home, name: str) -> Variable:
        """Return the variable of a name; OutdatedNameError where its owner no longer exists."""
        spelled, kind, part = json.loads(name)
        owner = self._read(spelled)
        found = self._find(home, owner, kind, self._read(part))
        if found is None:
            raise OutdatedNameError(f"{home.path}: {name}")
        return found

    def _find(self, home: Home, owner: Any, kind: str, part: Any) -> Variable | None:
        if isinstance(owner, Code):
            return self._find_of_code(owner, kind, part)
        if isinstance(owner, ClassInfo):
            if kind == v.FACTORIES:
                return owner.record.factories if owner.record is not None else None
            if kind == v.FOREIGN:
                return self._attributes.find_assigned(part).find(owner)
            return (owner.members if kind == v.MEMBER else owner.fields).get(part)
        if isinstance(owner, Container):
            held = {v.EVERYTHING: owner.everything, v.REST: owner.rest, v.KEYS: owner.keys}
            return held[kind] if kind in held else find_key(owner, part)
        if kind == v.CHANGED:
            return self._attributes.find_assigned(owner).changed
        return home.names.get(part) if isinstance(home, ModuleInfo) else None

    def _find_of_code(self, code: Code, kind: str, part: Any) -> Variable | None:
        if kind == v.PARAMETER:
            return code.parameters[part] if part < len(code.parameters) else None
        if kind == v.CELL:
            return code.cell(part)
        if kind == v.SUBSTITUTES:
            if code.substitutes is None:
                code.substitutes = Substitutes(code)
            return code.substitutes
        if kind == v.CASE:
            return next((each for guards, each in code.cases.items() if guards == part), None)
        if kind == v.DEFAULT:
            return code.defaults.get(part)
        return code.result if kind == v.RESULT else code.yielded


def find_container(name: str) -> str | None:
    """Return the container's part of a variable name; None for variables of other owners."""
    spelled = json.loads(name)[0] if name.startswith('[["v","Container"') else None
    return _ENCODER.encode(spelled) if spelled is not None else None


def group_by_container(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the names of variables of containers, by the container's part."""
    found: dict[str, list[str]] = {}
    for name in names:
        if (owner := find_container(name)) is not None:
            found.setdefault(owner, []).append(name)
    return found
