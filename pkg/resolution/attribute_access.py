"""Read, assign and delete attributes of objects, classes, modules, libraries and containers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

from pkg.extract.summary.operations import FORWARDED, IS_RAISING, IS_STUB
from pkg.model import CERTAIN, LIKELY, POSSIBLE
from pkg.resolution.call_arguments import Arguments
from pkg.resolution.classes import ClassInfo, Lookup, has_base
from pkg.resolution.module_map import Found
from pkg.resolution.reasons import Reason
from pkg.resolution.record_fields import CONSTRUCTORS, find_generated
from pkg.resolution.site_outcomes import DESCRIPTOR, FALLBACK, Outcome, Target, Unbound
from pkg.resolution.value_sets import (
    EMPTY,
    MANY,
    PLAIN,
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
    Super,
    Text,
    Unknown,
    Value,
    Values,
    Wrapped,
    is_large,
    is_none,
    merge_alike,
    unknown,
)
from pkg.resolution.variables import CHANGED, FOREIGN, Home, Variable

if TYPE_CHECKING:
    from pkg.resolution.machine import Machine
    from pkg.resolution.program import Code

_MOST_OVERRIDES = 50  # overrides that are read one by one, of an attribute that is None in a base
_OF_OBJECTS, _OF_FUNCTIONS = frozenset(dir(object)), frozenset(dir(FunctionType))
IMPLICIT_CLASS_METHODS = frozenset(("__init_subclass__", "__class_getitem__"))
"""Implicit class methods."""
_TEXTS = frozenset(("__name__", "__qualname__", "__module__", "__doc__"))


def _place(value: Value) -> int:
    """Return the position of the class of a value in the program, as a tie-breaker."""
    return value.info.position if isinstance(value, Instance | Class) else -1


class _Foreign:
    """Attributes of one name that are assigned from outside their classes."""

    __slots__ = ("changed", "name", "variables")

    def __init__(self, name: str, shared: Home) -> None:
        self.name = name
        self.changed = Variable(shared, name, CHANGED)  # grows with each class
        self.variables: dict[ClassInfo, Variable] = {}

    def find(self, info: ClassInfo) -> Variable:
        """Return the variable of the attribute of a class, made on first use."""
        found = self.variables.get(info)
        if found is None:
            found = self.variables[info] = Variable(info.module, info, FOREIGN, self.name)
        return found


class Attributes:
    """Read and assign attributes of values."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._make = machine.make
        self._hierarchy = machine.program.hierarchy
        self.distinct: dict[tuple[Values, str, Values], tuple[list[Value], set[object]]] = {}
        self._foreign: dict[str, _Foreign] = {}  # attributes assigned from outside their classes
        self._computed: set[str] = set()  # members that may be properties or descriptors
        self._forwarded: set[tuple[Value, str]] = set()
        self._has_fallback = False  # whether any class has a __getattr__
        self._is_any_foreign = False  # whether setattr() may assign to any attribute

    def prepare(self) -> None:
        """Collect the attributes assigned from outside their classes, and those whose read may call something."""
        program = self._machine.program
        self._has_fallback = "__getattr__" in program.special_names
        for module in program.modules.values():
            outline = module.outline
            self._is_any_foreign |= outline.sets_any
            for name in outline.foreign:
                if name not in self._foreign:
                    self._foreign[name] = _Foreign(name, program.shared)
            for each in outline.classes:
                self._computed.update(each.computed)

    def find_assigned(self, name: str) -> _Foreign:
        """Return the outside assignments to attributes of a name, made on first use."""
        return self._foreign.setdefault(name, _Foreign(name, self._machine.program.shared))

    def _find_foreign(self, name: str) -> _Foreign | None:
        """Return the outside assignments to attributes of a name; None where there are none."""
        found = self._foreign.get(name)
        if found is None and self._is_any_foreign:
            found = self._foreign[name] = _Foreign(name, self._machine.program.shared)
        return found

    def read_foreign(self, info: ClassInfo, name: str) -> set[Value]:
        """Return the values assigned from outside to an attribute of a class or its bases."""
        result: set[Value] = set()
        foreign = self._find_foreign(name)
        if foreign is not None:
            known = self._machine.read(foreign.changed)
            for each in info.order if known else ():
                if self._make(Class, each, False) in known:
                    result |= self._machine.read(foreign.find(each))
        return result

    def write_foreign(self, info: ClassInfo, name: str, values: Values) -> None:
        """Assign from outside to an attribute of a class or its objects."""
        foreign = self._foreign.setdefault(name, _Foreign(name, self._machine.program.shared))
        self._machine.write(foreign.changed, frozenset({self._make(Class, info, False)}))
        self._machine.write(foreign.find(info), values)

    def read_all(self, values: Values, name: str, sites: Sequence[int]) -> Values:
        """Read an attribute of every value, and call its properties."""
        if is_large(values):
            return self._read_many(values, name, sites)
        result: set[Value] = set()
        for value in self._machine.order(values):
            result |= self.read(value, name)
            self.note_read(value, name, sites)
        return frozenset(result)

    def _read_many(self, values: Values, name: str, sites: Sequence[int]) -> Values:
        """Record the calls made by reading an attribute of a large set; its values are not followed."""
        may_call = self.may_call(name)
        for value in self.list_distinct(values, name):
            is_plain = isinstance(value, Instance | Class)
            if (not is_plain or may_call) and (self.note_read(value, name, sites) or not is_plain):
                self.read(value, name)
        return MANY

    def list_distinct(self, values: Values, name: str) -> list[Value]:
        """List one value of a large set for each place that an attribute comes from."""
        self._machine.schedule.consulted.add(name)
        foreign = self._find_foreign(name)
        changed = self._machine.read(foreign.changed) if foreign is not None else EMPTY
        return self._machine.schedule.remember(
            self.distinct, (values, name, changed), lambda: self._find_distinct(values, name, changed)
        )

    def _find_distinct(self, values: Values, name: str, changed: Values) -> list[Value]:
        found: dict[object, Value] = {}
        for value in self._machine.order(values):
            key: object = value
            if isinstance(value, Instance | Class):
                info = value.info
                lookup = self._hierarchy.look_up(info, name, value.is_open)
                known_by = value.flavour if isinstance(value, Instance) else value.is_open
                places: tuple[object, ...] = (lookup.owner, *lookup.fields, *lookup.overrides)
                if lookup.owner is None:
                    fallback = self._hierarchy.find(info, "__getattr__")
                    places += *lookup.lower, fallback, info.metaclass, info.is_open
                if changed:
                    places += tuple(each for each in info.order if self._make(Class, each, False) in changed)
                key = type(value), known_by, places
            other = found.setdefault(key, value)
            if other is not value and _place(value) < _place(other):
                found[key] = value
        return list(found.values())

    def read(self, value: Value, name: str) -> Values:
        """Read an attribute of one value."""
        self._machine.schedule.consulted.add(name)
        reader = _READERS.get(type(value))
        return reader(self, value, name) if reader is not None else unknown(Reason.EXPRESSION)

    def _read_library(self, value: Library, name: str) -> Values:
        return self._machine.library.read_attribute(value, name)

    def _read_module(self, value: Module, name: str) -> Values:
        if name == "__dict__":
            return frozenset({self._make(Namespace, value)})
        return self._machine.member_of(value.path, name)

    def _read_folder(self, value: Folder, name: str) -> Values:
        inner = self._machine.program.map.step(Found(folder=value.folder), name)
        if not inner and self._machine.program.map.is_outer(value.folder):
            return frozenset({self._make(Library, f"{value.folder.replace('/', '.')}.{name}")})
        return self._machine.types.list_modules(inner) if inner else unknown(Reason.MODULE_ATTRIBUTE)

    def _read_constant(self, value: Value, name: str) -> Values:
        kind = value.kind if isinstance(value, Constant) else "str"
        if kind == "NoneType":
            return EMPTY
        return frozenset({self._make(Library, f"builtins.{kind}().{name}")})

    def _read_container(self, value: Container, name: str) -> Values:
        if value.kind == "namespace":
            return self._machine.containers.read_keyed(value, name)
        return self._read_method(value, name)

    def _read_unknown(self, value: Unknown, name: str) -> Values:
        if name in ("__name__", "__qualname__", "__module__"):
            return frozenset({PLAIN["str"]})
        return frozenset({value}) if value.reason is not Reason.CHOSEN else unknown(Reason.RESULT)

    def _read_super(self, value: Super, name: str) -> Values:
        info = _info_of(value.receiver, value.info)
        if name in CONSTRUCTORS and (made := find_generated(info, name, after=value.info)) is not None:
            is_bound = isinstance(value.receiver, Instance) and name == "__init__"
            return frozenset({self._make(Maker, made, info, is_bound)})
        owner = self._hierarchy.find(info, name, after=value.info)
        if owner is None:
            return self._read_above(info, name)
        members = self._machine.read(owner.members[name])
        if name == "__new__":
            return members
        if isinstance(value.receiver, Class):
            return frozenset().union(*(self.bind_to_class(each, value.receiver) for each in members))
        return self.bind(members, value.receiver)

    def _read_above(self, info: ClassInfo, name: str) -> Values:
        """Read an attribute of super() that no base in the repository has."""
        libraries = [library for each in info.order for library in each.libraries]
        if libraries and not name.startswith("__"):
            return frozenset({self._make(Library, f"{libraries[0]}.{name}")})
        if name in _OF_OBJECTS:
            return frozenset({self._make(Library, f"builtins.object.{name}")})
        return unknown(Reason.LIBRARY_BASE if info.is_open else Reason.ATTRIBUTE)

    def _read_callable(self, value: Value, name: str) -> Values:
        code = value.code  # type: ignore[attr-defined]
        held = code.cells.get(f".{name}")
        if held is not None or self._find_foreign(name) is not None:
            found = self._machine.read(code.cell(f".{name}"))
            if found:
                return found
        if name == "register" and not code.decorators.isdisjoint(("singledispatch", "singledispatchmethod")):
            return frozenset({self._make(Register, value)})
        if name in ("__wrapped__", "__func__"):
            return frozenset({self._make(Function, code)})
        if name == "__self__" and isinstance(value, Method):
            return frozenset({value.receiver})
        if name in _TEXTS:
            return frozenset({PLAIN["str"]})
        if name == "__call__":
            return frozenset({value})
        if name == "__get__":
            return unknown(Reason.EXPRESSION)
        if name in _OF_FUNCTIONS or code.decorators:  # a library's decorator may add others
            return frozenset({self._make(Library, f"builtins.function.{name}")})
        return unknown(Reason.ATTRIBUTE)

    def _read_property(self, value: Property, name: str) -> Values:
        return self._read_method(value, name) if name in ("setter", "deleter", "getter") else EMPTY

    def _read_method(self, value: Value, name: str) -> Values:
        return frozenset({self._make(ContainerMethod, value, name)})

    def _read_partial(self, value: Partial, name: str) -> Values:
        if name == "func":
            return frozenset({value.inner})
        return frozenset({self._make(Library, f"functools.partial().{name}")})

    # Objects.

    def _read_instance(self, value: Instance, name: str) -> Values:
        info = value.info
        if name == "__class__":
            return frozenset({self._make(Class, info, value.is_open)})
        if name == "__dict__":
            return frozenset({self._make(Namespace, value)})
        lookup = self._hierarchy.look_up(info, name, value.is_open)
        read = self._machine.read
        fields: set[Value] = set()
        for variable in lookup.fields:
            fields |= read(variable)
        result = self._adapt_fields(fields, value) if fields else set()
        result |= self.read_foreign(info, name)
        owner = lookup.owner
        if owner is not None:
            members = read(owner.members[name])
            if fields and name in owner.declared:
                promise = self._machine.types.promise(owner.code, owner.declared[name])
                result = set(self._machine.combine(promise, frozenset(result)))
                members = frozenset(each for each in members if not isinstance(each, Instance))
            if fields and any(name in each.outline.initialised for each in info.order):  # stored by __init__
                members = frozenset(each for each in members if isinstance(each, Property))
            result |= self.bind(members, value)
        if owner is not None or lookup.fields:
            if lookup.overrides and all(is_none(each) for each in result):
                result |= self._read_replaced(lookup, name, value)
            return frozenset(result)
        for variable in lookup.lower:
            result |= read(variable)
        for each in lookup.overrides if not result else ():
            result |= self.bind(read(each.members[name]), self._make(Instance, each, value.flavour))
        if result or lookup.lower or lookup.overrides:
            return frozenset(result)
        return self._explain(value, info, name)

    def _read_replaced(self, lookup: Lookup, name: str, value: Instance | Class) -> Values:
        """Return the values in subclasses of an attribute that is a placeholder None in a base."""
        if len(lookup.overrides) > _MOST_OVERRIDES:
            return MANY
        result: set[Value] = set()
        for each in lookup.overrides:
            for member in self._machine.read(each.members[name]):
                if isinstance(value, Class):
                    result |= self.bind_to_class(member, self._make(Class, each, True))
                elif not isinstance(member, Property):
                    result |= self.bind(frozenset({member}), self._make(Instance, each, value.flavour))
        return merge_alike(frozenset(result))

    def _explain(self, value: Value, info: ClassInfo, name: str) -> Values:
        """Return the result of __getattr__ for an attribute that a class lacks, or the reason why it is unknown."""
        fallback = self._hierarchy.find(info, "__getattr__")
        if fallback is not None and name[:2] != "__":
            made = self.call_fallback(self.bind(self._machine.read(fallback.members["__getattr__"]), value), name)
            return made | unknown(Reason.DYNAMIC)
        return unknown(Reason.LIBRARY_BASE if info.is_open else Reason.ATTRIBUTE)

    def call_fallback(self, methods: Values, name: str) -> Values:
        """Return the results of `__getattr__` functions for a name.

        One that forwards to another object is evaluated as a read of that attribute of the object.
        """
        result: set[Value] = set()
        machine = self._machine
        for method in machine.order(methods):
            code = _code_of(method)
            held = code.cells.get(FORWARDED) if code is not None else None
            key = self._make(Constant, "str", name) if held is None else PLAIN["str"]
            arguments = Arguments(machine, [(frozenset({key}), False)], [])
            result |= machine.calls.call(method, arguments, -1, FALLBACK, LIKELY)
            for each in machine.order(machine.read(held)) if held is not None else ():
                if (each, name) not in self._forwarded:  # against recursion
                    self._forwarded.add((each, name))
                    result |= self.read(each, name)
                    self._forwarded.discard((each, name))
        return frozenset(each for each in result if not isinstance(each, Unknown))

    def _adapt_fields(self, values: set[Value], receiver: Instance) -> set[Value]:
        """Rebind methods of self that were stored in a field to the receiver."""
        for value in values:
            if isinstance(value, Method) and _is_self(value.receiver, receiver.info):
                return {
                    self._make(Method, each.code, receiver)
                    if isinstance(each, Method) and _is_self(each.receiver, receiver.info)
                    else each
                    for each in values
                }
        return values

    def bind(self, values: Values, receiver: Value) -> Values:
        """Bind members of a class to an object: functions become methods, properties their results."""
        result: set[Value] = set()
        has_property = any(type(value) is Property for value in values)
        for value in self._machine.order(values):
            kind = type(value)
            if kind is Function:
                result.add(self._bind_function(value, receiver))  # type: ignore[arg-type]
            elif kind is Property:
                getter = value.getter  # type: ignore[attr-defined]
                if getter is not None:
                    result |= self._machine.calls.call_bound(getter, receiver)
            elif kind is Wrapped:
                result |= self._bind_wrapped(value, receiver)  # type: ignore[arg-type]
            elif kind is Instance:
                came = self._read_descriptor(value, receiver)  # type: ignore[arg-type]
                result |= came if not has_property else EMPTY  # a class like property has the property's result
            else:
                result.add(value)
        return frozenset(result)

    def _bind_function(self, value: Function, receiver: Value) -> Value:
        code = value.code
        if "staticmethod" in code.decorators:
            return value
        if "classmethod" in code.decorators or code.name in IMPLICIT_CLASS_METHODS:
            return self._make(Method, code, self.take_class(receiver))
        return self._make(Method, code, receiver)

    def _bind_wrapped(self, value: Wrapped, receiver: Value) -> Values:
        if value.kind == "staticmethod":
            return frozenset({value.inner})
        if value.kind == "classmethod":
            inner = value.inner
            if isinstance(inner, Function):
                inner = self._make(Method, inner.code, self.take_class(receiver))
            return frozenset({inner})
        bound = self.bind(frozenset({value.inner}), receiver)
        return frozenset(self._make(Wrapped, value.kind, each, value.manager) for each in bound)

    def _read_descriptor(self, value: Instance, receiver: Value) -> Values:
        getter = self._hierarchy.find(value.info, "__get__")
        if getter is None:
            return frozenset({value})
        result: set[Value] = set()
        arguments = [(frozenset({receiver}), False), (frozenset({self.take_class(receiver)}), False)]
        for method in self._machine.order(self.bind(self._machine.read(getter.members["__get__"]), value)):
            found = self._machine.calls.call(method, Arguments(self._machine, arguments, []), -1, DESCRIPTOR, CERTAIN)
            result |= {each for each in found if each is not value}
        return frozenset(result)

    def take_class(self, receiver: Value) -> Value:
        """Return the class of an object, or the value itself."""
        return self._make(Class, receiver.info, receiver.is_open) if isinstance(receiver, Instance) else receiver

    # Classes.

    def _read_class(self, value: Class, name: str) -> Values:
        info = value.info
        if name == "__dict__":
            return frozenset({self._make(Namespace, value)})
        if name in _TEXTS:
            return frozenset({PLAIN["str"]})
        if name in CONSTRUCTORS and (made := find_generated(info, name)) is not None:
            return frozenset({self._make(Maker, made, info, False)})
        lookup = self._hierarchy.look_up(info, name, value.is_open)
        read = self._machine.read
        result = self.read_foreign(info, name)
        owner = lookup.owner
        if owner is not None:
            if info.is_enumeration and name not in ("_missing_", "_generate_next_value_"):
                members = read(owner.members[name])
                if not any(isinstance(each, Function | Property | Wrapped | Class) for each in members):
                    return frozenset({self._make(Instance, info, Flavour.EXACT)})
            for each_value in self._machine.order(read(owner.members[name])):
                result |= self.bind_to_class(each_value, value)
            for variable in lookup.fields:
                result |= read(variable)
            if lookup.overrides and all(is_none(each) for each in result):
                result |= self._read_replaced(lookup, name, value)
            return frozenset(result)
        for variable in lookup.fields:
            result |= read(variable)
        if info.metaclass is not None and not result:
            found = self._hierarchy.find(info.metaclass, name)
            if found is not None:
                return self.bind(read(found.members[name]), value)
            fallback = self._hierarchy.find(info.metaclass, "__getattr__")
            if fallback is not None and name[:2] != "__":
                result |= self.call_fallback(self.bind(read(fallback.members["__getattr__"]), value), name)
                return frozenset(result) | unknown(Reason.DYNAMIC)
        if not result and value.is_open:
            for variable in lookup.lower:
                result |= read(variable)
            for each in lookup.overrides if not result else ():
                for member in self._machine.order(read(each.members[name])):
                    result |= self.bind_to_class(member, self._make(Class, each, True))
        if name == "register" and not result and info.is_open:
            return frozenset({self._make(Register, value)})
        if result:
            return frozenset(result)
        return unknown(Reason.LIBRARY_BASE if info.is_open else Reason.ATTRIBUTE)

    def bind_to_class(self, value: Value, receiver: Value) -> Values:
        """Bind class methods to the class that they are read from."""
        if isinstance(value, Function):
            code = value.code
            if "classmethod" in code.decorators or code.name in IMPLICIT_CLASS_METHODS:
                return frozenset({self._make(Method, code, receiver)})
            return frozenset({value})
        if isinstance(value, Wrapped) and value.kind in ("classmethod", "staticmethod"):
            return self._bind_wrapped(value, receiver)
        if isinstance(value, Instance):
            return self._read_descriptor(value, receiver)
        return frozenset({value})

    # Assignments.

    def assign(self, receivers: Values, name: str, values: Values, site: int) -> None:
        """Assign to an attribute of every value."""
        for receiver in self._machine.order(receivers):
            self.assign_one(receiver, name, values, site)

    def assign_one(self, receiver: Value, name: str, values: Values, site: int) -> None:
        """Assign to an attribute of one value: to a field, a member, a module's name, or by a setter."""
        self._machine.schedule.consulted.add(name)
        write = self._machine.write
        if isinstance(receiver, Instance | Super):
            info = receiver.info
            if self._set(receiver, info, name, values, site):
                return
            own = info.fields.get(name)
            if own is not None and isinstance(receiver, Instance) and receiver.flavour is Flavour.SELF:
                write(own, values)
            else:
                self.write_foreign(info, name, values)
        elif isinstance(receiver, Class):
            own = receiver.info.members.get(name) or receiver.info.fields.get(name)
            if own is not None:
                write(own, values)
            else:
                self.write_foreign(receiver.info, name, values)
        elif isinstance(receiver, Module):
            module = self._machine.program.modules.get(receiver.path)
            if module is not None and name in module.names:
                write(module.names[name], values)
        elif isinstance(receiver, Container):
            self._machine.containers.put(receiver, name, values)
        elif isinstance(receiver, Function | Method):
            write(receiver.code.cell(f".{name}"), values)
        elif isinstance(receiver, Unknown):
            self._machine.note(site, Unbound(receiver.reason))

    def _set(self, receiver: Value, info: ClassInfo, name: str, values: Values, site: int) -> bool:
        """Call the setter of an attribute, and return whether there is one."""
        after = info if isinstance(receiver, Super) else None
        owner = self._hierarchy.find(_info_of(receiver, info), name, after)
        is_set = False
        members = self._machine.read(owner.members[name]) if owner is not None else EMPTY
        for member in self._machine.order(members):
            if isinstance(member, Property) and member.setter is not None:
                self._run(member.setter, receiver, [values], site, "property")
                is_set = True
            elif isinstance(member, Instance):
                is_set |= self._call_descriptor(member, "__set__", receiver, [values], site)
        if owner is None and isinstance(receiver, Instance):
            hook = self._hierarchy.find(info, "__setattr__")
            members = self._machine.read(hook.members["__setattr__"]) if hook is not None else EMPTY
            for member in self._machine.order(members):
                key = frozenset({self._make(Constant, "str", name)})
                self._run(member, receiver, [key, values], site, "special method")
        if is_set and isinstance(receiver, Instance) and receiver.is_open:
            for each in self._hierarchy.look_up(info, name, True).overrides:
                for member in self._machine.read(each.members[name]):
                    if isinstance(member, Property) and isinstance(member.setter, Function):
                        self._machine.note(site, Target(member.setter.code, "property", POSSIBLE))
        return is_set

    def delete(self, receivers: Values, name: str, site: int) -> None:
        """Record the calls made by deleting an attribute."""
        for receiver in self._machine.order(receivers):
            if not isinstance(receiver, Instance):
                continue
            owner = self._hierarchy.find(receiver.info, name)
            found = False
            members = self._machine.read(owner.members[name]) if owner is not None else EMPTY
            for member in self._machine.order(members):
                if isinstance(member, Property) and member.deleter is not None:
                    self._run(member.deleter, receiver, [], site, "property")
                    found = True
                elif isinstance(member, Instance):
                    found |= self._call_descriptor(member, "__delete__", receiver, [], site)
            hook = self._hierarchy.find(receiver.info, "__delattr__") if not found else None
            members = self._machine.read(hook.members["__delattr__"]) if hook is not None else EMPTY
            for member in self._machine.order(members):
                key = frozenset({self._make(Constant, "str", name)})
                self._run(member, receiver, [key], site, "special method")

    def _call_descriptor(self, value: Instance, name: str, receiver: Value, given: list[Values], site: int) -> bool:
        owner = self._hierarchy.find(value.info, name)
        if owner is None:
            return False
        for method in self._machine.order(self._machine.read(owner.members[name])):
            self._run(method, value, [frozenset({receiver}), *given], site, DESCRIPTOR)
        return True

    def _run(self, function: Value, receiver: Value, given: list[Values], site: int, rule: str) -> None:
        """Call a function of a class with an object as its receiver."""
        arguments = Arguments(self._machine, [(each, False) for each in given], [])
        confidence = LIKELY if isinstance(receiver, Instance) and receiver.is_promised else CERTAIN
        for method in self._machine.order(self.bind(frozenset({function}), receiver)):
            self._machine.calls.call(method, arguments, site, rule, confidence)

    # Calls made by reading an attribute.

    def note_read(self, value: Value, name: str, sites: Sequence[int]) -> bool:
        """Record the calls made by reading an attribute, and return whether there are any."""
        found: list[Outcome] = list(self.list_called(value, name))
        if not found and isinstance(value, Unknown):
            found.append(Unbound(value.reason))
        for outcome in found:
            for site in sites:
                self._machine.note(site, outcome)
        return bool(found)

    def may_call(self, name: str) -> bool:
        """Return whether reading an attribute of a name may call a function."""
        self._machine.schedule.consulted.add(name)
        return name in self._computed or self._has_fallback

    def find_changes(self, name: str) -> Variable | None:
        """Return the variable of the classes whose attribute of a name is assigned from outside."""
        foreign = self._find_foreign(name)
        return foreign.changed if foreign is not None else None

    def list_called(self, value: Value, name: str) -> Iterable[Target]:
        """Iterate over the calls made by reading an attribute: of properties, descriptors and `__getattr__`."""
        if isinstance(value, Module):
            return self._machine.list_fallback(value.path, name)
        return self._list_properties(value, name) if self.may_call(name) else ()

    def _list_properties(self, value: Value, name: str) -> Iterator[Target]:
        """Iterate over the getters that reading an attribute may call, overriding ones included."""
        if isinstance(value, Super):
            owner = self._hierarchy.find(_info_of(value.receiver, value.info), name, after=value.info)
            yield from self._list_getters(owner, name, CERTAIN)
            return
        if isinstance(value, Class):
            yield from self._list_of_class(value, name)
            return
        if not isinstance(value, Instance):
            return
        info = value.info
        lookup = self._hierarchy.look_up(info, name, value.is_open)
        overrides = [each for each in lookup.overrides if any(True for _ in self._list_getters(each, name, POSSIBLE))]
        confidence = LIKELY if lookup.overrides or value.is_promised else CERTAIN
        if lookup.owner is None and not lookup.fields:
            yield from self._list_fallback(value, info, name)
        for target in self._list_getters(lookup.owner, name, confidence):
            is_abstract = is_placeholder(target.code) and (bool(lookup.overrides) or is_protocol_stub(target.code))
            yield target._replace(confidence=POSSIBLE) if is_abstract else target
        for each in overrides:
            yield from self._list_getters(each, name, POSSIBLE)

    def _list_fallback(self, value: Instance, info: ClassInfo, name: str) -> Iterator[Target]:
        owner = self._hierarchy.find(info, "__getattr__")
        lookup = self._hierarchy.look_up(info, name, value.is_open)
        if owner is not None and name[:2] != "__":
            for member in self._machine.read(owner.members["__getattr__"]):
                if isinstance(member, Function):
                    is_sure = not value.is_open or not (lookup.overrides or lookup.lower)
                    yield Target(member.code, FALLBACK, LIKELY if is_sure else POSSIBLE)

    def _list_of_class(self, value: Class, name: str) -> Iterator[Target]:
        owner = self._hierarchy.find(value.info, name)
        if owner is not None:
            for member in self._machine.read(owner.members[name]):
                if isinstance(member, Instance):
                    yield from self._list_described(member, CERTAIN)
        elif value.info.metaclass is not None:
            yield from self._list_getters(self._hierarchy.find(value.info.metaclass, name), name, CERTAIN)
            fallback = self._hierarchy.find(value.info.metaclass, "__getattr__")
            if fallback is not None and self._hierarchy.find(value.info.metaclass, name) is None and name[:2] != "__":
                for member in self._machine.read(fallback.members["__getattr__"]):
                    if isinstance(member, Function):
                        yield Target(member.code, FALLBACK, LIKELY)

    def _list_getters(self, owner: ClassInfo | None, name: str, confidence: str) -> Iterator[Target]:
        for member in self._machine.read(owner.members[name]) if owner is not None else ():
            if isinstance(member, Property) and member.getter is not None:
                code = _code_of(member.getter)
                if code is not None:
                    yield Target(code, "property", confidence)
            elif isinstance(member, Instance):
                yield from self._list_described(member, confidence)

    def _list_described(self, value: Instance, confidence: str) -> Iterator[Target]:
        owner = self._hierarchy.find(value.info, "__get__")
        for member in self._machine.read(owner.members["__get__"]) if owner is not None else ():
            if isinstance(member, Function):
                yield Target(member.code, DESCRIPTOR, confidence)


