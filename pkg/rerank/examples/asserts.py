"""Parse `assert` statements and assert methods of unittest.

A condition is split into an expression that the candidate evaluates and a value that stays outside the sandbox.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import replace

from pkg.rerank.candidates import Check, Example
from pkg.rerank.examples.literals import NotLiteral, evaluate, find_name, is_value, write_code, write_value

_TOLERANCES = frozenset(("rel_tol", "abs_tol", "rel", "abs", "rtol", "atol", "delta"))
_DEFAULT_TOLERANCE = 1e-6  # of tests that do not name one


def parse_condition(
    test: ast.expr, notation: str, line: int, candidate_names: Collection[str] = ()
) -> Iterator[Example]:
    """Yield the examples of a condition, one for each operand of `and`.

    candidate_names: names that belong to the candidates, even if they shadow builtins.
    """
    if write_code(test) is None:
        return
    test = _unwrap_array_comparison(test)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for each in test.values:
            yield from parse_condition(each, notation, line, candidate_names)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield _truth(test.operand, False, notation, line)
    else:
        found = _parse_equality(test, notation, line, candidate_names) or _parse_closeness(
            test, notation, line, candidate_names
        )
        yield found or _truth(test, True, notation, line)


def _unwrap_array_comparison(test: ast.expr) -> ast.expr:
    """Return the comparison of `(f(a) == b).all()`, `np.all(f(a) == b)` and `np.array_equal(f(a), b)`."""
    if not isinstance(test, ast.Call):
        return test
    name = find_name(test.func)
    if name == "array_equal" and len(test.args) == 2:
        return ast.Compare(test.args[0], [ast.Eq()], [test.args[1]])
    inner = test.func.value if isinstance(test.func, ast.Attribute) and not test.args else (*test.args, None)[0]
    return inner if name == "all" and isinstance(inner, ast.Compare) else test


def _truth(test: ast.expr, expected: bool, notation: str, line: int) -> Example:
    return Example(f"bool({ast.unparse(test)})", Check.TRUTH, expected, notation=notation, line=line)


def _parse_equality(test: ast.expr, notation: str, line: int, candidate_names: Collection[str]) -> Example | None:
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq | ast.Is)):
        return None
    return compare_sides(test.left, test.comparators[0], notation, line, candidate_names)


def compare_sides(
    one: ast.expr, other: ast.expr, notation: str, line: int, candidate_names: Collection[str] = ()
) -> Example | None:
    """Return the example of an equality of a value and an expression; None for any other."""
    for expression, expected_node in ((one, other), (other, one)):
        tolerance = None
        if isinstance(expected_node, ast.Call) and find_name(expected_node.func) == "approx" and expected_node.args:
            tolerance, expected_node = _find_tolerance(expected_node), expected_node.args[0]
        try:
            value = evaluate(expected_node, candidate_names)
        except NotLiteral:
            continue
        return (
            None
            if is_value(expression, candidate_names)
            else Example(ast.unparse(expression), Check.VALUE, value, notation=notation, line=line, tolerance=tolerance)
        )
    return None


def _parse_closeness(test: ast.expr, notation: str, line: int, candidate_names: Collection[str]) -> Example | None:
    """Parse `math.isclose(f(2), 0.5)` and `abs(f(2) - 0.5) < 1e-6`."""
    if isinstance(test, ast.Call) and find_name(test.func) in ("isclose", "allclose") and len(test.args) == 2:
        found = compare_sides(test.args[0], test.args[1], notation, line, candidate_names)
        return found and Example(
            found.source, Check.VALUE, found.expected, notation=notation, line=line, tolerance=_find_tolerance(test)
        )
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.Lt | ast.LtE) or len(test.ops) > 1:
        return None
    distance = test.left
    if not (isinstance(distance, ast.Call) and find_name(distance.func) == "abs" and len(distance.args) == 1):
        return None
    inner, limit = distance.args[0], test.comparators[0]
    if not (isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub) and is_value(limit)):
        return None
    found = compare_sides(inner.left, inner.right, notation, line, candidate_names)
    bound = evaluate(limit)
    if found is None or not isinstance(bound, float | int):
        return None
    return Example(found.source, Check.VALUE, found.expected, notation=notation, line=line, tolerance=float(bound))


def _find_tolerance(call: ast.Call) -> float:
    """Return the largest tolerance among the arguments of a call."""
    named = {str(word.arg): evaluate(word.value) for word in call.keywords if is_value(word.value)}
    if len(call.args) > 2 and "Almost" in find_name(call) and is_value(call.args[2]):
        named["places"] = evaluate(call.args[2])
    numbers = {name: float(each) for name, each in named.items() if isinstance(each, float | int)}
    if "places" in numbers:
        numbers["delta"] = 0.5 * 10 ** -min(numbers["places"], 20)
    return max([_DEFAULT_TOLERANCE, *(each for name, each in numbers.items() if name in _TOLERANCES)])


_COMPARISONS: dict[str, type[ast.cmpop]] = {
    "assertEqual": ast.Eq,
    "assertEquals": ast.Eq,
    "assertNotEqual": ast.NotEq,
    "assertIs": ast.Is,
    "assertIsNot": ast.IsNot,
    "assertIn": ast.In,
    "assertNotIn": ast.NotIn,
    "assertGreater": ast.Gt,
    "assertGreaterEqual": ast.GtE,
    "assertLess": ast.Lt,
    "assertLessEqual": ast.LtE,
}
"""Comparison methods of unittest."""


def parse_assert(
    statement: ast.stmt, line: int, candidate_names: Collection[str] = (), notation: str = "assert"
) -> Iterator[Example]:
    """Yield the examples of an assert statement or assert method; none for any other statement."""
    if isinstance(statement, ast.Assert):
        yield from parse_condition(statement.test, notation, line, candidate_names)
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        yield from _parse_method(statement.value, line, candidate_names, notation)


def _parse_method(call: ast.Call, line: int, candidate_names: Collection[str], notation: str) -> Iterator[Example]:
    name, given = find_name(call), call.args
    if not name.startswith("assert") or write_code(call) is None:
        return
    if name in ("assertCountEqual", "assertItemsEqual") and len(given) >= 2:
        yield from parse_condition(_compare_unordered(*given[:2]), notation, line, candidate_names)
        return
    is_equal = name.endswith(("Equal", "Equals")) or name in _EQUAL_ARRAYS
    if is_equal and "Not" not in name and len(given) >= 2:
        example = compare_sides(given[0], given[1], notation, line, candidate_names)
        if example is not None:
            is_near = "Almost" in name or "almost" in name or name == "assert_allclose"
            yield replace(example, tolerance=_find_tolerance(call)) if is_near else example
            return
    condition = _make_condition(name, given)
    if condition is not None:
        yield from parse_condition(condition, notation, line, candidate_names)


_EQUAL_ARRAYS = (
    *("assert_array_equal", "assert_equal", "assert_allclose", "assert_almost_equal"),
    "assert_array_almost_equal",
)


def _compare_unordered(one: ast.expr, other: ast.expr) -> ast.expr:
    """Return the comparison of two lists in any order."""
    with suppress(NotLiteral):
        found = evaluate(other)
        if isinstance(found, list | tuple | set):
            items = ast.parse(write_value(sorted(found, key=repr)), mode="eval").body
            return ast.Compare(_sort(one), [ast.Eq()], [items])
    return ast.Compare(_sort(one), [ast.Eq()], [_sort(other)])


def _sort(items: ast.expr) -> ast.expr:
    return ast.Call(ast.Name("sorted", ast.Load()), [items], [ast.keyword("key", ast.Name("repr", ast.Load()))])


def _make_condition(name: str, given: list[ast.expr]) -> ast.expr | None:
    """Return the condition that an assert method checks; None for an unknown method."""
    if name in _EQUAL_ARRAYS or (name.endswith(("Equal", "Equals")) and "Not" not in name and "Almost" not in name):
        name = "assertEqual"
    if name in ("assertTrue", "assertIsNone", "assertIsNotNone") and given:
        nothing: list[ast.expr] = [ast.Constant(None)]
        operation = ast.Is() if name == "assertIsNone" else ast.IsNot()
        return given[0] if name == "assertTrue" else ast.Compare(given[0], [operation], nothing)
    if name == "assertFalse" and given:
        return ast.UnaryOp(ast.Not(), given[0])
    if len(given) < 2:
        return None
    if name in ("assertIsInstance", "assertNotIsInstance"):
        call = ast.Call(ast.Name("isinstance", ast.Load()), given[:2], [])
        return call if name == "assertIsInstance" else ast.UnaryOp(ast.Not(), call)
    return ast.Compare(given[0], [_COMPARISONS[name]()], [given[1]]) if name in _COMPARISONS else None
