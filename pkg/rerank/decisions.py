"""Decide on plain data what an expression comes to: see pkg.rerank.conditions for what of it was asked for.

What an object says about itself where the candidates run, as by an `__eq__` that is always true, counts for nothing
here. A value that is no plain data equals none; what else is to be done with it is undecided.
"""

from __future__ import annotations

import ast
import builtins
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pkg.rerank.candidates import Check
from pkg.rerank.conditions import CLOSE, TYPES, Scope, Split, list_children, list_parts, write_rows
from pkg.rerank.examples.literals import evaluate, is_value
from pkg.rerank.forms import equal_numbers, equal_values
from pkg.sandbox.claims import MalformedError, clean_line, parse_value
from pkg.sandbox.values import WIDEST_INT, make_value, render_value

MOST_STEPS = 200_000  # of one decision, a few seconds at most; each part of a value that is looked at is one
SIGNS_A_STEP = 1000  # of a text that is looked at
MOST_HASHED = 20_000  # characters of a value with sets or dicts, whose keys can be chosen to be slow to put together
TOO_LARGE = "the value is too large to be looked at outside"
MOST_REPEATED = 100_000  # items of a text or a group times a number
MOST_DIGITS = 300  # that a number is rounded to

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_ORDERS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}

ANY = (Check.VALUE, Check.TRUTH)
VALUES = (Check.VALUE,)  # the object does not know which value is right; a truth it would guess


class UndecidedError(Exception):
    """Say why something cannot be decided outside; asks: what the candidate's own objects may be asked for instead."""

    def __init__(self, message: str, asks: Sequence[Check] = ()) -> None:
        super().__init__(message)
        self.asks = asks


class FailedError(Exception):
    """Say that an expression fails on the values that were given, as it would in Python."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value that is no plain data, or more than was sent."""

    kind: str  # the name of its class; "" for one that was too long


@dataclass(frozen=True, slots=True)
class Decision:
    """What an expression comes to."""

    value: object
    is_true: bool
    is_weak: bool  # it stands on an object that is no plain data, of which no more is known than that it is there


def decide(split: Split, text: str) -> Decision:
    """Put an expression together from the value that was asked for.

    UndecidedError where that takes more than plain data; FailedError where the expression fails on it.
    """
    try:
        tree = parse_value(text)
        if len(text) > MOST_HASHED and ('{"set":' in text or '{"dict":' in text):
            raise UndecidedError(TOO_LARGE, ANY)
        value = _decode(tree)
        evaluation = _Evaluation(_name_parts(split, value), Scope(split.entry, split.bound), split.names)
        if not split.is_whole:
            value = evaluation.compute(split.body)
        return Decision(value, evaluation.is_true(value), evaluation.is_weak)
    except (MalformedError, RecursionError, MemoryError, OverflowError) as fault:
        raise UndecidedError(f"the value cannot be looked at outside: {type(fault).__name__}") from None
    except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as fault:
        raise FailedError(clean_line(f"{type(fault).__name__}: {fault}")) from None


def show_value(text: str) -> str:
    """Write a value that crossed the border as Python writes it; one that is no plain data stays as it was sent."""
    try:
        value = _decode(parse_value(text))
        return text if _holds_opaque(value) else repr(value)
    except (MalformedError, ValueError, ArithmeticError, RecursionError, MemoryError, TypeError):
        return text


def _holds_opaque(value: object) -> bool:
    if isinstance(value, dict):
        return any(_holds_opaque(each) for pair in value.items() for each in pair)
    if isinstance(value, list | tuple | set | frozenset):
        return any(map(_holds_opaque, value))
    return isinstance(value, Opaque)


def _name_parts(split: Split, value: object) -> dict[str, object]:
    """Give each part its value."""
    if len(split.parts) == 1:
        return {split.parts[0]: value}
    if isinstance(value, Opaque) and not value.kind:
        raise UndecidedError(TOO_LARGE, ANY)
    return _name_items(split.parts, value) if split.parts else {}


def _name_items(parts: Sequence[str], value: object) -> dict[str, object]:
    if not isinstance(value, tuple) or len(value) != len(parts):
        raise FailedError("the value is not what was asked for")
    return dict(zip(parts, value, strict=True))


