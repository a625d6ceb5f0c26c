"""Evaluate expressions on plain data outside the sandbox; pkg.rerank.conditions selects the parts to request.

Methods of the candidate's objects, such as an `__eq__` that is always true, have no effect here. A value that is not
plain data equals no plain data; other operations on it are undecided.
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
from pkg.rerank.conditions import CLOSE, TYPES, Scope, SplitExpression, list_children, list_parts, write_rows
from pkg.rerank.examples.literals import evaluate, is_value
from pkg.rerank.value_equality import equal_numbers, equal_values
from pkg.sandbox.claims import MalformedError, clean_line, parse_value
from pkg.sandbox.values import MAX_INT_BITS, make_value, render_value

MAX_STEPS = 200_000  # of one evaluation, a few seconds at most; each visited part of a value is one
CHARACTERS_PER_STEP = 1000
MAX_HASHED = 20_000  # characters of a value with sets or dicts, whose keys can be chosen to collide
TOO_LARGE = "the value is too large to be evaluated outside the sandbox"
MAX_REPEATED = 100_000  # items of a text or sequence times a number
MAX_DIGITS = 300  # of rounding

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
VALUES = (Check.VALUE,)  # an object cannot know the expected value, but it could guess a truth


class UndecidedError(Exception):
    """Raised for an expression that cannot be evaluated outside; delegable: checks that the candidate may evaluate."""

    def __init__(self, message: str, delegable: Sequence[Check] = ()) -> None:
        super().__init__(message)
        self.delegable = delegable


class FailedError(Exception):
    """Raised for an expression that fails on the values, as it would in Python."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value that is not plain data, or was too long to be sent."""

    kind: str  # name of its class; "" for a value that was too long


@dataclass(frozen=True, slots=True)
class Decision:
    """Value of an expression."""

    value: object
    is_true: bool
    is_weak: bool  # it depends on the mere existence of an object that is not plain data


def decide(split: SplitExpression, text: str) -> Decision:
    """Evaluate an expression from the rendered value of its requested parts.

    Raises an UndecidedError if that needs more than plain data, and a FailedError if the expression fails.
    """
    try:
        tree = parse_value(text)
        if len(text) > MAX_HASHED and ('{"set":' in text or '{"dict":' in text):
            raise UndecidedError(TOO_LARGE, ANY)
        value = _decode(tree)
        evaluation = _Evaluation(_name_parts(split, value), Scope(split.entry, split.bound), split.names)
        if not split.is_whole:
            value = evaluation.compute(split.body)
        return Decision(value, evaluation.is_true(value), evaluation.is_weak)
    except (MalformedError, RecursionError, MemoryError, OverflowError) as fault:
        raise UndecidedError(f"the value cannot be evaluated outside the sandbox: {type(fault).__name__}") from None
    except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as fault:
        raise FailedError(clean_line(f"{type(fault).__name__}: {fault}")) from None


def show_value(text: str) -> str:
    """Return the repr of a rendered value; a value that is not plain data stays as it was sent."""
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


def _name_parts(split: SplitExpression, value: object) -> dict[str, object]:
    """Return the values of the parts by their source."""
    if len(split.parts) == 1:
        return {split.parts[0]: value}
    if isinstance(value, Opaque) and not value.kind:
        raise UndecidedError(TOO_LARGE, ANY)
    return _name_items(split.parts, value) if split.parts else {}


def _name_items(parts: Sequence[str], value: object) -> dict[str, object]:
    if not isinstance(value, tuple) or len(value) != len(parts):
        raise FailedError("the value does not have the requested parts")
    return dict(zip(parts, value, strict=True))


def _decode(tree: Any, is_key: bool = False) -> Any:
    """Convert a checked JSON tree to plain Python data; is_key: the result must be hashable."""
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
        name, text = content
        return make_value("PurePosixPath" if name == "PosixPath" else name, text)  # cannot access files
    return Opaque(content[0] if kind == "repr" else "")


@dataclass(frozen=True, slots=True)
class _Rows:
    """A comprehension and the parts of each of its rows that the candidate evaluates."""

    node: ast.ListComp | ast.SetComp | ast.GeneratorExp
    scope: Scope
    parts: tuple[str, ...]
    text: str  # source of the requested comprehension


Plan: TypeAlias = "Callable[[_Evaluation], Any]"


