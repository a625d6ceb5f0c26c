"""What annotations promise: objects of classes, containers of them, classes themselves (A-12)."""

from __future__ import annotations

import ast

from pkg.extract.code_pieces import parse_expression
from pkg.resolution.reasons import Reason
from pkg.resolve import queries as q
from pkg.resolve.abstract_values import (
    CLASSES,
    CONTAINER,
    EMPTY,
    LIBRARY,
    SELF,
    SUBCLASS,
    TYPED,
    Value,
    Values,
    join,
    unknown,
)
from pkg.resolve.containers import ANNOTATED, BOUND
from pkg.resolve.facts.annotation_text import SAYING_NOTHING, is_open, list_parts, name_last
from pkg.resolve.facts.scope_model import Binding, Scope
from pkg.resolve.resolution_context import Context
from pkg.units import Code

_WRAPPERS = frozenset((
    "Optional", "Union", "Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly", "InitVar",
    "Awaitable", "Coroutine",
))  # fmt: skip
_CONTAINERS = frozenset((
    "list", "List", "tuple", "Tuple", "set", "Set", "frozenset", "FrozenSet", "dict", "Dict", "Sequence",
    "MutableSequence",
    "Iterable", "Iterator", "Collection", "Mapping", "MutableMapping", "deque", "Deque", "defaultdict", "DefaultDict",
    "OrderedDict", "Generator", "AsyncIterator", "AsyncIterable", "AsyncGenerator", "AbstractSet", "MutableSet",
))  # fmt: skip
_FIRST = frozenset(("Annotated", "Generator", "AsyncGenerator"))  # of whose arguments the first counts
_SILENT = ("typing.", "typing_extensions.", "builtins.object", "builtins.type")
_VARIABLES = frozenset((LIBRARY, f"{module}.TypeVar()") for module in ("typing", "typing_extensions"))
MAX_QUOTED = 2000  # characters of an annotation in quotes


class Annotations:
    """Read annotations where they stand."""

    def __init__(self, context: Context) -> None:
        self._ask = context.ask
        self._solver = context.solver
        self._trees = context.trees
        self._containers = context.containers
        context.keep(q.ALIAS, self._derive_alias)
        context.answer(q.PROMISED, self.derive)
        context.answer(q.PROMISE, self.promise)
        context.answer(q.LEFT_OPEN, self.is_open)
        context.answer(q.BOUNDS, self.derive_bound)

    def derive(self, scope: Scope, node: ast.expr | None) -> Values:
        """Give the objects that an annotation promises; nothing where it says nothing that helps."""
        if isinstance(node, ast.Constant):
            if not isinstance(node.value, str) or len(node.value) > MAX_QUOTED:
                return EMPTY
            return self.derive(scope, parse_expression(node.value.encode("utf-8", "replace")))
        if isinstance(node, ast.BinOp):
            return self.derive(scope, node.left) | self.derive(scope, node.right)
        if isinstance(node, ast.Subscript):
            return self._derive_generic(scope, node)
        if isinstance(node, ast.Name | ast.Attribute):
            return self._derive_name(scope, node)
        return EMPTY

    def promise(self, scope: Scope, node: ast.expr | None) -> Values | None:
        """Give the objects that an annotation promises; None where it says nothing of what they are."""
        if node is None or all(name_last(part) in SAYING_NOTHING for part in list_parts(node)):
            return None
        return self.derive(scope, node)

    def is_open(self, scope: Scope, node: ast.expr | None) -> bool:
        """Tell whether an annotation leaves open what an object is, beside what it promises: so do type variables."""
        if node is None or is_open(node):
            return True
        return any(not _VARIABLES.isdisjoint(self._follow(scope, part)) for part in list_parts(node))

    def derive_bound(self, scope: Scope, node: ast.expr) -> Values:
        """Give the objects that a type variable is bound to, where an annotation names one."""
        named = join(self._follow(scope, part) for part in list_parts(node))
        bounds = (value[1] for value in named if value[0] == CONTAINER and value[1][-1] == BOUND)
        return join(self._solver.get(q.ITEM, name, None) for name in bounds)

    def _derive_name(self, scope: Scope, node: ast.Name | ast.Attribute) -> Values:
        name = name_last(node)
        if name == "Self":
            return _derive_self(scope)
        if isinstance(node, ast.Name):
            owner = self._ask(q.OWNER, scope, name)
            if self._find_alias(owner, name) is not None:
                return self._solver.get(q.ALIAS, owner, name)
        return join(map(_promise, self._follow(scope, node)))

    def _follow(self, scope: Scope, node: ast.expr) -> Values:
        if isinstance(node, ast.Name):
            return self._solver.spread(self._ask(q.NAME, scope, node.id, None))
        if isinstance(node, ast.Attribute):
            return self._solver.spread(self._ask(q.ATTRIBUTES, self._follow(scope, node.value), node.attr))
        return EMPTY

    def _derive_alias(self, owner: Scope, name: str) -> Values:
        """Give what an alias promises; it may speak of itself, through others as well."""
        binding = self._find_alias(owner, name)
        return self.derive(owner, binding and self._trees.parse(owner.module, binding.start, binding.end))

    def _find_alias(self, owner: Scope, name: str) -> Binding | None:
        """Find the annotation that a name stands for: the value of its one assignment, where that is generic."""
        bindings = owner.names.get(name, ())
        if len(bindings) != 1 or bindings[0].code != Code.ASSIGN or bindings[0].path:
            return None
        text = owner.module.text[bindings[0].start : bindings[0].end]
        if b"|" not in text and not text.endswith(b"]"):
            return None
        return bindings[0]

    def _derive_generic(self, scope: Scope, node: ast.Subscript) -> Values:
        name = name_last(node.value)
        inner = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name in _WRAPPERS:
            kept = inner[:1] if name in _FIRST else inner[-1:] if name == "Coroutine" else inner
            return join([self.derive(scope, each) for each in kept])
        if name in ("type", "Type"):
            objects = self.derive(scope, inner[0])
            return frozenset((SUBCLASS, value[1]) for value in objects if value[0] in (TYPED, SELF))
        if name in _CONTAINERS:
            kept = inner[:1] if name in _FIRST else inner if name in ("tuple", "Tuple") else inner[-1:]
            items = join([self.derive(scope, each) for each in kept])
            return self._containers.collect((ANNOTATED, scope, ast.dump(node)), items)
        return self.derive(scope, node.value)


def _promise(value: Value) -> Values:
    if value[0] in CLASSES:
        return frozenset({(TYPED, value[1])})
    if value[0] == LIBRARY and not value[1].startswith(_SILENT) and "(" not in value[1]:
        return frozenset({(LIBRARY, f"{value[1]}()")})
    if value[0] == CONTAINER:  # of what a type variable is bound to, or of nothing that an annotation means
        return EMPTY if value[1][-1] == BOUND else unknown(Reason.PARAMETER)
    is_told = value[0] == LIBRARY and not value[1].endswith("[]")  # which stands for an annotation that is not followed
    return EMPTY if is_told else unknown(Reason.PARAMETER)


def _derive_self(scope: Scope) -> Values:
    each: Scope | None = scope
    while each is not None and each.kind != "class":
        each = each.parent
    return frozenset({(SELF, each)}) if each is not None else EMPTY
