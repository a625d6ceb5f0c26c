"""What expressions stand for: names and calls straight from the text, others by their parsed parts (A-12)."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from pkg.extract.code_pieces import locate, parse_expression, spell
from pkg.resolution.reasons import Reason
from pkg.resolve import queries as q
from pkg.resolve.abstract_values import (
    CONSTANT,
    CONTAINER,
    EMPTY,
    FALSE,
    FUNCTION,
    LIBRARY,
    MANY,
    METHOD,
    OBJECTS,
    TEXT,
    TRUE,
    Value,
    Values,
    join,
    library,
    target_of,
    unknown,
)
from pkg.resolve.arguments import Arguments
from pkg.resolve.facts.scope_model import Scope, Site
from pkg.resolve.facts.special_names import OPERATIONS, PARSED, UNARY
from pkg.resolve.facts.tested_names import is_told
from pkg.resolve.facts.text_ends import ANY_TEXT, fill_braces, fill_percent, join_parts, join_texts
from pkg.resolve.origins import Written
from pkg.resolve.resolution_context import Context
from pkg.units import DOTTED, NAME, read_name

_LAST_NAME = re.compile(rb"\s*\.\s*(" + NAME + rb")\Z")
NOWHERE = 0  # position of what is known by its text alone
MAX_NAME = 200  # bytes looked through for the last name of an expression
MAX_STEPS = 30  # of a chain of attributes
MAX_NESTING = 60  # of expressions inside one another
_CONSTANTS: dict[str, Values] = {
    "None": EMPTY,
    "True": frozenset({TRUE}),
    "False": frozenset({FALSE}),
}
_AS_IT_IS = -1  # conversion of a value in a text
_AUGMENTING = sorted((sign for sign in OPERATIONS if sign.endswith(b"=")), key=len, reverse=True)  # //= before /=
_FORMAT = b".format"
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Expressions:
    """Evaluate expressions where they stand."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._ask = context.ask
        self._solver = context.solver
        self._trees = context.trees
        self._hierarchy = context.hierarchy
        self._containers = context.containers
        self._dotted: dict[bytes, tuple[str, ...]] = {}
        context.caches.append(self._dotted)
        context.answer(q.EXPRESSION, self.evaluate)
        context.answer(q.NODE, self.visit)
        context.answer(q.PLAIN_TEXT, self.evaluate_text)
        context.answer(q.DOTTED_NAME, self.follow)
        context.answer(q.AUGMENTED, self.augment)
        context.answer(q.AWAITED, self.derive_awaited)
        context.keep(q.TESTED, self.evaluate)

    def evaluate(self, scope: Scope, start: int, end: int) -> Values:
        """Give the values of the expression at a span of the module of a scope."""
        text = scope.module.text[start:end]
        if text in self._dotted or DOTTED.match(text):
            return self.follow(scope, text, start)
        self._solver.depth += 1
        try:
            return self._evaluate_longer(scope, start, end)
        finally:
            self._solver.depth -= 1

    def _evaluate_longer(self, scope: Scope, start: int, end: int) -> Values:
        """Evaluate what is no dotted name: calls and attributes of their results by their parts, without parsing."""
        if self._is_too_deep():
            return unknown(Reason.EXPRESSION)
        module = scope.module
        site = self._trees.find_call(module, start, end)
        if site is not None:
            return self._call_site(site)
        match = _LAST_NAME.search(module.text, max(start, end - MAX_NAME), end)
        site = self._trees.find_call(module, start, match.start()) if match else None
        if match is not None and site is not None:
            return self._ask(q.ATTRIBUTES, self._call_site(site), scope.mangle(read_name(match.group(1))))
        tree = self._trees.parse(module, start, end)
        return self.visit(scope, tree, start) if tree is not None else unknown(Reason.EXPRESSION)

    def _is_too_deep(self) -> bool:
        return self._solver.depth - self._solver.floor > MAX_NESTING

    def evaluate_text(self, scope: Scope, text: str) -> Values:
        """Give the values of an expression that is known by its text alone: a decorator."""
        data = text.encode("utf-8", "replace")
        if DOTTED.match(data):
            return self.follow(scope, data)
        tree = parse_expression(data)
        return self.visit(scope, tree, NOWHERE) if tree is not None else unknown(Reason.EXPRESSION)

    def follow(self, scope: Scope, text: bytes, at: int | None = None) -> Values:
        """Give the values of a dotted name; `at` is where it stands, if that is known."""
        parts = self._dotted.get(text)
        if parts is None:
            parts = tuple(part.strip() for part in read_name(text).split("."))
            self._dotted[text] = parts
        if len(parts) - 1 > MAX_STEPS:
            return unknown(Reason.EXPRESSION)
        first = parts[0]
        values = _CONSTANTS[first] if first in _CONSTANTS else self._ask(q.NAME, scope, first, at)
        is_followed = at is not None and (scope.runner.stored or scope.module.tested_attributes)
        for number, name in enumerate(parts[1:], 2):
            values = self._ask(q.ATTRIBUTES, values, scope.mangle(name) if name[:2] == "__" else name)
            if is_followed and at is not None and is_told(scope, name):
                values = self._ask(q.REFINED, scope, ".".join(parts[:number]), at, values)
        return values

    def _call_site(self, site: Site) -> Values:
        found = self._call_all(self.evaluate(site.scope, site.start, site.end), self._context.give(site.scope, site))
        if site.scope.module.text.endswith(_FORMAT, site.start, site.end):
            return found | fill_braces(self._context.list_values(site.scope, site.start, site.end - len(_FORMAT)))
        return found

    def _call_all(self, callees: Values, arguments: Arguments) -> Values:
        """Give what calling one of several values gives back."""
        found: set[Value] = set()
        for callee in callees:
            if callee[0] == LIBRARY:
                found |= self._ask(q.LIBRARY_CALL, callee[1], arguments)
            elif callee[0] == METHOD and callee[1] is None:
                found |= self._ask(q.CONTAINER_CALL, callee, arguments)
            else:
                found |= self._ask(q.CALL, callee)
                if callee[0] == MANY:
                    found |= self._call_all(
                        self._solver.get(q.OUTSIDE_OF_MANY, self._solver.name(callee[1])), arguments
                    )
        return frozenset(found)

    def visit(self, scope: Scope, node: ast.expr, at: int) -> Values:
        """Give the values of a parsed expression; `at` is where its text stands, to find lambdas and containers."""
        self._solver.depth += 1
        try:
            visit = _VISITS.get(type(node))
            if visit is None or self._is_too_deep():
                return unknown(Reason.EXPRESSION)
            return visit(self, scope, node, at)
        finally:
            self._solver.depth -= 1

    def _visit_name(self, scope: Scope, node: ast.Name, at: int) -> Values:
        place = None if at == NOWHERE else locate(node, scope.module.text, at)[0]
        return self._ask(q.NAME, scope, node.id, place)

    def _visit_attribute(self, scope: Scope, node: ast.Attribute, at: int) -> Values:
        values = self._ask(q.ATTRIBUTES, self.visit(scope, node.value, at), scope.mangle(node.attr))
        return self._refine(scope, node, at, values) if is_told(scope, node.attr) else values

    def _refine(self, scope: Scope, node: ast.Attribute, at: int, values: Values) -> Values:
        """Give what is known of an attribute where it stands."""
        place = spell(node) if at != NOWHERE else None
        if place is None:
            return values
        return self._ask(q.REFINED, scope, place, locate(node, scope.module.text, at)[0], values)

    def _visit_constant(self, scope: Scope, node: ast.Constant, at: int) -> Values:
        if node.value is None or node.value is Ellipsis:
            return EMPTY
        if isinstance(node.value, bool):
            return _CONSTANTS[str(node.value)]
        if isinstance(node.value, str | int):
            return frozenset({(CONSTANT, node.value)})
        return frozenset({library(f"builtins.{type(node.value).__name__}()")})

    def _visit_text(self, scope: Scope, node: ast.JoinedStr, at: int) -> Values:
        found: Values | None = None
        for before, part in zip((None, *node.values), node.values, strict=False):
            values = self._visit_part(scope, part, at)
            is_literal = isinstance(part, ast.Constant) or (
                before is node.values[0] and isinstance(before, ast.Constant)
            )
            found = values if found is None else join_parts(found, values, is_literal)
        return ANY_TEXT | (found or EMPTY)

    def _visit_part(self, scope: Scope, part: ast.expr, at: int) -> Values:
        """Give what a text may have in one of its places: what is formatted otherwise than as it is, is not known."""
        if not isinstance(part, ast.FormattedValue):
            return self.visit(scope, part, at)
        is_plain = part.conversion == _AS_IT_IS and part.format_spec is None
        values = self._solver.spread(self.visit(scope, part.value, at)) if is_plain else EMPTY
        return frozenset(value for value in values if value[0] in (CONSTANT, TEXT)) | ANY_TEXT

    def _visit_truth(self, scope: Scope, node: ast.expr, at: int) -> Values:
        return frozenset({(LIBRARY, "builtins.bool()")})

    def _visit_comparison(self, scope: Scope, node: ast.Compare, at: int) -> Values:
        operation = PARSED.get(type(node.ops[0]))
        if len(node.ops) > 1 or operation is None:
            return self._visit_truth(scope, node, at)
        return self._ask(q.COMPARED, *self._visit_sides(scope, node.left, node.comparators[0], at), operation)

    def _visit_unary(self, scope: Scope, node: ast.UnaryOp, at: int) -> Values:
        name = UNARY.get(type(node.op))
        if name is None:
            return self._visit_truth(scope, node, at)
        return self._ask(q.SIGNED, self.visit(scope, node.operand, at), name)

    def _visit_sides(self, scope: Scope, left: ast.expr, right: ast.expr, at: int) -> tuple[Values, Values]:
        return self.visit(scope, left, at), self.visit(scope, right, at)

    def _visit_either(self, scope: Scope, node: ast.BoolOp | ast.IfExp, at: int) -> Values:
        parts = node.values if isinstance(node, ast.BoolOp) else [node.body, node.orelse]
        return join([self.visit(scope, part, at) for part in parts])

    def _visit_inner(self, scope: Scope, node: ast.NamedExpr | ast.Starred, at: int) -> Values:
        return self.visit(scope, node.value, at)

    def _visit_await(self, scope: Scope, node: ast.Await, at: int) -> Values:
        """Give what is awaited: of a coroutine, what its function gives back; of an object, that is not followed."""
        values = self.visit(scope, node.value, at)
        callees = self.visit(scope, node.value.func, at) if isinstance(node.value, ast.Call) else EMPTY
        if any(map(_is_async, self._solver.spread(callees))):
            return values
        values = self._solver.spread(values)
        answering = {
            each for each in values if each[0] in OBJECTS and self._hierarchy.find_first(each[1], ("__await__",))
        }
        return values - answering | unknown(Reason.RESULT) if answering else values

    def derive_awaited(self, scope: Scope, start: int, end: int) -> Values:
        """Give the values of an expression that is awaited; nothing for a call that gives a coroutine."""
        site = self._trees.find_call(scope.module, start, end)
        if site is not None and any(map(_is_async, self._context.list_values(scope, site.start, site.end))):
            return EMPTY
        return self._context.list_values(scope, start, end)

    def _visit_lambda(self, scope: Scope, node: ast.Lambda, at: int) -> Values:
        module = scope.module
        found = module.lambdas.get(locate(node.body, module.text, at)[0])
        return frozenset({(FUNCTION, found)}) if found is not None else unknown(Reason.EXPRESSION)

    def _visit_container(self, scope: Scope, node: ast.expr, at: int) -> Values:
        if isinstance(node, _COMPREHENSIONS):
            start, end = locate(node, scope.module.text, at)
            inner = scope.module.comprehensions
            scope = inner.get((start, end)) or inner.get((start - 1, end + 1)) or scope
        name = (scope.module.path, at, node.lineno, node.col_offset)
        return self._containers.note(name, Written(scope, at, node))

    def _visit_operation(self, scope: Scope, node: ast.BinOp, at: int) -> Values:
        left, right = self._visit_sides(scope, node.left, node.right, at)
        found = self._ask(q.OPERATED, left, right, PARSED[type(node.op)])
        if isinstance(node.op, ast.Add | ast.Mod):
            left, right = self._solver.spread(left), self._solver.spread(right)
        if isinstance(node.op, ast.Add):
            return found | join_texts(
                left, right, isinstance(node.left, ast.Constant) or isinstance(node.right, ast.Constant)
            )
        return found | fill_percent(left) if isinstance(node.op, ast.Mod) else found

    def augment(self, scope: Scope, at: int, start: int, end: int) -> Values:
        """Give what an assignment with an operator makes of its target, which begins at a position, by a value."""
        text = scope.module.text[at:start].rstrip(b" \t\r\n\\(")
        sign = next((sign for sign in _AUGMENTING if text.endswith(sign)), b"")
        left = self.evaluate(scope, at, at + len(text.removesuffix(sign).rstrip(b" \t\r\n\\")))
        if not sign:
            return left
        right = self.evaluate(scope, start, end)
        found = self._ask(q.OPERATED, left, right, OPERATIONS[sign])
        if sign != b"+=":
            return found
        return found | join_texts(self._solver.spread(left), self._solver.spread(right), is_literal=False)

    def _visit_item(self, scope: Scope, node: ast.Subscript, at: int) -> Values:
        values = self.visit(scope, node.value, at)
        if not isinstance(node.slice, ast.Slice):
            found = self._ask(q.TAKEN_UNDER, values, self.visit(scope, node.slice, at))
            is_followed = at != NOWHERE and isinstance(node.slice, ast.Constant)
            place = spell(node) if is_followed and (scope.module.item_stores or scope.module.tested) else None
            return found if place is None else self._refine_item(scope, node, at, place, values, found)
        lower = node.slice.lower
        start = lower.value if isinstance(lower, ast.Constant) and isinstance(lower.value, int) else 0
        return self._containers.slice_all(values, start)

    def _refine_item(
        self, scope: Scope, node: ast.Subscript, at: int, place: str, containers: Values, values: Values
    ) -> Values:
        """Give what is known of an item where it stands: what was stored last, and what is written out there."""
        position = locate(node, scope.module.text, at)[0]
        stored = self._ask(q.STORED_LAST, scope, place, position)
        if stored is not None:
            keys = self._solver.spread(self.visit(scope, node.slice, at))
            names = [each[1] for each in self._solver.spread(containers) if each[0] == CONTAINER]
            values = stored.union(*(self._solver.hand(q.WRITTEN_ITEM, name, key) for name in names for key in keys))
        return self._ask(q.STILL_PASSING, scope, place, position, values)

    def _visit_call(self, scope: Scope, node: ast.Call, at: int) -> Values:
        arguments = self._context.give(scope, node, at)
        found = self._call_all(self.visit(scope, node.func, at), arguments)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            return found | fill_braces(self._solver.spread(self.visit(scope, node.func.value, at)))
        return found


def _is_async(callee: Value) -> bool:
    """Tell whether calling a value gives a coroutine."""
    function: Scope | None = target_of(callee)
    return function is not None and function.module.text.startswith(b"async", function.head[0])


_VISITS: dict[type[ast.expr], Callable[..., Values]] = {
    ast.Name: Expressions._visit_name,
    ast.Attribute: Expressions._visit_attribute,
    ast.Constant: Expressions._visit_constant,
    ast.JoinedStr: Expressions._visit_text,
    ast.Compare: Expressions._visit_comparison,
    ast.UnaryOp: Expressions._visit_unary,
    ast.BoolOp: Expressions._visit_either,
    ast.IfExp: Expressions._visit_either,
    ast.Await: Expressions._visit_await,
    ast.NamedExpr: Expressions._visit_inner,
    ast.Starred: Expressions._visit_inner,
    ast.Lambda: Expressions._visit_lambda,
    ast.BinOp: Expressions._visit_operation,
    ast.Subscript: Expressions._visit_item,
    ast.Call: Expressions._visit_call,
    **dict.fromkeys((ast.List, ast.Tuple, ast.Set, ast.Dict, *_COMPREHENSIONS), Expressions._visit_container),
}
