"""The rules by which names and attributes get their values: from all bindings that count (A-12)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pkg.resolve.annotations import Annotations
from pkg.resolve.basis import Patch, hash_text
from pkg.resolve.context import Context
from pkg.resolve.decorators import Decorators
from pkg.resolve.exports import Exports
from pkg.resolve.expressions import Expressions
from pkg.resolve.fields import Fields
from pkg.resolve.imports import Imports
from pkg.resolve.items import Items
from pkg.resolve.model import Binding, ModuleScopes, Reference, Scope, refer_to, refer_to_module
from pkg.resolve.names import list_final
from pkg.resolve.parameters import Parameters
from pkg.resolve.values import CLASS, CLASSES, CONTAINER, EMPTY, LIBRARY, MODULE, OBJECTS, TYPED, Value, Values, library
from pkg.units import DOTTED, Code


class Bindings:
    """Read bindings; adds the rules of variables and fields to the solver."""

    def __init__(
        self,
        context: Context,
        fields: Fields,
        exports: Exports,
        imports: Imports,
        items: Items,
        annotations: Annotations,
        expressions: Expressions,
        parameters: Parameters,
        decorators: Decorators,
    ) -> None:
        self._context = context
        self._fields = fields
        self._exports = exports
        self._imports = imports
        self._items = items
        self._annotations = annotations
        self._expressions = expressions
        self._parameters = parameters
        self._decorators = decorators
        self.patches: dict[str, Sequence[Patch]] = {}  # by the file that assigns
        self._patches: dict[str, dict[Reference, list[tuple[str, Patch]]]] = {}  # by the name that is bound
        context.solver.add_rule("patches", self._read_patches)
        context.solver.add_rule("variable", self._read_variable)
        context.solver.add_rule("final", self._read_final)
        context.solver.add_rule("field", self._read_field)
        context.solver.add_rule("foreign field", self._read_foreign)

    def _read_variable(self, scope: Scope, name: str) -> Values:
        """Give what a name may stand for while its scope runs."""
        return self._read_bindings(scope, name, scope.names.get(name, ()))

    def _read_final(self, scope: Scope, name: str) -> Values:
        """Give what a name stands for when the code of its module or class has run; a star import may bring it last."""
        bindings = list_final(scope, name)
        star = None
        if scope.stars and bindings:
            star = self._exports.find_star(scope, name, after=max(binding.at for binding in bindings))
        if star is None or star.module is None:
            return self._read_bindings(scope, name, bindings)
        found = self._imports.read_attribute(star, name)
        if not self._context.modules[star.module].root.stars:  # else the name may come from here in the end
            return found
        return found | self._read_bindings(scope, name, bindings)

    def _read_bindings(self, scope: Scope, name: str, bindings: Iterable[Binding]) -> Values:
        found: set[Value] = set()
        patches = self._patches[name].get(refer_to(scope), ()) if name in self._patches else ()
        for path, patch in patches:
            store = self._context.modules[path].fields[None][name][patch.number]
            found |= self.read(store.scope, store.binding)
        for binding in bindings:
            found |= self.read(scope, binding)
        if name in scope.parameter_names:
            found |= self._parameters.read(scope, name)
        elif not bindings and not patches:
            return self._imports.read_unbound(scope, name)
        return frozenset(found)

    def read(self, scope: Scope, binding: Binding) -> Values:
        """Give the values of one binding."""
        if binding.scope is not None:
            return self._decorators.define(binding.scope)
        if binding.record is not None:
            return self._imports.read(scope.module.path, binding.record)
        if binding.code == Code.ANNOTATE:
            annotation = self._context.trees.parse(scope.module, binding.start, binding.end)
            return self._annotations.read(scope, annotation)
        values = self._expressions.evaluate(scope, binding.start, binding.end)
        if binding.code == Code.FOR:
            values = self._items.iterate(values)
        elif binding.code == Code.WITH:
            values = self._items.enter(values)
        elif binding.code == Code.EXCEPT:
            values = self._catch(values)
        for step in binding.path:
            values = self._items.unpack(values, step)
        return values

    def _catch(self, values: Values) -> Values:
        """Give the objects of the classes that an except clause names, alone or in a tuple."""
        tuples = frozenset(value for value in values if value[0] == CONTAINER)
        return frozenset(map(_make_caught, (values - tuples) | self._items.take(tuples, None)))

    def _read_field(self, owner: Scope, name: str) -> Values:
        """Give what the methods of a class assign to an attribute of self."""
        found: set[Value] = set()
        for store in self._fields.list_own(owner, name):
            found |= self.read(store.scope, store.binding)
        return frozenset(found)

    def _read_foreign(self, scope: Scope, name: str) -> Values:
        """Give what code elsewhere assigns to an attribute of a class or of its objects."""
        found: set[Value] = set()
        has_base = self._context.hierarchy.has_base
        for store in self._fields.list_foreign(name):
            receivers = self._expressions.evaluate(store.scope, store.start, store.end)
            if any(value[0] in (*OBJECTS, *CLASSES) and has_base(value[1], scope) for value in receivers):
                found |= self.read(store.scope, store.binding)
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

    def _read_patches(self, path: str) -> Values:
        """Follow what a file assigns to from outside; nobody reads the set itself."""
        self.patches[path] = list(self._list_patches(self._context.modules[path]))
        return EMPTY

    def _list_patches(self, module: ModuleScopes) -> Iterator[Patch]:
        modules = self._context.modules
        for name, stores in module.fields.get(None, {}).items():
            for number, store in enumerate(stores):
                text = module.text[store.start : store.end]
                for value in self._expressions.follow(store.scope, text) if DOTTED.match(text) else ():
                    is_module = value[0] == MODULE and value[1] in modules
                    if is_module or value[0] == CLASS:
                        target = refer_to_module(value[1]) if is_module else refer_to(value[1])
                        assigned = module.text[store.binding.start : store.binding.end]
                        yield Patch(target, name, number, hash_text(assigned))


def _make_caught(value: Value) -> Value:
    if value[0] in CLASSES:
        return (TYPED, value[1])
    return library(f"{value[1]}()") if value[0] == LIBRARY else value
