"""Attributes: of objects and classes along the order of their bases, of modules, libraries and containers (A-12).

Beside the bodies of their classes they are assigned to in methods, and by code elsewhere.
"""

from __future__ import annotations

from pkg.resolution.reasons import Reason
from pkg.resolve import queries as q
from pkg.resolve.abstract_values import (
    CLASS,
    CLASSES,
    CONSTANT,
    CONTAINER,
    EMPTY,
    FOLDER,
    FUNCTION,
    INSTANCE,
    ITS_CLASS,
    LIBRARY,
    MAKER,
    MANY,
    METHOD,
    MODULE,
    NAMESPACE,
    OBJECTS,
    OF_CLASSES,
    PARTIAL,
    REGISTER,
    SELF,
    SUBCLASS,
    SUPER,
    TEXT,
    UNKNOWN,
    Key,
    Value,
    Values,
    join,
    library,
    unknown,
)
from pkg.resolve.facts.scope_model import CLASS_METHOD, Scope
from pkg.resolve.facts.special_names import FALLBACK
from pkg.resolve.record_classes import CONSTRUCTORS
from pkg.resolve.resolution_context import Context

DICTIONARY = "__dict__"
FOLLOWED = frozenset((
    "add", "append", "appendleft", "copy", "difference", "extend", "get", "insert", "intersection", "items", "pop",
    "popitem", "popleft", "setdefault", "sort", "union", "update", "values", "__getitem__",
))  # fmt: skip
"""Methods of containers that put something in, or give what is in there."""
ASKED_FOR = ("get", "pop", "setdefault", "__getitem__")  # methods of a namespace that give what a name stands for
_TEXTS = frozenset(("__name__", "__qualname__", "__module__", "__doc__"))  # that every class has
_CLASS_METHODS = frozenset(("__init_subclass__", "__class_getitem__"))  # without a decorator


