"""Narrow values by the tests that they passed or failed (A-12)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pkg.resolution.classes import ClassInfo, has_base, is_protocol, passes_for
from pkg.resolution.value_sets import (
    EMPTY,
    PLAIN,
    Class,
    Constant,
    Container,
    Flavour,
    Function,
    Instance,
    Library,
    Method,
    Partial,
    Text,
    Unknown,
    Value,
    Values,
    Wrapped,
    is_none,
)

if TYPE_CHECKING:
    from pkg.resolution.machine import Machine

_CALLABLE = (Function, Method, Class, Partial, Wrapped)
_CONTAINERS = {
    "list": ("list", "rest"), "tuple": ("tuple", "rest"), "dict": ("dict", "named"), "set": ("set",),
    "frozenset": ("set",), "Mapping": ("dict", "named"), "MutableMapping": ("dict", "named"),
    "Sequence": ("list", "tuple", "rest"), "Iterable": ("list", "tuple", "rest", "dict", "named", "set", "generator"),
    "Sized": ("list", "tuple", "dict", "set"), "Collection": ("list", "tuple", "dict", "set"), "Set": ("set",),
    "Iterator": ("iterator", "generator"), "Generator": ("generator", "iterator"),
}  # fmt: skip


def narrow(machine: Machine, values: Values, test: Sequence[Any], holds: bool, frame: list[Values]) -> Values:
    """Keep the values that pass a test, or those that fail it."""
    kind = test[0]
    if kind == "none":
        if holds:
            kept = frozenset(each for each in values if is_none(each) or isinstance(each, Unknown | Library))
            return kept if kept or not values else frozenset({PLAIN["NoneType"]})
        return frozenset(each for each in values if not is_none(each))
    if kind == "true":
        return frozenset(each for each in values if not _is_false(each)) if holds else values
    if kind == "callable":
        if holds:
            return frozenset(each for each in values if _may_be_called(machine, each))
        return frozenset(each for each in values if not isinstance(each, _CALLABLE))
    if kind == "same" or test[1] < 0:
        return values
    classes = machine.containers.list_classes(frame[test[1]])
    if not classes or any(not isinstance(each, Class | Library) for each in classes):
        return values
    key = values, kind, classes, holds
    narrow_by = {"instance": _narrow_objects, "subclass": _narrow_classes}.get(kind, _narrow_exact)
    return machine.schedule.remember(machine.narrowed, key, lambda: narrow_by(machine, values, classes, holds))


def may_pass(machine: Machine, value: Value, test: str, holds: bool) -> bool:
    """Return whether a value may pass, or fail, a test without operands."""
    if test == "none":
        return holds is is_none(value) or isinstance(value, Unknown | Library)
    if test == "true":
        return not _is_false(value) if holds else not isinstance(value, _CALLABLE)
    return _may_be_called(machine, value) if holds else not isinstance(value, _CALLABLE)


def _is_false(value: Value) -> bool:
    return is_none(value) or (isinstance(value, Constant) and value.value is not None and not value.value)


def _may_be_called(machine: Machine, value: Value) -> bool:
    if isinstance(value, Instance):
        has_call = machine.program.hierarchy.find(value.info, "__call__") is not None
        return has_call or (value.info.is_open and not _is_of_builtins(value.info))
    return not isinstance(value, Constant | Container | Text)


def _is_of_builtins(info: ClassInfo) -> bool:
    """Return whether all bases of a class are of the repository or builtins."""
    return not any(each.has_unknown or any("." in name for name in each.libraries) for each in info.order)


def _narrow_objects(machine: Machine, values: Values, classes: Values, holds: bool) -> Values:
    result: set[Value] = set()
    for value in values:
        if not holds:
            if not any(_is_surely(value, each) for each in classes):
                result.add(value)
            continue
        for each in classes:
            result |= _keep_object(machine, value, each)
    return frozenset(result)


def _is_surely(value: Value, tested: Value) -> bool:
    """Return whether a value is certainly an object of a tested class."""
    if isinstance(value, Instance) and isinstance(tested, Class):
        return passes_for(value.info, tested.info)
    if isinstance(value, Constant | Text) and isinstance(tested, Library):
        kind = value.kind if isinstance(value, Constant) else "str"
        return tested.name == f"builtins.{kind}"
    if isinstance(value, Container) and isinstance(tested, Library):
        return value.kind in _CONTAINERS.get(tested.name.rpartition(".")[2], ())
    return False


def _keep_object(machine: Machine, value: Value, tested: Value) -> Values:
    """Narrow a value to objects of a tested class."""
    if isinstance(tested, Class):
        info = tested.info
        if isinstance(value, Instance):
            if passes_for(value.info, info):
                return frozenset({value})
            if value.is_open and has_base(info, value.info):
                return frozenset({machine.make(Instance, info, Flavour.NARROWED)})
            if value.is_open and any(
                has_base(each, value.info) for each in machine.program.hierarchy.list_derived(info)
            ):
                return frozenset({machine.make(Instance, info, Flavour.NARROWED)})
            return frozenset({value}) if is_protocol(info) else EMPTY
        if isinstance(value, Unknown | Library):
            return frozenset({machine.make(Instance, info, Flavour.NARROWED)})
        if isinstance(value, Class) and info in value.info.order[0].order and value.info.metaclass is info:
            return frozenset({value})
        return EMPTY
    name = tested.name  # type: ignore[attr-defined]
    last = name.rpartition(".")[2]
    if name == "builtins.object":
        return frozenset({value})
    if isinstance(value, Unknown):
        if name.startswith("builtins.") and last in ("str", "int", "float", "bool", "bytes", "NoneType"):
            return frozenset({PLAIN[last]})
        if name == "builtins.type":
            return frozenset({value})
        return frozenset({machine.make(Library, f"{name}()")}) if last not in _CONTAINERS else frozenset({value})
    if isinstance(value, Instance):
        is_derived = any(last in each.libraries for each in value.info.order)
        is_other = name.startswith("builtins.") and _is_of_builtins(value.info) and not is_derived
        return EMPTY if is_other else frozenset({value})
    if isinstance(value, Constant | Text):
        kind = value.kind if isinstance(value, Constant) else "str"
        is_same = last == kind or (last == "int" and kind == "bool")
        return frozenset({value}) if is_same or not name.startswith("builtins.") else EMPTY
    if isinstance(value, Container):
        kinds = _CONTAINERS.get(last)
        return frozenset({value}) if kinds is None or value.kind in kinds else EMPTY
    if isinstance(value, Class):
        return frozenset({value}) if name == "builtins.type" or not name.startswith("builtins.") else EMPTY
    return frozenset({value}) if not name.startswith("builtins.") or isinstance(value, Library) else EMPTY


def _narrow_classes(machine: Machine, values: Values, classes: Values, holds: bool) -> Values:
    infos = [each.info for each in classes if isinstance(each, Class)]
    if len(infos) < len(classes):
        return values
    result: set[Value] = set()
    for value in values:
        if isinstance(value, Class):
            if any(passes_for(value.info, info) for info in infos):
                if holds:
                    result.add(value)
            elif holds:
                if value.is_open:
                    result |= {machine.make(Class, info, True) for info in infos if has_base(info, value.info)}
            else:
                result.add(value)
        elif isinstance(value, Unknown) and holds:
            result |= {machine.make(Class, info, True) for info in infos}
        else:
            result.add(value)
    return frozenset(result)


def _narrow_exact(machine: Machine, values: Values, classes: Values, holds: bool) -> Values:
    infos = {each.info for each in classes if isinstance(each, Class)}
    if len(infos) < len(classes):
        names = {each.name.removeprefix("builtins.") for each in classes if isinstance(each, Library)}
        if not holds or infos:
            return values
        return frozenset(each for each in values if not isinstance(each, Constant) or each.kind in names)
    if not holds:
        return frozenset(
            each for each in values
            if not (isinstance(each, Instance) and not each.is_open and each.info in infos)
        )  # fmt: skip
    result: set[Value] = set()
    for value in values:
        for info in infos:
            if isinstance(value, Instance):
                if value.info is info or (value.is_open and has_base(info, value.info)):
                    result.add(machine.make(Instance, info, Flavour.EXACT))
            elif isinstance(value, Unknown | Library):
                result.add(machine.make(Instance, info, Flavour.EXACT))
    return frozenset(result)
