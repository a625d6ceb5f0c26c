"""Implicit calls of special methods: operators, conversions, items, contexts (A-12)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pkg.model import CERTAIN, LIKELY, POSSIBLE
from pkg.resolution.attribute_access import IMPLICIT_CLASS_METHODS
from pkg.resolution.call_arguments import Arguments
from pkg.resolution.reasons import Reason
from pkg.resolution.site_outcomes import Target, Unbound
from pkg.resolution.value_sets import (
    EMPTY,
    MANY,
    PLAIN,
    Class,
    Constant,
    Container,
    Coroutine,
    Function,
    Generator,
    Instance,
    Library,
    Text,
    Unknown,
    Value,
    Values,
    is_large,
    is_none,
    name_item,
    unknown,
)
from pkg.resolution.variables import Variable

if TYPE_CHECKING:
    from pkg.resolution.machine import Machine

_BINARY = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift",
}  # fmt: skip
_COMPARISONS = {
    "==": ("__eq__", "__eq__"), "!=": ("__ne__", "__ne__"), "<": ("__lt__", "__gt__"), ">": ("__gt__", "__lt__"),
    "<=": ("__le__", "__ge__"), ">=": ("__ge__", "__le__"), "<>": ("__ne__", "__ne__"),
}  # fmt: skip
_PROTOCOLS = {
    "truth": ("__bool__", "__len__"), "negative": ("__neg__",), "positive": ("__pos__",), "invert": ("__invert__",),
    "format": ("__format__", "__str__", "__repr__"), "string": ("__str__", "__repr__"), "representation": ("__repr__",),
}  # fmt: skip
_MARKS = {
    "%": re.compile(r"%(?:\(\w*\))?[-#0 +]*[\d*]*(?:\.\d+)?[a-zA-Z]"),
    "format": re.compile(r"\{[^{}]*\}"),
}
"""Pattern of placeholders, by style of the template."""
_TRUTH: Values = frozenset({PLAIN["bool"]})
_WITHOUT = Unbound(Reason.METHOD)
_RULE = "special method"


class _Plan(NamedTuple):
    """A resolved call of a special method of an object."""

    member: Variable | None  # of the method; None where the object has none
    target: Target | None  # if it is plainly defined in a class


class Special:
    """Find and call the special methods of objects."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._make = machine.make
        self._hierarchy = machine.program.hierarchy
        self.distinct: dict[tuple[Values, str], tuple[list[Value], set[object]]] = {}  # with their lookups
        self._plans: dict[tuple[Instance, str], _Plan] = {}
        self._names = machine.program.special_names  # defined by any class of the repository

    def call_special(self, value: Instance, name: str, given: Sequence[Values], site: int) -> Values:
        """Call a special method of an object; return EMPTY where it has none."""
        return self._call(value, name, Arguments(self._machine, [(each, False) for each in given], []), site)

    def _call(self, value: Instance, name: str, arguments: Arguments, site: int) -> Values:
        machine = self._machine
        machine.schedule.consulted.add((value.info, name))
        plan = self._plans.get((value, name))
        if plan is None:
            plan = self._plans[value, name] = self._make_plan(value, name)
        if plan.member is None:
            return EMPTY
        members = machine.read(plan.member)
        if plan.target is not None and len(members) == 1:
            machine.note(site, plan.target)
            return machine.calls.run(plan.target.code, value, arguments)
        confidence = LIKELY if value.is_promised else CERTAIN
        result: set[Value] = set()
        for method in machine.order(machine.attributes.bind(members, value)):
            result |= machine.calls.call(method, arguments, site, _RULE, confidence)
        return frozenset(result)

    def _make_plan(self, value: Instance, name: str) -> _Plan:
        owner = self._hierarchy.find(value.info, name)
        if owner is None:
            return _Plan(None, None)
        code = owner.methods.get(name)
        if code is None or code.decorators or code.name in IMPLICIT_CLASS_METHODS:
            return _Plan(owner.members[name], None)
        return _Plan(owner.members[name], Target(code, _RULE, LIKELY if value.is_promised else CERTAIN))

    def call_of_metaclass(self, value: Class, name: str, given: Sequence[Values], site: int) -> Values:
        """Call a special method of the metaclass of a class."""
        metaclass = value.info.metaclass
        owner = self._hierarchy.find(metaclass, name) if metaclass is not None else None
        if owner is None:
            return EMPTY
        machine = self._machine
        arguments = Arguments(machine, [(each, False) for each in given], [])
        result: set[Value] = set()
        for method in machine.order(machine.attributes.bind(machine.read(owner.members[name]), value)):
            result |= machine.calls.call(method, arguments, site, _RULE, CERTAIN)
        return frozenset(result)

    def _list_arguments(self, values: Values, *given: Values) -> Arguments:
        """Return the arguments of a method of several values; the results of a large set are not wanted."""
        return Arguments(self._machine, [(each, False) for each in given], [], not is_large(values))

    def find_first(self, value: Instance, names: Iterable[str]) -> str | None:
        """Return the first of some methods that an object has."""
        for name in names:
            if name in self._names and self._hierarchy.find(value.info, name) is not None:
                return name
        return None

    def list_distinct(self, values: Values, names: Sequence[str]) -> Iterable[Value]:
        """List one value of a large set for each combination of classes that define its methods."""
        if not is_large(values):
            return self._machine.order(values)
        return self._machine.schedule.remember(
            self.distinct, (values, names[0]), lambda: self._find_distinct(values, names)
        )

    def _find_distinct(self, values: Values, names: Sequence[str]) -> list[Value]:
        found: dict[object, Value] = {}
        for value in self._machine.order(values):
            key: object = type(value)
            if isinstance(value, Instance):
                look_up = self._hierarchy.look_up
                owners = (look_up(value.info, name, False).owner for name in names if name in self._names)
                key = value.flavour, *owners
            elif isinstance(value, Class | Container | Unknown):
                key = value
            other = found.setdefault(key, value)
            if isinstance(value, Instance) and isinstance(other, Instance):
                found[key] = min(value, other, key=lambda each: each.info.position)
        return list(found.values())

    def call_first(self, values: Values, names: Sequence[str], given: Sequence[Values], site: int) -> Values:
        """Call the first of some methods that each object has; one without any lowers the confidence."""
        result: set[Value] = set()
        arguments = self._list_arguments(values, *given)
        for value in self.list_distinct(values, names):
            name = self.find_first(value, names) if isinstance(value, Instance) else None
            if name is not None:
                result |= self._call(value, name, arguments, site)  # type: ignore[arg-type]
            else:
                self._note_missing(value, site)
        return MANY if is_large(values) else frozenset(result)

    def note_missing(self, values: Values, site: int) -> None:
        """Record a value without the called method, which lowers the confidence of others."""
        if site >= 0 and len(values) > 1 and any(isinstance(each, Instance) for each in values):
            for each in values:
                if not isinstance(each, Instance | Class) and not is_none(each):
                    self._note_missing(each, site)

    def _note_missing(self, value: Value, site: int) -> None:
        self._machine.note(site, Unbound(value.reason) if isinstance(value, Unknown) else _WITHOUT)

    def note_methods(self, values: Values, names: Sequence[str], site: int, confidence: str) -> None:
        """Record a call of the first of some methods of each object, without arguments."""
        if site < 0:
            return
        for value in self.list_distinct(values, names):
            name = self.find_first(value, names) if isinstance(value, Instance) else None
            owner = self._hierarchy.find(value.info, name) if name is not None else None  # type: ignore[attr-defined]
            for member in self._machine.read(owner.members[name]) if owner is not None and name is not None else ():
                if isinstance(member, Function):
                    self._machine.note(site, Target(member.code, _RULE, confidence))

    def note_key(self, values: Values, site: int) -> None:
        """Record the calls of a dict or set on a key."""
        if "__hash__" in self._names or "__eq__" in self._names:
            inside = self.note_hash(values, site)
            self.note_methods(inside, ("__eq__",), site, POSSIBLE)

    def note_hash(self, values: Values, site: int) -> Values:
        """Record the calls of hash(), and return the values with tuples flattened."""
        inside = set(values)
        for value in self._machine.order(values):
            if isinstance(value, Container) and value.kind == "tuple":
                inside |= self._machine.containers.read_everything(value)
        found = frozenset(inside)
        self.note_methods(found, ("__hash__",), site, LIKELY)
        return found

    def call_protocol(self, protocol: str, values: Values, site: int) -> Values:
        """Record the implicit calls of a protocol, such as the truth of a value."""
        if protocol == "items":
            for value in self._machine.order(values):
                if isinstance(value, Instance):
                    self._machine.containers.iterate(frozenset({value}), site, False)
        elif protocol == "entries":
            for value in self._machine.order(values):
                if isinstance(value, Instance):
                    for name in ("keys", "__getitem__"):
                        self.call_special(value, name, [], site)
        elif not self._names.isdisjoint(_PROTOCOLS[protocol]):
            self.call_first(values, _PROTOCOLS[protocol], (), site)
        return EMPTY

    def apply_unary(self, protocol: str, values: Values, site: int) -> Values:
        """Apply a unary operator."""
        result: set[Value] = set()
        arguments = self._list_arguments(values)
        for value in self.list_distinct(values, _PROTOCOLS[protocol]):
            name = self.find_first(value, _PROTOCOLS[protocol]) if isinstance(value, Instance) else None
            if name is not None:
                result |= self._call(value, name, arguments, site)  # type: ignore[arg-type]
            else:
                self._note_missing(value, site)
                result.add(PLAIN[value.kind] if isinstance(value, Constant) else value)
        return MANY if is_large(values) else frozenset(result)

    def operate(self, sign: str, left: Values, right: Values, site: int, in_place: bool) -> Values:
        """Apply a binary operator: the method of the left operand, else of the right one."""
        name = _BINARY.get(sign, "")
        if not name:
            return unknown(Reason.EXPRESSION)
        methods = ([f"__i{name}__"] if in_place else []) + [f"__{name}__"]
        result: set[Value] = set()
        is_left_out = not left
        arguments = self._list_arguments(left, right)
        for value in self.list_distinct(left, methods):
            first = self.find_first(value, methods) if isinstance(value, Instance) else None
            if first is not None:
                result |= self._call(value, first, arguments, site)  # type: ignore[arg-type]
                is_left_out |= f"__r{name}__" in self._names and not isinstance(value, Instance)
            else:
                is_left_out = True
                result |= self._apply_plain(sign, value, right, site)
                if isinstance(value, Unknown):
                    self._machine.note(site, Unbound(value.reason))
        if is_left_out and f"__r{name}__" in self._names:
            arguments = self._list_arguments(left, left)
            for value in self.list_distinct(right, (f"__r{name}__",)):
                if isinstance(value, Instance):
                    result |= self._call(value, f"__r{name}__", arguments, site)
        return MANY if is_large(left) else frozenset(result)

    def _apply_plain(self, sign: str, value: Value, right: Values, site: int) -> Values:
        """Return the result of an operator whose left operand is no object of the repository."""
        if isinstance(value, Container):
            others = frozenset(each for each in right if isinstance(each, Container) and each is not value)
            if others and site >= 0 and sign in ("+", "|"):
                kind = value.kind if value.kind in ("list", "dict", "set", "tuple") else "list"
                return self._machine.containers.copy(kind, others | {value}, 60_000_000 + site)
            return frozenset({value}) if sign in ("+", "|", "-", "&", "^", "*") else unknown(Reason.EXPRESSION)
        if isinstance(value, Constant | Text):
            kind = value.kind if isinstance(value, Constant) else "str"
            if kind == "str" and sign == "+":
                return self._add_texts(value, right)
            if sign == "%" and isinstance(value, Constant) and isinstance(value.value, str):
                return self.format_text(value.value, "%", [right])
            if kind in ("int", "float") and any(isinstance(each, Constant) and each.kind == "float" for each in right):
                return frozenset({PLAIN["float"]})
            return frozenset({PLAIN[kind]})
        if isinstance(value, Library):
            if sign == "|":
                return frozenset({value})
            return frozenset({value if value.name.endswith("()") else self._make(Library, name_item(value.name))})
        return unknown(Reason.EXPRESSION) if not isinstance(value, Unknown) else frozenset({value})

    def format_text(self, text: str, style: str, given: Sequence[Values]) -> Values:
        """Return the texts made from a template, as far as they may name attributes."""
        marks = list(_MARKS[style].finditer(text))
        if not marks:
            return frozenset({self._make(Constant, "str", text)})
        beginning, end = text[: marks[0].start()], text[marks[-1].end() :]
        result: set[Value] = set()
        for value in given[0] if len(given) == len(marks) == 1 else EMPTY:
            if isinstance(value, Constant) and isinstance(value.value, str):
                result.add(self._make(Constant, "str", beginning + value.value + end))
            else:
                result.add(self._make(Text, beginning, end))
        return frozenset(result) or frozenset({self._make(Text, beginning, end)})

    def _add_texts(self, value: Value, right: Values) -> Values:
        beginning = (value.value or "") if isinstance(value, Constant) else value.beginning  # type: ignore[attr-defined]
        result: set[Value] = set()
        for other in right:
            if isinstance(other, Constant) and isinstance(other.value, str):
                if isinstance(value, Constant) and isinstance(value.value, str):
                    result.add(self._make(Constant, "str", value.value + other.value))
                else:
                    result.add(self._make(Text, beginning, other.value))
            elif beginning:
                result.add(self._make(Text, beginning, ""))
            else:
                result.add(PLAIN["str"])
        return frozenset(result) or frozenset({PLAIN["str"]})

    def compare(self, sign: str, left: Values, right: Values, site: int) -> Values:
        """Apply a comparison or containment test."""
        machine = self._machine
        if "in" in sign.split():
            for value in self._machine.order(right):
                if isinstance(value, Instance):
                    if self._hierarchy.find(value.info, "__contains__") is not None:
                        self.call_special(value, "__contains__", (left,), site)
                    else:
                        machine.containers.iterate(frozenset({value}), site, False)
                elif isinstance(value, Container):
                    if value.kind in ("list", "tuple", "rest"):
                        self.note_methods(left, ("__eq__",), site, LIKELY)
                    else:
                        self.note_key(left, site)
                elif isinstance(value, Class):
                    self.call_of_metaclass(value, "__contains__", (left,), site)
                else:
                    self._note_missing(value, site)
            return _TRUTH
        names = _COMPARISONS.get(sign)
        if names is None or self._names.isdisjoint((*names, "__eq__")):
            return _TRUTH
        result: set[Value] = set()
        methods = (names[0], "__eq__") if sign in ("!=", "<>") else (names[0],)
        is_left_out = False
        arguments = self._list_arguments(left, right)
        for value in self.list_distinct(left, methods):
            first = self.find_first(value, methods) if isinstance(value, Instance) else None
            if first is not None:
                result |= self._call(value, first, arguments, site)  # type: ignore[arg-type]
            else:
                is_left_out = True
                if isinstance(value, Unknown):
                    machine.note(site, Unbound(value.reason))
                elif isinstance(value, Class):
                    self.call_of_metaclass(value, names[0], (right,), site)
        if is_left_out:
            other = (names[1], "__eq__") if sign in ("!=", "<>") else (names[1],)
            arguments = self._list_arguments(right, left)
            for value in self.list_distinct(right, other):
                second = self.find_first(value, other) if isinstance(value, Instance) else None
                if second is not None:
                    result |= self._call(value, second, arguments, site)  # type: ignore[arg-type]
        return _TRUTH | {each for each in result if not isinstance(each, Unknown)}

    def enter(self, values: Values, is_async: bool, site: int) -> Values:
        """Enter and leave a context, and return the result of entering."""
        machine = self._machine
        names = ("__aenter__", "__aexit__") if is_async else ("__enter__", "__exit__")
        result: set[Value] = set()
        for value in self._machine.order(values):
            if isinstance(value, Instance):
                came = self.call_special(value, names[0], [], site)
                none = frozenset({PLAIN["NoneType"]})
                self.call_special(value, names[1], [none, none, none], site)
                if self._hierarchy.find(value.info, names[0]) is None:
                    self._note_missing(value, site)
                    came = frozenset({value}) if value.info.is_open else unknown(Reason.RESULT)
                result |= machine.calls.await_all(came, -1) if is_async else came
            elif isinstance(value, Generator):
                found = machine.read(value.code.yielded)
                result |= machine.calls.adapt(found, value.receiver) if value.receiver is not None else found
            elif isinstance(value, Container):
                result |= machine.containers.read_everything(value) if value.kind == "context" else {value}
            elif isinstance(value, Coroutine):
                result |= machine.calls.returned(value.code, value.receiver)
            elif isinstance(value, Library):
                result |= machine.library.enter(value)
            else:
                self._note_missing(value, site)
                result.add(value)
        return frozenset(result)
