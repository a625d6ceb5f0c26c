"""The rules by which names and attributes get their values: from definitions and all bindings that count (A-12).

A definition gives what its decorators make of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pkg.resolution.reasons import Reason
from pkg.resolve import queries as q
from pkg.resolve.abstract_values import (
    CLASS,
    CLASSES,
    CONTAINER,
    EMPTY,
    FUNCTION,
    GETTER,
    LIBRARY,
    MANY,
    METHOD,
    MODULE,
    OBJECTS,
    OF_CLASSES,
    PARTIAL,
    PROPERTY,
    TYPED,
    UNBOUND,
    UNKNOWN,
    Value,
    Values,
    bare,
    join,
    library,
    target_of,
    unknown,
)
from pkg.resolve.dataflow import Caller
from pkg.resolve.facts.binding_order import NAMELESS, list_final
from pkg.resolve.facts.file_records import hash_text
from pkg.resolve.facts.scope_model import (
    CLASS_METHOD,
    STATIC,
    Binding,
    ModuleScopes,
    Scope,
    Store,
    name_decorator,
    refer_to,
    refer_to_module,
)
from pkg.resolve.facts.tested_names import WHOLE, Part
from pkg.resolve.patches import Patch
from pkg.resolve.queries import Reaching
from pkg.resolve.resolution_context import Context
from pkg.units import DOTTED, Code, read_name

_TRANSPARENT = frozenset((
    STATIC, CLASS_METHOD, "wraps", "lru_cache", "cache", "abstractmethod", "contextmanager", "asynccontextmanager",
    "final", "override", "singledispatch", "total_ordering", "dataclass", "runtime_checkable", "fixture", "property",
))  # fmt: skip


_METHOD_TYPES = frozenset(("builtins.classmethod", "builtins.staticmethod"))
_PROPERTY_TYPES = frozenset(("builtins.property", "functools.cached_property"))


class Decorators:
    """Apply decorators."""

    def __init__(self, context: Context) -> None:
        self._ask = context.ask
        self._solver = context.solver
        self._hierarchy = context.hierarchy
        self._callers = context.callers
        context.answer(q.DEFINED, self.define)
        context.answer(q.DECORATOR, self.evaluate)
        context.answer(q.HANDED, self.hand_over)

    def define(self, scope: Scope) -> Values:
        """Give what the name of a definition stands for: itself, and what its decorators make of it."""
        if scope.kind == "class":
            return frozenset({(CLASS, scope)})
        values = own = frozenset({(FUNCTION, scope)})
        for text in reversed(scope.decorators):
            last = name_decorator(text)
            if last in NAMELESS:
                return self._find_property(scope, text)
            if last not in _TRANSPARENT and not last.endswith("property"):
                values = self._decorate(scope, text, values)
        return values | own

    def _find_property(self, scope: Scope, text: str) -> Values:
        """Give the property of a base class that a decorator names whose setter or deleter a function is."""
        name, _, _ = text.rpartition(".")
        return self._ask(q.PLAIN_TEXT, scope.parent or scope, name) if "." in name else EMPTY

    def evaluate(self, definition: Scope, text: str) -> Values:
        """Give the values of a decorator of a definition one by one, where it stands if its text is found there."""
        return self._keep_own(self._read(definition, text), EMPTY)

    def _keep_own(self, values: Values, own: Values) -> Values:
        """Leave out of what a decorator gives the other functions that it decorates."""
        given = frozenset(value for value in values if value[0] == MANY and value[1][0] is q.GIVEN)
        found = frozenset(each for each in self._solver.spread(values - given) if not _is_of_others(each, own))
        return found | own if given else found

    def _read(self, definition: Scope, text: str) -> Values:
        scope, module = definition.parent or definition, definition.module
        data = text.encode("utf-8", "replace")
        start = module.text.find(data, module.definitions[definition.definition].span.start, definition.head[0])
        if start < 0:
            return self._ask(q.PLAIN_TEXT, scope, text)
        return self._ask(q.EXPRESSION, scope, start, start + len(data))

    def _decorate(self, scope: Scope, text: str, values: Values) -> Values:
        """Give what a decorator makes of values; one of which too little is known leaves them as they are."""
        made: set[Value] = set()
        for decorator in self._list_callable(self.evaluate(scope, text)):
            target: Scope | None = target_of(decorator)
            if target is not None:
                self.hand_over(decorator, values)
                made |= _leave_decorators(target, self._keep_own(self._ask(q.CALL, decorator), values))
                made |= self._wrap(target, values)
            if target is None or not (target.kind == "class" or target.returns):
                made |= values
        return frozenset(value for value in made if value[0] != UNKNOWN)

    def _wrap(self, decorator: Scope, values: Values) -> Values:
        """Give what a class makes of functions that is derived from a decorator of Python: it calls them in the end."""
        order = self._hierarchy.order(decorator) if decorator.kind == "class" else ()
        libraries = {name for each in order for name in self._hierarchy.facts(each).libraries}
        found: set[Value] = set()
        if not libraries.isdisjoint(_METHOD_TYPES):
            found |= {(PARTIAL, value, None, UNBOUND) for value in values if target_of(value) is not None}
        if not libraries.isdisjoint(_PROPERTY_TYPES):
            found |= {(PROPERTY, GETTER, value) for value in values if target_of(value) is not None}
        return frozenset(found)

    def _list_callable(self, decorators: Values) -> Iterator[Value]:
        """Give decorators; of objects, the method by which they are called."""
        for decorator in decorators:
            is_called = decorator[0] in OBJECTS and self._hierarchy.find_first(decorator[1], ("__call__",)) is not None
            yield from self._ask(q.SPECIAL_METHODS, decorator, "__call__") if is_called else (decorator,)

    def hand_over(self, decorator: Value, values: Values) -> None:
        """Give a decorator what it decorates: a function its first argument, a class that of its constructor."""
        given = decorator[2] if decorator[0] == PARTIAL else 0
        if given is None:
            return
        decorator = bare(decorator)
        target: Scope = decorator[1]
        if decorator[0] not in CLASSES:
            self._callers.add(target, Caller(None, given + int(decorator[0] == METHOD), values))
            return
        for function in self._ask(q.FUNCTIONS, target, "__init__", None):
            self._callers.add(function, Caller(None, 1, values))


def _leave_decorators(decorator: Scope, values: Values) -> Values:
    """Leave out of what a decorator gives the decorators that it, or the function around it, gives to other calls.

    What a function gives is known of all its calls together: `return wrap` beside `return wrap(function)` is for those
    that give options alone.
    """
    return frozenset(
        value for value in values if not (value[0] == FUNCTION and _is_made_beside(value[1], decorator))
    )  # fmt: skip


def _is_of_others(value: Value, own: Values) -> bool:
    """Tell whether a value is another function that is decorated: a decorator gives each back for itself alone."""
    if value[0] != FUNCTION or value in own or not value[1].decorators:
        return False
    parent = value[1].parent
    return parent is None or parent.kind != "function"  # what decorators make is inside of one


def _is_made_beside(made: Scope, decorator: Scope) -> bool:
    maker = made.parent
    if maker is None or maker.kind != "function" or maker not in (decorator, decorator.parent):
        return False
    texts = {maker.module.text[start:end].strip() for start, end in maker.returns}
    name = made.name.encode("utf-8", "replace")
    return name in texts and (maker is not decorator or any(text.startswith(name + b"(") for text in texts))


class Bindings:
    """Read bindings."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._ask = context.ask
        self._solver = context.solver
        self._fields = context.fields
        self._patches = context.patches
        context.keep(q.PATCHES, self._derive_patches)
        context.keep(q.VARIABLE, self._derive_variable)
        context.keep(q.REACHING, self._derive_reaching)
        context.keep(q.NARROWED_NAME, self._derive_narrowed)
        context.keep(q.STORED, self._derive_stored)
        context.keep(q.FINAL, self._derive_final)
        context.keep(q.FIELD, self._derive_field)
        context.keep(q.CLASS_FIELD, self._derive_class_field)
        context.keep(q.FOREIGN_FIELD, self._derive_foreign)
        context.keep(q.RECEIVERS, self._derive_receivers)
        context.keep(q.ASSIGNED, self._derive_assigned)

    def _derive_variable(self, scope: Scope, name: str) -> Values:
        """Give what a name may stand for while its scope runs."""
        return self._derive_bindings(scope, name, scope.names.get(name, ()))

    def _derive_reaching(self, scope: Scope, name: str, numbers: Reaching) -> Values:
        """Give what a name may stand for where some of its bindings are in force."""
        values = (self.derive(scope, binding) for binding in self._ask(q.PICKED, scope, name, numbers))
        found = self._derive_patched(scope, name).union(*values)
        is_parameter = -1 in numbers and name in scope.parameter_names  # of an earlier version, it may be none any more
        return found | self._ask(q.PARAMETER, scope, name) if is_parameter else found

    def _derive_narrowed(self, scope: Scope, name: str, parts: tuple[Part, ...]) -> Values:
        """Give what a name may stand for where its bindings were tested."""
        found: set[Value] = set()
        count = len(scope.names.get(name, ())) + (name in scope.parameter_names)
        for numbers, tests in parts:
            if numbers == WHOLE:
                values = self._ask(q.WHOLE_NAME, scope, name)
            else:
                is_all = len(numbers) == count
                hand = self._solver.hand
                values = hand(q.VARIABLE, scope, name) if is_all else hand(q.REACHING, scope, name, numbers)
            found |= self._ask(q.NARROWED, values, name, tests)
        return frozenset(found)

    def _derive_stored(self, runner: Scope, place: str, numbers: Reaching) -> Values:
        """Give what some of the assignments store at a place; of an earlier version, there may be fewer."""
        stores = runner.module.list_stored(runner, place).stores
        chosen = (stores[number] for number in numbers if number < len(stores))
        return EMPTY.union(*(self.derive(store.scope, store.binding) for store in chosen))

    def _derive_final(self, scope: Scope, name: str) -> Values:
        """Give what a name stands for when the code of its module or class has run; a star import may bring it last."""
        bindings = list_final(scope, name)
        star = None
        if scope.stars and bindings:
            star = self._ask(q.STAR, scope, name, max(binding.at for binding in bindings))
        if star is None or star.module is None:
            return self._derive_bindings(scope, name, bindings)
        found = self._ask(q.MODULE_NAME, star, name)
        if not self._context.modules[star.module].root.stars:  # else the name may come from here in the end
            return found
        return found | self._derive_bindings(scope, name, bindings)

    def _derive_bindings(self, scope: Scope, name: str, bindings: Iterable[Binding]) -> Values:
        found = set(self._derive_patched(scope, name))
        for binding in bindings:
            found |= self.derive(scope, binding)
            if name in scope.record_fields and scope.declares_field(binding):
                is_annotation = binding.code == Code.ANNOTATE
                annotation = (
                    self._context.trees.parse(scope.module, binding.start, binding.end) if is_annotation else None
                )
                found |= self._ask(q.GIVEN_FIELD, scope, name, annotation)
        if name in scope.parameter_names:
            found |= self._ask(q.PARAMETER, scope, name)
        elif not bindings and not self._patches.list_bound(scope, name):
            return self._ask(q.UNBOUND_NAME, scope, name)
        return frozenset(found)

    def _derive_patched(self, scope: Scope, name: str) -> Values:
        """Give what code elsewhere binds a name of a module or class to."""
        found: set[Value] = set()
        for path, patch in self._patches.list_bound(scope, name):
            store = self._context.modules[path].fields[None][name][patch.number]
            found |= self.derive(store.scope, store.binding)
        return frozenset(found)

    def derive(self, scope: Scope, binding: Binding) -> Values:
        """Give the values of one binding."""
        if binding.scope is not None:
            return self._ask(q.DEFINED, binding.scope)
        if binding.record is not None:
            return self._ask(q.IMPORT, scope.module.path, binding.record)
        if binding.code == Code.ERASE:
            return EMPTY
        scope = binding.within or scope
        if binding.code == Code.ANNOTATE:
            annotation = self._context.trees.parse(scope.module, binding.start, binding.end)
            return self._ask(q.PROMISED, scope, annotation)
        values = self._derive_whole(scope, binding)
        for step in binding.path:
            values = self._ask(q.UNPACKED, values, step)
        return values

    def _derive_whole(self, scope: Scope, binding: Binding) -> Values:
        """Give what a binding gives to all its targets together."""
        code, start, end = binding.code, binding.start, binding.end
        if code == Code.AUGMENT:
            return self._ask(q.AUGMENTED, scope, binding.at, start, end)
        if code == Code.MATCH and not end:
            return unknown(Reason.ITEM)
        values = self._ask(q.EXPRESSION, scope, start, end)
        if code in (Code.FOR, Code.ASYNC_FOR):
            return self._ask(q.ITERATED, values, code == Code.ASYNC_FOR)
        if code in (Code.WITH, Code.ASYNC_WITH):
            return self._ask(q.ENTERED, values, code == Code.ASYNC_WITH)
        return self._catch(values) if code in (Code.EXCEPT, Code.MATCH) else values

    def _catch(self, values: Values) -> Values:
        """Give the objects of the classes that an except clause names, alone or in a tuple."""
        values = self._solver.spread(values)
        tuples = frozenset(value for value in values if value[0] == CONTAINER)
        inside = self._solver.spread(self._ask(q.TAKEN, tuples, None))
        return frozenset(map(_make_caught, (values - tuples) | inside))

    def _derive_field(self, owner: Scope, name: str) -> Values:
        """Give what the methods of a class assign to an attribute of self."""
        found: set[Value] = set()
        for store in self._fields.list_own(owner, name):
            found |= self.derive(store.scope, store.binding)
        return frozenset(found)

    def _derive_class_field(self, owner: Scope, name: str) -> Values:
        """Give what the class methods of a class assign to an attribute of it."""
        found: set[Value] = set()
        for store in self._fields.list_own(owner, name):
            text = owner.module.text[store.start : store.end]
            if store.scope.find_owner(read_name(text)).takes_class:
                found |= self.derive(store.scope, store.binding)
        return frozenset(found)

    def _derive_foreign(self, scope: Scope, name: str) -> Values:
        """Give what code elsewhere assigns to an attribute of a class or of its objects."""
        has_base = self._context.hierarchy.has_base
        receivers = self._solver.get(q.RECEIVERS, name)
        numbers = {number for _, receiver, number in receivers if has_base(receiver, scope)}
        stores = enumerate(self._fields.list_foreign(name)) if numbers else ()
        chosen = [store for number, store in stores if number in numbers]
        return join([self._solver.hand(q.ASSIGNED, store) for store in chosen])

    def _derive_assigned(self, store: Store) -> Values:
        """Give what an assignment to an attribute assigns."""
        return self.derive(store.scope, store.binding)

    def _derive_receivers(self, name: str) -> Values:
        """Give the classes to an attribute of which, or of whose objects, code elsewhere assigns.

        Each with the number of the assignment among those of the name.
        """
        found: set[Value] = set()
        for number, store in enumerate(self._fields.list_foreign(name)):
            values = self._context.list_values(store.scope, store.start, store.end)
            found |= {(CLASS, value[1], number) for value in values if value[0] in OF_CLASSES}
        return frozenset(found)

    def _derive_patches(self, path: str) -> Values:
        """Follow what a file assigns to from outside; nobody reads the set itself."""
        self._patches.by_file[path] = list(self._list_patches(self._context.modules[path]))
        return EMPTY

    def _list_patches(self, module: ModuleScopes) -> Iterator[Patch]:
        modules = self._context.modules
        for name, stores in module.fields.get(None, {}).items():
            for number, store in enumerate(stores):
                text = module.text[store.start : store.end]
                for value in self._context.spell_out(store.scope, text) if DOTTED.match(text) else ():
                    is_module = value[0] == MODULE and value[1] in modules
                    if is_module or value[0] == CLASS:
                        target = refer_to_module(value[1]) if is_module else refer_to(value[1])
                        assigned = module.text[store.binding.start : store.binding.end]
                        yield Patch(target, name, number, hash_text(assigned))


def _make_caught(value: Value) -> Value:
    if value[0] in CLASSES:
        return (TYPED, value[1])
    return library(f"{value[1]}()") if value[0] == LIBRARY else value