def _decode(tree: Any, is_key: bool = False) -> Any:
    """Turn a checked tree into plain data of Python; is_key: it must be hashable, as an item of a set is."""
    if isinstance(tree, list):
        return [_decode(each, is_key) for each in tree]
    if not isinstance(tree, dict):
        return tree
    ((kind, content),) = tree.items()
    if kind in ("tuple", "iterator"):
        items = [_decode(each, is_key) for each in content]
        return tuple(items) if kind == "tuple" else items
    if kind == "set":
        return (frozenset if is_key else set)(_decode(each, True) for each in content)
    if kind == "dict":
        return {_decode(key, True): _decode(each) for key, each in content}
    if kind == "bytes":
        return content.encode("latin-1")
    if kind == "int":
        return int(content, 16)
    if kind == "complex":
        return complex(*content)
    if kind == "made":
        name, told = content
        return make_value("PurePosixPath" if name == "PosixPath" else name, told)  # looks at no file of this machine
    return Opaque(content[0] if kind == "repr" else "")


@dataclass(frozen=True, slots=True)
class _Rows:
    """A comprehension: what is asked for in each of its rows."""

    node: ast.ListComp | ast.SetComp | ast.GeneratorExp
    scope: Scope
    parts: tuple[str, ...]
    text: str  # of the comprehension that asks for it


Plan: TypeAlias = "Callable[[_Evaluation], Any]"