@dataclass(slots=True)
class _Evaluation:
    """Evaluates an expression, given the values of its parts."""

    values: Mapping[str, object]
    scope: Scope
    names: frozenset[str]
    plans: dict[int, Plan] = field(default_factory=dict)  # by id of the node
    is_weak: bool = False
    steps: int = 0

    def is_true(self, value: object) -> bool:
        """Return the truth of a value; an object is true, as is the default in Python."""
        if isinstance(value, Opaque):
            self.is_weak = True
            return True
        return bool(value)

    def compute(self, node: Any) -> Any:
        """Return the value of an expression; raises the errors of `decide`."""
        self._spend(1)
        plan = self.plans.get(id(node))
        if plan is None:
            plan = self.plans[id(node)] = self._make_plan(node)
        return plan(self)

    def _make_plan(self, node: Any) -> Plan:
        """Choose how to compute an expression, once for all rows of the enclosing comprehension."""
        if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
            inner = self.scope.add_targets(node)
            rows = _Rows(node, inner, tuple(dict.fromkeys(list_parts(node.elt, inner))), write_rows(node, self.scope))
            return lambda evaluation: evaluation._compute_rows(rows)
        if list_children(node, self.scope) is None:
            text = ast.unparse(node)
            return lambda evaluation: evaluation.values[text]
        if is_value(node, self.scope.candidate_names):
            value = evaluate(node, self.scope.candidate_names)
            return lambda _: value
        compute: Callable[[_Evaluation, Any], Any] = getattr(_Evaluation, f"_compute_{type(node).__name__.lower()}")
        return lambda evaluation: compute(evaluation, node)

    def _compute_rows(self, rows: _Rows) -> Any:
        given = self.values[rows.text]
        if isinstance(given, Opaque):
            raise self._refuse(given)
        if not isinstance(given, list):
            raise FailedError("the value does not have the requested rows")
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
        self._refuse_opaque(items)  # their equality is unknown
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
        """Compute an operation; one whose result may be huge is undecided."""
        left, right = self.compute(node.left), self.compute(node.right)
        self._refuse_opaque(left, right)
        if isinstance(node.op, ast.Pow):
            return _raise_power(left, right)
        if isinstance(node.op, ast.Mod) and isinstance(left, str | bytes):
            raise UndecidedError("a formatted text")
        if isinstance(node.op, ast.Mult) and _count_repeated(left, right) > MAX_REPEATED:
            raise UndecidedError("a sequence that is repeated too often")
        return _bound(_OPERATORS[type(node.op)](left, right))

    def _compute_subscript(self, node: ast.Subscript) -> Any:
        value = self.compute(node.value)
        if isinstance(value, Opaque):
            raise self._refuse(value)
        key = self.compute(node.slice)
        if isinstance(value, dict) and key not in value:
            raise UndecidedError("a missing key, for which a dict may have a default", VALUES)
        return value[key]

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
        """Return whether two values are one object; outside the sandbox this is exact for None, truths and types."""
        if isinstance(left, type) or isinstance(right, type):
            return left is right
        self.is_weak = self.is_weak or isinstance(left, Opaque) or isinstance(right, Opaque)
        for one, other in ((left, right), (right, left)):
            if other is None or isinstance(other, bool):
                return type(one) is type(other) and one == other
        return self._are_equal(left, right)

    def _are_equal(self, left: object, right: object) -> bool:
        """Return whether two values are equal; an object that is not plain data equals no plain data."""
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
        """Call one of the supported functions."""
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
        if name == "round" and len(given) == 2 and not -MAX_DIGITS <= given[1] <= MAX_DIGITS:
            raise UndecidedError("a number rounded to too many digits")
        call: Callable[..., Any] = getattr(builtins, name)
        return call(*given, **{str(word): value for word, value in keywords.items()})

    def _is_instance(self, value: object, kinds: Any) -> bool:
        if self._find_opaque(kinds) is not None:
            raise UndecidedError("a class of the candidate's", ANY)
        return not isinstance(value, Opaque) and isinstance(value, kinds)

    def _find_opaque(self, value: object) -> Opaque | None:
        """Find an object that is not plain data in a value; takes one step for each part of the value."""
        if isinstance(value, Opaque):
            return value
        if isinstance(value, dict):
            value = [*value, *value.values()]
        if isinstance(value, list | tuple | set | frozenset):
            self._spend(len(value))
            return next((found for each in value if (found := self._find_opaque(each)) is not None), None)
        self._spend(len(value) // CHARACTERS_PER_STEP if isinstance(value, str | bytes) else 0)
        return None

    def _spend(self, steps: int) -> None:
        self.steps += steps
        if self.steps > MAX_STEPS:
            raise UndecidedError("the evaluation takes too many steps")

    def _refuse_opaque(self, *values: object) -> None:
        found = self._find_opaque(values)
        if found is not None:
            raise self._refuse(found)

    def _refuse(self, found: Opaque) -> UndecidedError:
        """Return the error for an object; the candidate may evaluate it if the expression names its class.

        The name must be capitalised: otherwise the result of a function f could claim to be of a class f.
        """
        if not found.kind:
            return UndecidedError(TOO_LARGE, ANY)
        is_named = found.kind in self.names and found.kind[0].isupper() and not hasattr(builtins, found.kind)
        return UndecidedError(
            f"an object of the class {clean_line(found.kind)} is not plain data", ANY if is_named else ()
        )


def _count_repeated(left: Any, right: Any) -> int:
    """Return the length of a text or sequence times a number; 0 for a product of numbers."""
    for sequence, number in ((left, right), (right, left)):
        if isinstance(sequence, str | bytes | list | tuple) and isinstance(number, int):
            return len(sequence) * number
    return 0


def _raise_power(base: Any, exponent: Any) -> Any:
    if isinstance(base, int) and isinstance(exponent, int) and base.bit_length() * abs(exponent) > MAX_INT_BITS:
        raise UndecidedError("a number of too many digits")
    return _bound(base**exponent)


def _bound(value: Any) -> Any:
    if isinstance(value, int) and value.bit_length() > 2 * MAX_INT_BITS:
        raise UndecidedError("a number of too many digits")
    return value


def _find_tolerances(name: str, keywords: Mapping[str | None, Any]) -> tuple[Any, Any]:
    relative, absolute = CLOSE[name]
    return keywords.get("rel_tol", keywords.get("rtol", relative)), keywords.get(
        "abs_tol", keywords.get("atol", absolute)
    )


def _are_close(given: Sequence[Any], relative: Any, absolute: Any) -> bool:
    """Return whether numbers are close as by math.isclose, and lists item by item as by numpy.allclose."""
    left, right = given
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        pairs = zip(left, right, strict=False)
        return len(left) == len(right) and all(_are_close(pair, relative, absolute) for pair in pairs)
    return math.isclose(left, right, rel_tol=relative, abs_tol=absolute)
