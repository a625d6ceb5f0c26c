"""Take a condition apart into an expression for the candidate and a value that stays outside.

The candidate's process is asked for the value of `f(2)` and never learns what it should be. What cannot be taken apart
is asked as a whole, which is weaker: the code that is judged could find the answer in the question.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pkg.rerank.examples.example import Check, Example
from pkg.rerank.examples.literals import NotLiteral, evaluate, is_value

_CLOSE_BY = 1e-6  # where a test says that numbers are close and does not say how close


def read_condition(test: ast.expr, form: str, line: int) -> Iterator[Example]:
    """Yield the examples of a condition: more than one where `and` joins them."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for each in test.values:
            yield from read_condition(each, form, line)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield _truth(test.operand, False, form, line)
    else:
        yield _read_equality(test, form, line) or _read_closeness(test, form, line) or _truth(test, True, form, line)


def _truth(test: ast.expr, expected: bool, form: str, line: int) -> Example:
    return Example(f"bool({ast.unparse(test)})", Check.TRUTH, expected, form, line)


def _read_equality(test: ast.expr, form: str, line: int) -> Example | None:
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq | ast.Is)):
        return None
    return compare_sides(test.left, test.comparators[0], form, line)


def compare_sides(one: ast.expr, other: ast.expr, form: str, line: int) -> Example | None:
    """Make the example of an equality of which one side is a value and the other is not."""
    for asked, wanted in ((one, other), (other, one)):
        tolerance = None
        if isinstance(wanted, ast.Call) and _name(wanted.func) == "approx" and wanted.args:
            tolerance, wanted = _read_tolerance(wanted), wanted.args[0]
        try:
            value = evaluate(wanted)
        except NotLiteral:
            continue
        return None if is_value(asked) else Example(ast.unparse(asked), Check.VALUE, value, form, line, tolerance)
    return None


def _read_closeness(test: ast.expr, form: str, line: int) -> Example | None:
    """Read `math.isclose(f(2), 0.5)` and `abs(f(2) - 0.5) < 1e-6`."""
    if isinstance(test, ast.Call) and _name(test.func) in ("isclose", "allclose") and len(test.args) == 2:
        found = compare_sides(test.args[0], test.args[1], form, line)
        return found and Example(found.source, Check.VALUE, found.expected, form, line, _read_tolerance(test))
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Lt | ast.LtE) or len(test.ops) > 1:
        return None
    distance = test.left
    if not (isinstance(distance, ast.Call) and _name(distance.func) == "abs" and len(distance.args) == 1):
        return None
    inner, limit = distance.args[0], test.comparators[0]
    if not (isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub) and is_value(limit)):
        return None
    found = compare_sides(inner.left, inner.right, form, line)
    bound = evaluate(limit)
    if found is None or not isinstance(bound, float | int):
        return None
    return Example(found.source, Check.VALUE, found.expected, form, line, float(bound))


def _read_tolerance(call: ast.Call) -> float:
    """Take the largest tolerance that a call names."""
    named = [evaluate(word.value) for word in call.keywords if word.arg in ("rel_tol", "abs_tol", "rel", "abs", "atol")]
    return max([_CLOSE_BY, *(float(each) for each in named if isinstance(each, float | int))])


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