@dataclass(slots=True)
class _Evaluation:
    """Computes an expression whose parts have values."""

    values: Mapping[str, object]
    scope: Scope
    names: frozenset[str]
    plans: dict[int, Plan] = field(default_factory=dict)  # by the node that is computed
    is_weak: bool = False
    steps: int = 0

    def is_true(self, value: object) -> bool:
        """Tell the truth of a value: an object is true, as it is in Python when it says nothing else of itself."""
        if isinstance(value, Opaque):
            self.is_weak = True
            return True
        return bool(value)

    def compute(self, node: Any) -> Any:
        """Give the value of an expression; UndecidedError and FailedError as `decide` raises them."""
        self._spend(1)
        plan = self.plans.get(id(node))
        if plan is None:
            plan = self.plans[id(node)] = self._make_plan(node)
        return plan(self)

    def _make_plan(self, node: Any) -> Plan:
        """Choose how an expression is computed, once for all rows of a comprehension that it stands in."""
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
            inner = self.scope.add_targets(node)
            rows = _Rows(node, inner, tuple(dict.fromkeys(list_parts(node.elt, inner))), write_rows(node, self.scope))
            return lambda evaluation: evaluation._compute_rows(rows)
        if list_children(node, self.scope) is None:
            text = ast.unparse(node)
            return lambda evaluation: evaluation.values[text]
        if is_value(node, self.scope.own):
            value = evaluate(node, self.scope.own)
            return lambda _: value
        compute: Callable[[_Evaluation, Any], Any] = getattr(_Evaluation, f"_compute_{type(node).__name__.lower()}")
        return lambda evaluation: compute(evaluation, node)

    def _compute_rows(self, rows: _Rows) -> Any:
        given = self.values[rows.text]
        if isinstance(given, Opaque):
            raise self._refuse(given)
        if not isinstance(given, list):
            raise FailedError("the value is not what was asked for")
        found = [self._compute_row(rows, row) for row in given]
        return self._make_set(found) if isinstance(rows.node, ast.SetComp) else found

    def _compute_row(self, rows: _Rows, row: object) -> Any:
        values = {rows.parts[0]: row} if len(rows.parts) == 1 else _name_items(rows.parts, row)
        inner = _Evaluation(values, rows.scope, self.names, self.plans, steps=self.steps)
        value = inner.compute(rows.node.elt)
        self.steps, self.is_weak = inner.steps, self.is_weak or inner.is_weak
        return value

    def _compute_name(self, node: ast.Name) -> Any:
        return TYPES[node.id]

    def _compute_list(self, node: ast.List) -> Any:
        return [self.compute(each) for each in node.elts]

    def _compute_tuple(self, node: ast.Tuple) -> Any:
        return tuple([self.compute(each) for each in node.elts])

    def _compute_set(self, node: ast.Set) -> Any:
        return self._make_set([self.compute(each) for each in node.elts])

    def _make_set(self, items: list[Any]) -> set[Any]:
        self._refuse_opaque(items)  # which of them are equal only they could tell
        return set(items)

    def _compute_ifexp(self, node: ast.IfExp) -> Any:
        return self.compute(node.body if self.is_true(self.compute(node.test)) else node.orelse)

    def _compute_boolop(self, node: ast.BoolOp) -> Any:
        value: Any = None
        for each in node.values:
            value = self.compute(each)
            if self.is_true(value) is isinstance(node.op, ast.Or):
                break
        return value

    def _compute_unaryop(self, node: ast.UnaryOp) -> Any:
        value = self.compute(node.operand)
        if isinstance(node.op, ast.Not):
            return not self.is_true(value)
        self._refuse_opaque(value)
        return -value if isinstance(node.op, ast.USub) else +value

    def _compute_binop(self, node: ast.BinOp) -> Any:
        """Compute; what could grow without bound is undecided."""
        left, right = self.compute(node.left), self.compute(node.right)
        self._refuse_opaque(left, right)
        if isinstance(node.op, ast.Pow):
            return _raise_power(left, right)
        if isinstance(node.op, ast.Mod) and isinstance(left, str | bytes):
            raise UndecidedError("a text that is filled in")
        if isinstance(node.op, ast.Mult) and _count_repeated(left, right) > MOST_REPEATED:
            raise UndecidedError("a group that is repeated too often")
        return _bound(_OPERATORS[type(node.op)](left, right))

    def _compute_subscript(self, node: ast.Subscript) -> Any:
        value = self.compute(node.value)
        if isinstance(value, Opaque):
            raise self._refuse(value)
        place = self.compute(node.slice)
        if isinstance(value, dict) and place not in value:
            raise UndecidedError("a key that is not there, which a dict may have an answer to", VALUES)
        return value[place]

    def _compute_slice(self, node: ast.Slice) -> slice:
        return slice(*(each and self.compute(each) for each in (node.lower, node.upper, node.step)))

    def _compute_compare(self, node: ast.Compare) -> bool:
        left = self.compute(node.left)
        for operation, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.compute(comparator)
            if not self._compare(operation, left, right):
                return False
            left = right
        return True

    def _compare(self, operation: ast.cmpop, left: Any, right: Any) -> bool:
        if isinstance(operation, ast.Is | ast.IsNot):
            return self._is_same(left, right) is isinstance(operation, ast.Is)
        if isinstance(operation, ast.Eq):
            return self._are_equal(left, right)
        if isinstance(operation, ast.In | ast.NotIn):
            return self._is_in(left, right, isinstance(operation, ast.NotIn)) is isinstance(operation, ast.In)
        self._refuse_opaque(left, right)
        if isinstance(operation, ast.NotEq):
            return not self._are_equal(left, right)
        return bool(_ORDERS[type(operation)](left, right))

    def _is_same(self, left: object, right: object) -> bool:
        """Tell whether two values are one object, which only for None, truths and types means something outside."""
        if isinstance(left, type) or isinstance(right, type):
            return left is right
        self.is_weak = self.is_weak or isinstance(left, Opaque) or isinstance(right, Opaque)
        for one, other in ((left, right), (right, left)):
            if other is None or isinstance(other, bool):
                return type(one) is type(other) and one == other
        return self._are_equal(left, right)

    def _are_equal(self, left: object, right: object) -> bool:
        """Compare two values; an object that is no plain data equals nothing that is."""
        if isinstance(left, type) or isinstance(right, type):
            return left is right
        one, other = self._find_opaque(left), self._find_opaque(right)
        if one is not None and other is not None:
            raise self._refuse(one)
        if one is not None or other is not None:
            return False
        if isinstance(left, int | float) and isinstance(right, int | float):
            return equal_numbers(left, right)
        if isinstance(left, str) and isinstance(right, str):
            return left == right
        return equal_values(render_value(left, 1 << 20), render_value(right, 1 << 20))

    def _is_in(self, item: Any, group: Any, is_denied: bool) -> bool:
        if isinstance(group, Opaque):
            raise self._refuse(group)
        if is_denied:
            self._refuse_opaque(item, group)
        if isinstance(group, str | bytes):
            return not isinstance(item, Opaque) and item in group
        self._spend(len(group))
        return any(self._are_equal(item, each) for each in group)

    def _compute_call(self, node: ast.Call) -> Any:
        keywords = {each.arg: self.compute(each.value) for each in node.keywords}
        given = [self.compute(each) for each in node.args]
        if isinstance(node.func, ast.Name):
            return self._call_function(node.func.id, given, keywords)
        assert isinstance(node.func, ast.Attribute)
        if node.func.attr in CLOSE:
            return self._call_function(node.func.attr, given, keywords)
        receiver = self.compute(node.func.value)
        self._refuse_opaque(receiver, given)
        if isinstance(receiver, type) or keywords:
            raise UndecidedError("a method of a class")
        return getattr(receiver, node.func.attr)(*given)

    def _call_function(self, name: str, given: list[Any], keywords: dict[str | None, Any]) -> Any:
        """Call one of the functions that are known here."""
        if name == "isinstance":
            return self._is_instance(*given)
        if name == "bool":
            return bool(given) and self.is_true(*given)
        if name in ("all", "any", "len"):
            (group,) = given
            if isinstance(group, Opaque):
                raise self._refuse(group)
            return len(group) if name == "len" else (all if name == "all" else any)(map(self.is_true, group))
        self._refuse_opaque(*given)
        if name in CLOSE:
            return _are_close(given, *_find_tolerances(name, keywords))
        if name == "type":
            (value,) = given
            return type(value)
        if name == "round" and len(given) == 2 and not -MOST_DIGITS <= given[1] <= MOST_DIGITS:
            raise UndecidedError("a number rounded to too many digits")
        call: Callable[..., Any] = getattr(builtins, name)
        return call(*given, **{str(word): value for word, value in keywords.items()})

    def _is_instance(self, value: object, kinds: Any) -> bool:
        if self._find_opaque(kinds) is not None:
            raise UndecidedError("a class of the candidate's", ANY)
        return not isinstance(value, Opaque) and isinstance(value, kinds)

    def _find_opaque(self, value: object) -> Opaque | None:
        """Find an object that is no plain data in a value; each look takes as many steps as the value has parts."""
        if isinstance(value, Opaque):
            return value
        if isinstance(value, dict):
            value = [*value, *value.values()]
        if isinstance(value, list | tuple | set | frozenset):
            self._spend(len(value))
            return next((found for each in value if (found := self._find_opaque(each)) is not None), None)
        self._spend(len(value) // SIGNS_A_STEP if isinstance(value, str | bytes) else 0)
        return None

    def _spend(self, steps: int) -> None:
        self.steps += steps
        if self.steps > MOST_STEPS:
            raise UndecidedError("it takes too long to decide outside")

    def _refuse_opaque(self, *values: object) -> None:
        found = self._find_opaque(values)
        if found is not None:
            raise self._refuse(found)

    def _refuse(self, found: Opaque) -> UndecidedError:
        """Say that an object is in the way; it may be asked itself where the expression speaks of its class.

        Classes have capital letters: else what a function f gives back could claim to be of a class f.
        """
        if not found.kind:
            return UndecidedError(TOO_LARGE, ANY)
        is_named = found.kind in self.names and found.kind[0].isupper() and not hasattr(builtins, found.kind)
        return UndecidedError(
            f"an object of the class {clean_line(found.kind)} is no plain data", ANY if is_named else ()
        )


def _count_repeated(left: Any, right: Any) -> int:
    """Count the items of a text or a group times a number; 0 for a product of numbers."""
    for group, number in ((left, right), (right, left)):
        if isinstance(group, str | bytes | list | tuple) and isinstance(number, int):
            return len(group) * number
    return 0


def _raise_power(base: Any, exponent: Any) -> Any:
    if isinstance(base, int) and isinstance(exponent, int) and base.bit_length() * abs(exponent) > WIDEST_INT:
        raise UndecidedError("a number of too many digits")
    return _bound(base**exponent)


def _bound(value: Any) -> Any:
    if isinstance(value, int) and value.bit_length() > 2 * WIDEST_INT:
        raise UndecidedError("a number of too many digits")
    return value


def _find_tolerances(name: str, keywords: Mapping[str | None, Any]) -> tuple[Any, Any]:
    relative, absolute = CLOSE[name]
    return keywords.get("rel_tol", keywords.get("rtol", relative)), keywords.get(
        "abs_tol", keywords.get("atol", absolute)
    )


def _are_close(given: Sequence[Any], relative: Any, absolute: Any) -> bool:
    """Compare as math.isclose does, and item by item as numpy.allclose does."""
    left, right = given
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        pairs = zip(left, right, strict=False)
        return len(left) == len(right) and all(_are_close(pair, relative, absolute) for pair in pairs)
    return math.isclose(left, right, rel_tol=relative, abs_tol=absolute)
