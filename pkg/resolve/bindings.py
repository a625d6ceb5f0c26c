"""The rules by which names and attributes get their values: from definitions and all bindings that count (A-12).

A definition gives what its decorators make of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

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
    Reason,
    Value,
    Values,
    bare,
    join,
    library,
    target_of,
    unknown,
)
from pkg.resolve.annotations import Annotations
from pkg.resolve.attributes import Fields
from pkg.resolve.container_items import Items
from pkg.resolve.dependency_record import Patch, hash_text
from pkg.resolve.expressions import Expressions
from pkg.resolve.function_values import Caller, Parameters
from pkg.resolve.imports import Exports, Imports
from pkg.resolve.methods import Methods
from pkg.resolve.name_lookup import NAMELESS, Names, Reaching, list_final
from pkg.resolve.narrowing import Narrowing
from pkg.resolve.resolution_context import Context
from pkg.resolve.scope_model import (
    CLASS_METHOD,
    STATIC,
    Binding,
    ModuleScopes,
    Reference,
    Scope,
    Store,
    name_decorator,
    refer_to,
    refer_to_module,
)
from pkg.resolve.tested_names import WHOLE, Part
from pkg.units import DOTTED, Code, read_name

_TRANSPARENT = frozenset((
    STATIC, CLASS_METHOD, "wraps", "lru_cache", "cache", "abstractmethod", "contextmanager", "asynccontextmanager",
    "final", "override", "singledispatch", "total_ordering", "dataclass", "runtime_checkable", "fixture", "property",
))  # fmt: skip


_METHOD_TYPES = frozenset(("builtins.classmethod", "builtins.staticmethod"))
_PROPERTY_TYPES = frozenset(("builtins.property", "functools.cached_property"))


class Decorators:
    """Apply decorators."""

    def __init__(self, context: Context, methods: Methods, expressions: Expressions, parameters: Parameters) -> None:
        self._hierarchy = context.hierarchy
        self._methods = methods
        self._expressions = expressions
        self._parameters = parameters

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
        return self._expressions.evaluate_text(scope.parent or scope, name) if "." in name else EMPTY

    def evaluate(self, definition: Scope, text: str) -> Values:
        """Give the values of a decorator of a definition one by one, where it stands if its text is found there."""
        return self._keep_own(self._read(definition, text), EMPTY)

    def _keep_own(self, values: Values, own: Values) -> Values:
        """Leave out of what a decorator gives the other functions that it decorates."""
        given = frozenset(value for value in values if value[0] == MANY and value[1][0] == "given")
        found = frozenset(each for each in self._methods.spread(values - given) if not _is_of_others(each, own))
        return found | own if given else found

    def _read(self, definition: Scope, text: str) -> Values:
        scope, module = definition.parent or definition, definition.module
        data = text.encode("utf-8", "replace")
        start = module.text.find(data, module.definitions[definition.definition].span.start, definition.head[0])
        if start < 0:
            return self._expressions.evaluate_text(scope, text)
        return self._expressions.evaluate(scope, start, start + len(data))

    def _decorate(self, scope: Scope, text: str, values: Values) -> Values:
        """Give what a decorator makes of values; one of which too little is known leaves them as they are."""
        made: set[Value] = set()
        for decorator in self._list_callable(self.evaluate(scope, text)):
            target: Scope | None = target_of(decorator)
            if target is not None:
                self.hand_over(decorator, values)
                made |= _leave_decorators(target, self._keep_own(self._methods.call(decorator), values))
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
            is_called = decorator[0] in OBJECTS and self._methods.find_first(decorator, ("__call__",)) is not None
            yield from self._methods.find_special(decorator, "__call__") if is_called else (decorator,)

    def hand_over(self, decorator: Value, values: Values) -> None:
        """Give a decorator what it decorates: a function its first argument, a class that of its constructor."""
        given = decorator[2] if decorator[0] == PARTIAL else 0
        if given is None:
            return
        decorator = bare(decorator)
        target: Scope = decorator[1]
        if decorator[0] not in CLASSES:
            self._parameters.add_caller(target, Caller(None, given + int(decorator[0] == METHOD), values))
            return
        for function in self._methods.list_functions(target, "__init__"):
            self._parameters.add_caller(function, Caller(None, 1, values))


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
    """Read bindings; adds the rules of variables and fields to the solver."""

    def __init__(
        self,
        context: Context,
        names: Names,
        fields: Fields,
        exports: Exports,
        imports: Imports,
        items: Items,
        annotations: Annotations,
        expressions: Expressions,
        parameters: Parameters,
        decorators: Decorators,
        narrowing: Narrowing,
    ) -> None:
        self._context = context
        self._names = names
        self._fields = fields
        self._exports = exports
        self._imports = imports
        self._items = items
        self._annotations = annotations
        self._expressions = expressions
        self._parameters = parameters
        self._decorators = decorators
        self._narrowing = narrowing
        self.patches: dict[str, Sequence[Patch]] = {}  # by the file that assigns
        self._patches: dict[str, dict[Reference, list[tuple[str, Patch]]]] = {}  # by the name that is bound
        context.solver.add_rule("patches", self._derive_patches)
        context.solver.add_rule("variable", self._derive_variable)
        context.solver.add_rule("reaching", self._derive_reaching)
        context.solver.add_rule("narrowed", self._derive_narrowed)
        context.solver.add_rule("stored", self._derive_stored)
        context.solver.add_rule("final", self._derive_final)
        context.solver.add_rule("field", self._derive_field)
        context.solver.add_rule("class field", self._derive_class_field)
        context.solver.add_rule("foreign field", self._derive_foreign)
        context.solver.add_rule("receivers", self._derive_receivers)
        context.solver.add_rule("assigned", self._derive_assigned)

    def _derive_variable(self, scope: Scope, name: str) -> Values:
        """Give what a name may stand for while its scope runs."""
        return self._derive_bindings(scope, name, scope.names.get(name, ()))

    def _derive_reaching(self, scope: Scope, name: str, numbers: Reaching) -> Values:
        """Give what a name may stand for where some of its bindings are in force."""
        values = (self.derive(scope, binding) for binding in self._names.pick(scope, name, numbers))
        found = self._derive_patched(scope, name).union(*values)
        is_parameter = -1 in numbers and name in scope.parameter_names  # of an earlier version, it may be none any more
        return found | self._parameters.derive(scope, name) if is_parameter else found

    def _derive_narrowed(self, scope: Scope, name: str, parts: tuple[Part, ...]) -> Values:
        """Give what a name may stand for where its bindings were tested."""
        found: set[Value] = set()
        count = len(scope.names.get(name, ())) + (name in scope.parameter_names)
        for numbers, tests in parts:
            if numbers == WHOLE:
                values = self._names.derive_whole(scope, name)
            else:
                key = ("variable", scope, name) if len(numbers) == count else ("reaching", scope, name, numbers)
                values = self._context.solver.hand(key)
            found |= self._narrowing.narrow(values, name, tests)
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
            star = self._exports.find_star(scope, name, after=max(binding.at for binding in bindings))
        if star is None or star.module is None:
            return self._derive_bindings(scope, name, bindings)
        found = self._imports.derive_attribute(star, name)
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
                found |= self._parameters.derive_field(scope, name, annotation)
        if name in scope.parameter_names:
            found |= self._parameters.derive(scope, name)
        elif not bindings and not self._list_patches_of(scope, name):
            return self._imports.derive_unbound(scope, name)
        return frozenset(found)

    def _derive_patched(self, scope: Scope, name: str) -> Values:
        """Give what code elsewhere binds a name of a module or class to."""
        found: set[Value] = set()
        for path, patch in self._list_patches_of(scope, name):
            store = self._context.modules[path].fields[None][name][patch.number]
            found |= self.derive(store.scope, store.binding)
        return frozenset(found)

    def _list_patches_of(self, scope: Scope, name: str) -> Sequence[tuple[str, Patch]]:
        return self._patches[name].get(refer_to(scope), ()) if name in self._patches else ()

    def derive(self, scope: Scope, binding: Binding) -> Values:
        """Give the values of one binding."""
        if binding.scope is not None:
            return self._decorators.define(binding.scope)
        if binding.record is not None:
            return self._imports.derive(scope.module.path, binding.record)
        if binding.code == Code.ERASE:
            return EMPTY
        scope = binding.within or scope
        if binding.code == Code.ANNOTATE:
            annotation = self._context.trees.parse(scope.module, binding.start, binding.end)
            return self._annotations.derive(scope, annotation)
        values = self._derive_whole(scope, binding)
        for step in binding.path:
            values = self._items.unpack(values, step)
        return values

    def _derive_whole(self, scope: Scope, binding: Binding) -> Values:
        """Give what a binding gives to all its targets together."""
        code, start, end = binding.code, binding.start, binding.end
        if code == Code.AUGMENT:
            return self._expressions.augment(scope, binding.at, start, end)
        if code == Code.MATCH and not end:
            return unknown(Reason.ITEM)
        values = self._expressions.evaluate(scope, start, end)
        if code in (Code.FOR, Code.ASYNC_FOR):
            return self._items.iterate(values, code == Code.ASYNC_FOR)
        if code in (Code.WITH, Code.ASYNC_WITH):
            return self._items.enter(values, code == Code.ASYNC_WITH)
        return self._catch(values) if code in (Code.EXCEPT, Code.MATCH) else values

    def _catch(self, values: Values) -> Values:
        """Give the objects of the classes that an except clause names, alone or in a tuple."""
        values = self._context.solver.spread(values)
        tuples = frozenset(value for value in values if value[0] == CONTAINER)
        inside = self._context.solver.spread(self._items.take(tuples, None))
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
        receivers = self._context.solver.get(("receivers", name))
        numbers = {number for _, receiver, number in receivers if has_base(receiver, scope)}
        stores = enumerate(self._fields.list_foreign(name)) if numbers else ()
        chosen = [store for number, store in stores if number in numbers]
        return join([self._context.solver.hand(("assigned", store)) for store in chosen])

    def _derive_assigned(self, store: Store) -> Values:
        """Give what an assignment to an attribute assigns."""
        return self.derive(store.scope, store.binding)

    def _derive_receivers(self, name: str) -> Values:
        """Give the classes to an attribute of which, or of whose objects, code elsewhere assigns.

        Each with the number of the assignment among those of the name.
        """
        found: set[Value] = set()
        for number, store in enumerate(self._fields.list_foreign(name)):
            values = self._expressions.list_values(store.scope, store.start, store.end)
            found |= {(CLASS, value[1], number) for value in values if value[0] in OF_CLASSES}
        return frozenset(found)

    def find_patches(self, paths: Iterable[str], known: Mapping[str, Sequence[Patch]]) -> None:
        """Find what files assign to attributes of classes and modules, which binds a name there from outside.

        Of others it is known.
        """
        solver, self.patches = self._context.solver, dict(known)
        for path in sorted(paths):
            solver.get(("patches", path))
        solver.solve()
        for path, patches in self.patches.items():
            for patch in patches:
                self._context.modules.bind(patch.target, patch.name)
                self._patches.setdefault(patch.name, {}).setdefault(patch.target, []).append((path, patch))

    def _derive_patches(self, path: str) -> Values:
        """Follow what a file assigns to from outside; nobody reads the set itself."""
        self.patches[path] = list(self._list_patches(self._context.modules[path]))
        return EMPTY

    def _list_patches(self, module: ModuleScopes) -> Iterator[Patch]:
        modules = self._context.modules
        for name, stores in module.fields.get(None, {}).items():
            for number, store in enumerate(stores):
                text = module.text[store.start : store.end]
                for value in self._expressions.spell_out(store.scope, text) if DOTTED.match(text) else ():
                    is_module = value[0] == MODULE and value[1] in modules
                    if is_module or value[0] == CLASS:
                        target = refer_to_module(value[1]) if is_module else refer_to(value[1])
                        assigned = module.text[store.binding.start : store.binding.end]
                        yield Patch(target, name, number, hash_text(assigned))


def _make_caught(value: Value) -> Value:
    if value[0] in CLASSES:
        return (TYPED, value[1])
    return library(f"{value[1]}()") if value[0] == LIBRARY else value
