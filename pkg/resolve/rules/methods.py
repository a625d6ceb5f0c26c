"""Functions as methods: bound to the object or class they are read from, and what calls of them give (A-12)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pkg.resolution.reasons import Reason
from pkg.resolve import queries as q
from pkg.resolve.abstract_values import (
    CLASS,
    CLASSES,
    EMPTY,
    FUNCTION,
    GENERATOR,
    GETTER,
    INSTANCE,
    LIBRARY,
    MAKER,
    MANY,
    METHOD,
    OBJECT,
    OBJECTS,
    PARTIAL,
    PROPERTY,
    REGISTER,
    SELF,
    SUBCLASS,
    UNBOUND,
    UNKNOWN,
    Key,
    Value,
    Values,
    bare,
    is_own_function,
    join,
    unknown,
)
from pkg.resolve.facts.scope_model import CLASS_METHOD, STATIC, Scope
from pkg.resolve.facts.special_names import GET
from pkg.resolve.resolution_context import Context


class Methods:
    """Bind functions to what they are read from."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._ask = context.ask
        self._solver = context.solver
        self._hierarchy = context.hierarchy
        context.answer(q.BOUND, self.bind)
        context.answer(q.DESCRIBED, self.describe)
        context.answer(q.FUNCTIONS, self.list_functions)
        context.answer(q.SPECIAL_METHODS, self.find_special)
        context.answer(q.CALL, self.call)
        context.answer(q.FIRST_CALL, self.call_first)
        context.keep(q.CHOSEN_RESULT, self._derive_chosen)
        context.keep(q.RESULT_OF_MANY, self._derive_of_many)
        context.keep(q.OUTSIDE_OF_MANY, self._list_outside)

    def bind(self, values: Values, receiver: Value) -> Values:
        """Bind what a class holds to an object: functions become methods, properties their result."""
        values = self._solver.spread(values)
        if len(values) == 1:
            (value,) = values
            return self._bind_one(value, receiver)
        return join(self._bind_one(value, receiver) for value in values)

    def _bind_one(self, value: Value, receiver: Value) -> Values:
        if value[0] == FUNCTION:
            return self._bind_function(value, receiver)
        if value[0] == PROPERTY:
            return self._adapt(self.call(value[2]), receiver) if value[1] == GETTER else EMPTY
        if value[0] in OBJECTS and self._hierarchy.find(value[1], GET) is not None:
            return frozenset(each for each in self.describe(value) if each[1] is not value[1])  # not itself, as a class
        return self._bind_partial(value, receiver) if value[0] == PARTIAL and value[3] else frozenset({value})

    def _bind_partial(self, value: Value, receiver: Value) -> Values:
        """Bind a callable that is made of another to an object, or to its class."""
        if value[3] == OBJECT:
            return frozenset((PARTIAL, each, value[2], UNBOUND) for each in self._bind_one(value[1], receiver))
        inner, owner = value[1], take_class(receiver)
        return frozenset({(METHOD, inner[1], owner)}) if inner[0] == FUNCTION else frozenset({inner})

    def _bind_function(self, value: Value, receiver: Value) -> Values:
        function: Scope = value[1]
        kinds = function.decorator_names
        if STATIC in kinds:
            return frozenset({value})
        if CLASS_METHOD in kinds:
            return frozenset({(METHOD, function, take_class(receiver))})
        if function.is_property:
            return self._adapt(self._derive_result(function), receiver)
        return frozenset({(METHOD, function, receiver)})

    def describe(self, value: Value) -> Values:
        """Give what reading an attribute of a class gives: what the __get__ of its value does, if there is one.

        Of a callable that is made anew for each reader the arguments are not followed: all readers share what it is.
        """
        found = self.call_first(value, (GET,)) if value[0] in OBJECTS else None
        if found is None:
            return frozenset({value})
        return frozenset((PARTIAL, each[1], None, UNBOUND) if each[0] == PARTIAL else each for each in found)

    def list_functions(self, scope: Scope, name: str, after: Scope | None = None) -> Iterator[Scope]:
        """Give the functions of a name that a class has; `after` begins behind one in its order (super)."""
        owner = self._hierarchy.find(scope, name, after)
        for value in self._solver.spread(self._ask(q.MEMBER, owner, name)) if owner is not None else ():
            if value[0] == FUNCTION:
                yield value[1]

    def find_special(self, value: Value, name: str) -> Values:
        """Give the methods of a special name that the repository defines for an object."""
        owner = self._hierarchy.find(value[1], name)
        if owner is None:
            return EMPTY
        found = self.bind(self._ask(q.MEMBER, owner, name), value)
        return frozenset(each for each in found if is_own_function(each))

    def call_first(self, value: Value, names: Iterable[str]) -> Values | None:
        """Give what the first of several special methods gives back that an object has; nothing where it has none."""
        name = self._hierarchy.find_first(value[1], names)
        return join(map(self.call, self.find_special(value, name))) if name is not None else None

    def call(self, callee: Value) -> Values:
        """Give what calling a value of the repository gives back."""
        kind = callee[0]
        if kind == FUNCTION:
            return self._derive_result(callee[1])
        if kind == METHOD and callee[1] is not None:
            return self._adapt(self._derive_result(callee[1]), callee[2])
        if kind in CLASSES:
            return self._construct(callee)
        if kind in OBJECTS:
            return self._context.call_special(callee, "__call__", Reason.RESULT)
        if kind == PARTIAL:
            return self.call(callee[1])
        if kind == REGISTER:
            return frozenset({callee}) if callee[1].kind == "function" else unknown(Reason.RESULT)
        if kind == MAKER:
            return EMPTY
        return self._solver.hand(q.RESULT_OF_MANY, callee[1]) if kind == MANY else unknown(Reason.RESULT)

    def _derive_of_many(self, key: Key) -> Values:
        """Give what calling the values of a large set gives back, but for those of which the arguments decide."""
        return join([self.call(value) for value in self._solver.gather(key) if not _is_outside(value)])

    def _list_outside(self, key: Key) -> Values:
        """Give the values of a large set of which the arguments decide what calling them gives back."""
        return frozenset(filter(_is_outside, self._solver.spread(self._solver.gather(key))))

    def _construct(self, made: Value) -> Values:
        """Give what calling a class gives: an object of it, or what its __new__ gives back."""
        own = frozenset({(INSTANCE if made[0] == CLASS else SELF, made[1])})
        owner = self._hierarchy.find(made[1], "__new__")
        if owner is None:
            return own
        found: set[Value] = set()
        for value in self._solver.spread(self._ask(q.MEMBER, owner, "__new__")):
            found |= self._make_with(bare(value), made, own)
        return frozenset(found)

    def _make_with(self, maker: Value, made: Value, own: Values) -> Values:
        """Return what calling a class gives by one value of its `__new__`; one that is not followed makes an object."""
        if not is_own_function(maker):
            return own
        given = self._adapt(self.call(maker), made)
        return given | own if _may_hide_own(maker[1], given) else given

    def _derive_result(self, function: Scope) -> Values:
        if function.yields:
            return frozenset({(GENERATOR, function)})
        found = self._solver.hand(q.RESULT, function)
        return found | self._solver.hand(q.CHOSEN_RESULT, function) if function.is_generic else found

    def _derive_chosen(self, function: Scope) -> Values:
        """Give what the functions give back that were registered for a generic one."""
        return join([self.call(each) for each in self._solver.get(q.REGISTERED, function)])

    def _adapt(self, values: Values, receiver: Value) -> Values:
        """Put the receiver in the place of self: a method that gives back self keeps the type of its caller."""
        kind, scope = receiver[0], receiver[1]
        if kind not in OBJECTS and kind not in CLASSES:
            return values
        has_base = self._hierarchy.has_base
        own = (INSTANCE if kind in (INSTANCE, CLASS) else kind if kind in OBJECTS else SELF, scope)
        return frozenset(own if value[0] == SELF and has_base(scope, value[1]) else value for value in values)


def _is_outside(value: Value) -> bool:
    """Tell whether a value is of a library, or a method of a container."""
    return value[0] == LIBRARY or (value[0] == METHOD and value[1] is None)


def take_class(receiver: Value) -> Value:
    """Give the class of a receiver, which may be one itself."""
    return (CLASS if receiver[0] in (INSTANCE, CLASS) else SUBCLASS, receiver[1])


def _may_hide_own(maker: Scope, given: Values) -> bool:
    """Tell whether an object of the class itself may be among what its __new__ gives back, though none is known."""
    if any(value[0] == UNKNOWN for value in given):
        return True
    is_asking = maker.module.text.find(b"__new__", maker.head[1], maker.code_end) >= 0  # that of a base
    return is_asking and not any(value[0] in OBJECTS for value in given)