class Attributes:
    """Read attributes of values."""

    def __init__(self, context: Context) -> None:
        self._ask = context.ask
        self._solver = context.solver
        self._hierarchy = context.hierarchy
        self._fields = context.fields
        self._records = context.records
        self._most = context.most
        context.answer(q.ATTRIBUTE, self.derive)
        context.answer(q.ATTRIBUTES, self.derive_all)
        context.answer(q.FALLBACK_METHODS, self.find_fallback)
        context.keep(q.OBJECT_ATTRIBUTE, self._derive_of_object)
        context.keep(q.CLASS_ATTRIBUTE, self._derive_of_class)
        context.keep(q.ATTRIBUTE_OF_MANY, self._derive_of_many)

    def derive_all(self, values: Values, name: str) -> Values:
        """Give an attribute of every value of a set."""
        if len(values) == 1:
            (value,) = values
            return self.derive(value, name)
        return join([self.derive(value, name) for value in values])

    def derive(self, value: Value, name: str) -> Values:
        """Give an attribute of one value."""
        kind = value[0]
        if kind == LIBRARY:
            return frozenset({library(f"{value[1]}.{name}")})
        if kind in OBJECTS:
            return self._solver.hand(q.OBJECT_ATTRIBUTE, value, name)
        if kind in CLASSES:
            return self._solver.hand(q.CLASS_ATTRIBUTE, value, name)
        if kind == MANY:
            return self._solver.hand(q.ATTRIBUTE_OF_MANY, value[1], name)
        if kind in (MODULE, FOLDER):
            if name == DICTIONARY:
                return frozenset({(NAMESPACE, value)})
            return self._ask(q.MODULE_MEMBER, value, name)
        if kind == NAMESPACE:
            is_asked = name in ASKED_FOR
            return frozenset({(METHOD, None, value, name) if is_asked else library(f"builtins.dict().{name}")})
        if kind == TEXT:
            return frozenset({library(f"builtins.str().{name}")})
        if kind == CONSTANT:
            return frozenset({library(f"builtins.{type(value[1]).__name__}().{name}")})
        if kind == SUPER:
            return self._derive_of_super(value, name)
        if kind == CONTAINER:
            is_followed = name in FOLLOWED
            return frozenset({(METHOD, None, value, name) if is_followed else library(f"builtins.list().{name}")})
        if kind in (FUNCTION, METHOD) and name == "register" and value[1] is not None and value[1].is_generic:
            return frozenset({(REGISTER, value[1])})
        if kind == UNKNOWN:  # the name of this attribute is known
            return unknown(Reason.RESULT if value[1] == Reason.CHOSEN else value[1])
        return unknown(Reason.EXPRESSION)

    def _derive_of_many(self, key: Key, name: str) -> Values:
        """Give an attribute of every value of a large set."""
        return self.derive_all(self._solver.gather(key), name)

    def _derive_of_object(self, value: Value, name: str) -> Values:
        scope = value[1]
        made = self._find_generated(value, scope, name)
        if made is not None:
            return made
        if name == "__class__":
            return frozenset({(CLASS if value[0] == INSTANCE else SUBCLASS, scope)})
        if name == DICTIONARY:
            return frozenset({(NAMESPACE, value)})
        owner = self._hierarchy.find(scope, name)
        found = EMPTY if owner is None else self._ask(q.BOUND, self._ask(q.MEMBER, owner, name), value)
        fields = self._fields.find_owners(scope, name)
        if fields:
            found |= join(self._bind_field(self._solver.hand(q.FIELD, each, name), value) for each in fields)
        if owner is not None or fields:
            return found | self._derive_besides(scope, name)
        found = self._derive_foreign(scope, name) | self._derive_of_derived(value, name) | self._explain(scope, name)
        return found | self._derive_by_fallback(value, name)

    def find_fallback(self, value: Value, name: str) -> Values:
        """Give the functions __getattr__ that Python asks for an attribute which an object does not have."""
        if value[0] in OBJECTS:
            owner = None if self._fields.defines(value[1], name) else self._hierarchy.find(value[1], FALLBACK)
            return self._ask(q.BOUND, self._ask(q.MEMBER, owner, FALLBACK), value) if owner is not None else EMPTY
        metaclasses = () if self._fields.defines(value[1], name) else self._hierarchy.metaclasses(value[1])
        for metaclass in metaclasses:
            owner = self._hierarchy.find(metaclass, FALLBACK)
            if owner is not None and self._hierarchy.find(metaclass, name) is None:
                return self._ask(q.BOUND, self._ask(q.MEMBER, owner, FALLBACK), value)
        return EMPTY

    def _derive_by_fallback(self, value: Value, name: str) -> Values:
        """Give what __getattr__ gives back; where it reads the attribute of another object, that attribute."""
        found: set[Value] = set()
        for method in self.find_fallback(value, name):
            found |= {each for each in self._ask(q.CALL, method) if each[0] != UNKNOWN}
            if method[0] == METHOD and method[1] is not None:
                found |= self.derive_all(self._solver.get(q.DELEGATES, method[1]), name)
        return frozenset(found)

    def _bind_field(self, values: Values, receiver: Value) -> Values:
        """Let methods that were kept in a field belong to the receiver, where they were taken from self."""
        has_base = self._hierarchy.has_base
        return frozenset(
            (METHOD, value[1], receiver)
            if value[0] == METHOD
            and value[1] is not None
            and value[2][0] == SELF
            and has_base(receiver[1], value[2][1])
            else value
            for value in values
        )

    def _derive_of_class(self, value: Value, name: str) -> Values:
        scope = value[1]
        made = self._find_generated(value, scope, name)
        if made is not None:
            return made
        owner = self._hierarchy.find(scope, name)
        if owner is not None:
            assigned = [self._solver.get(q.CLASS_FIELD, each, name) for each in self._fields.find_owners(scope, name)]
            values = self._solver.spread(self._ask(q.MEMBER, owner, name).union(*assigned))
            if self._hierarchy.is_enumeration(scope) and all(each.scope is None for each in owner.names[name]):
                return frozenset({(INSTANCE, scope)})
            return join([self._ask(q.DESCRIBED, _bind_to_class(each, value)) for each in values])
        if name == DICTIONARY:
            return frozenset({(NAMESPACE, value)})
        if name in _TEXTS:
            return frozenset({(LIBRARY, "builtins.str()")})
        fields = self._fields.find_owners(scope, name)
        if fields:
            return join([self._solver.hand(q.FIELD, each, name) for each in fields])
        for metaclass in self._hierarchy.metaclasses(scope):
            owner = self._hierarchy.find(metaclass, name)
            if owner is not None:
                return self._ask(q.BOUND, self._ask(q.MEMBER, owner, name), value)
        takes_classes = name == "register" and self._hierarchy.takes_others(scope)
        if takes_classes and self._hierarchy.is_abstract(scope):
            return frozenset({(REGISTER, scope)})
        found = frozenset({(REGISTER, scope)}) if takes_classes else EMPTY
        found |= self._derive_foreign(scope, name) | self._derive_of_derived(value, name) | self._explain(scope, name)
        return found | self._derive_by_fallback(value, name)

    def _derive_of_super(self, value: Value, name: str) -> Values:
        _, scope, receiver = value
        made = self._find_generated(receiver, scope, name, after=scope)
        if made is not None:
            return made
        owner = self._hierarchy.find(scope, name, after=scope)
        if owner is not None:
            return self._ask(q.BOUND, self._ask(q.MEMBER, owner, name), receiver)
        return frozenset({library(f"super().{name}" if self._hierarchy.is_open(scope) else f"builtins.object.{name}")})

    def _find_generated(self, receiver: Value, scope: Scope, name: str, after: Scope | None = None) -> Values | None:
        """Give the constructor that a class gets from its fields, where it has one; an object is filled in already."""
        made = self._records.find_generated(scope, name, after) if name in CONSTRUCTORS else None
        if made is None or receiver[0] not in OF_CLASSES:
            return None
        is_bound = receiver[0] in OBJECTS and name == CONSTRUCTORS[0]
        return frozenset({(MAKER, made, receiver[1], 0 if is_bound else -1)})

    def _derive_foreign(self, scope: Scope, name: str) -> Values:
        """Give what code elsewhere assigns to an attribute of a class or of its objects."""
        count = self._fields.count_foreign(name)
        if count > self._most:
            return unknown(Reason.MANY)
        return self._solver.hand(q.FOREIGN_FIELD, scope, name) if count else EMPTY

    def _derive_besides(self, scope: Scope, name: str) -> Values:
        """Give what code elsewhere assigns to an attribute that a class defines: what is told to be something."""
        if not 0 < self._fields.count_foreign(name) <= self._most:
            return EMPTY
        receivers, has_base = self._solver.get(q.RECEIVERS, name), self._hierarchy.has_base
        if not any(has_base(value[1], scope) for value in receivers):
            return EMPTY
        return frozenset(value for value in self._derive_foreign(scope, name) if value[0] not in (LIBRARY, UNKNOWN))

    def _derive_of_derived(self, value: Value, name: str) -> Values:
        """Give an attribute that a class lacks, and classes derived from it have: a value may be of one of those."""
        if value[0] in (INSTANCE, CLASS):
            return EMPTY
        nearest = self._fields.find_lacking(value[1], name)
        return join([self.derive((value[0], each), name) for each in nearest])

    def _explain(self, scope: Scope, name: str) -> Values:
        """Say why a class may lack an attribute."""
        if self._hierarchy.find(scope, FALLBACK) is not None:
            return unknown(Reason.DYNAMIC)
        return unknown(Reason.LIBRARY_BASE if self._hierarchy.is_open(scope) else Reason.ATTRIBUTE)


def _bind_to_class(value: Value, receiver: Value) -> Value:
    """Bind class methods to the class that they are read from; other functions stay as they are."""
    if value[0] == PARTIAL and value[3] == ITS_CLASS and value[1][0] == FUNCTION:
        return (METHOD, value[1][1], receiver)
    if value[0] != FUNCTION:
        return value
    function: Scope = value[1]
    is_bound = CLASS_METHOD in function.decorator_names or function.name in _CLASS_METHODS
    return (METHOD, function, receiver) if is_bound else value