def is_placeholder(code: Code) -> bool:
    """Return whether a method is abstract: it is declared so, or only raises."""
    return "abstractmethod" in code.decorators or bool(code.summary.flags & IS_RAISING) or is_protocol_stub(code)


def is_protocol_stub(code: Code) -> bool:
    """Return whether a method is an empty one of a protocol."""
    return code.owner_class is not None and code.owner_class.is_protocol and bool(code.summary.flags & IS_STUB)


def _is_self(value: Value, info: ClassInfo) -> bool:
    return isinstance(value, Instance) and value.flavour is Flavour.SELF and has_base(info, value.info)


def _info_of(receiver: Value, info: ClassInfo) -> ClassInfo:
    found = getattr(receiver, "info", None)
    return found if isinstance(found, ClassInfo) and has_base(found, info) else info


def _code_of(value: Value) -> Code | None:
    if isinstance(value, Function | Method):
        return value.code
    return _code_of(value.inner) if isinstance(value, Wrapped | Partial) else None


_READERS: dict[type[Value], Callable[[Attributes, Any, str], Values]] = {
    Library: Attributes._read_library,
    Module: Attributes._read_module,
    Folder: Attributes._read_folder,
    Constant: Attributes._read_constant,
    Text: Attributes._read_constant,
    Container: Attributes._read_container,
    Unknown: Attributes._read_unknown,
    Namespace: Attributes._read_method,
    Super: Attributes._read_super,
    Function: Attributes._read_callable,
    Method: Attributes._read_callable,
    Property: Attributes._read_property,
    Generator: Attributes._read_method,
    Coroutine: Attributes._read_method,
    Wrapped: lambda attributes, value, name: attributes.read(value.inner, name),
    Partial: Attributes._read_partial,
    Instance: Attributes._read_instance,
    Class: Attributes._read_class,
}
