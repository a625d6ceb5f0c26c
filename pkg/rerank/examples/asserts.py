"""Read `assert` statements and the methods of unittest that stand in a text.

A condition is taken apart into an expression for the candidate and a value that stays outside.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from textwrap import dedent

from pkg.rerank.candidates import Check, Example
from pkg.rerank.examples.literals import NotLiteral, evaluate, is_value, parse_statements, write_code
from pkg.rerank.examples.statement_chains import chain_statements

_CLOSE_BY = 1e-6  # where a test says that numbers are close and does not say how close


def parse_condition(test: ast.expr, form: str, line: int) -> Iterator[Example]:
    """Yield the examples of a condition: more than one where `and` joins them."""
    if write_code(test) is None:
        return
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for each in test.values:
            yield from parse_condition(each, form, line)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield _truth(test.operand, False, form, line)
    else:
        yield _parse_equality(test, form, line) or _parse_closeness(test, form, line) or _truth(test, True, form, line)


def _truth(test: ast.expr, expected: bool, form: str, line: int) -> Example:
    return Example(f"bool({ast.unparse(test)})", Check.TRUTH, expected, form, line)


def _parse_equality(test: ast.expr, form: str, line: int) -> Example | None:
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq | ast.Is)):
        return None
    return compare_sides(test.left, test.comparators[0], form, line)


def compare_sides(one: ast.expr, other: ast.expr, form: str, line: int) -> Example | None:
    """Make the example of an equality of which one side is a value and the other is not."""
    for asked, wanted in ((one, other), (other, one)):
        tolerance = None
        if isinstance(wanted, ast.Call) and _name(wanted.func) == "approx" and wanted.args:
            tolerance, wanted = _find_tolerance(wanted), wanted.args[0]
        try:
            value = evaluate(wanted)
        except NotLiteral:
            continue
        return None if is_value(asked) else Example(ast.unparse(asked), Check.VALUE, value, form, line, tolerance)
    return None


def _parse_closeness(test: ast.expr, form: str, line: int) -> Example | None:
    """Read `math.isclose(f(2), 0.5)` and `abs(f(2) - 0.5) < 1e-6`."""
    if isinstance(test, ast.Call) and _name(test.func) in ("isclose", "allclose") and len(test.args) == 2:
        found = compare_sides(test.args[0], test.args[1], form, line)
        return found and Example(found.source, Check.VALUE, found.expected, form, line, _find_tolerance(test))
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


def _find_tolerance(call: ast.Call) -> float:
    """Take the largest tolerance that a call names."""
    named = [evaluate(word.value) for word in call.keywords if word.arg in ("rel_tol", "abs_tol", "rel", "abs", "atol")]
    return max([_CLOSE_BY, *(float(each) for each in named if isinstance(each, float | int))])


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


_ASSERT = re.compile(
    r"(?:^[ \t]*|(?<=;)[ \t]*|(?<=:)[ \t]+|(?<=`)|(?<=['\"])|^[ \t]*(?:[-*+]|\d+[.)])[ \t]+`?)"
    r"(?:self\.)?(assert(?:[A-Z]\w*)?\b[ (])",
    re.MULTILINE,
)
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
"""Methods of unittest that compare two values."""

_MAX_LINES = 40  # of one statement, and of a set-up
_MAX_SETUP = 2_000  # characters
_SETUP = (ast.Assign, ast.AugAssign, ast.Import, ast.ImportFrom, ast.Assert, ast.For, ast.While, ast.With)
MOST_WITH_SETUP = 64  # asserts before which a set-up is looked for; each look parses the lines above again and again
_CLOSERS = "`'\"., "  # what may stand behind an assert that is quoted in prose


def take_asserts(text: str) -> tuple[list[Example], str]:
    """Read the asserts of a text, and give the text without them."""
    examples: list[Example] = []
    rest, position, looks = text, 0, 0
    while found := _ASSERT.search(rest, position):
        start, position = found.start(1), found.end()
        taken = _parse_at(rest, start)
        if taken is None:
            continue
        statement, end = taken
        line = text.count("\n", 0, start) + 1
        lines = text[:start].split("\n")
        lines[-1] = lines[-1].rstrip("; \t")
        looks += 1
        setup = _find_setup(lines) if looks <= MOST_WITH_SETUP else []
        examples += _chain_all(setup, statement, line)
        rest = rest[:start] + re.sub(r"[^\n]", " ", rest[start:end]) + rest[end:]
        position = end
    return examples, rest


def _parse_at(text: str, start: int) -> tuple[ast.stmt, int] | None:
    """Parse the one statement that begins at an offset and may span lines."""
    end = start
    for _ in range(_MAX_LINES):
        end = text.find("\n", end)
        end = len(text) if end < 0 else end
        for piece in dict.fromkeys((text[start:end], text[start:end].rstrip(_CLOSERS))):
            statements = parse_statements(piece)
            if statements and len(statements) == 1:
                return statements[0], end
        if end == len(text):
            break
        end += 1
    return None


def _chain_all(setup: list[ast.stmt], statement: ast.stmt, line: int) -> Iterator[Example]:
    """Yield the examples of an assert behind its set-up; where that is no expression, all of it runs as it stands."""
    for example in parse_assert(statement, line):
        source = chain_statements(setup, example.source)
        if source is not None:
            yield replace(example, source=source)
            continue
        whole = [write_code(each) for each in (*setup, statement)]
        yield Example("\n".join(filter(None, whole)), Check.ASSERTION, None, "assert", line)
        return


def _find_setup(lines: list[str]) -> list[ast.stmt]:
    """Give the statements that stand right above an assert, such as `x = f(2)`: the longest run of lines that has any.

    What prose looks like, a lone name or `Note: this`, is none.
    """
    if not lines[-1].strip("` \t"):
        del lines[-1]
    for first in range(max(0, len(lines) - _MAX_LINES), len(lines)):
        block = "\n".join(lines[first:])
        statements = parse_statements(dedent(block)) if len(block) <= _MAX_SETUP else None
        if statements and all(isinstance(each, _SETUP) or _has_effect(each) for each in statements):
            return [each for each in statements if not isinstance(each, ast.Assert)]
    return []


def _has_effect(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.AnnAssign):
        return statement.value is not None
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)


def parse_assert(statement: ast.stmt, line: int) -> Iterator[Example]:
    """Yield the examples of one assert; statements of any other kind have none."""
    if isinstance(statement, ast.Assert):
        yield from parse_condition(statement.test, "assert", line)
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        yield from _parse_method(statement.value, line)


def _parse_method(call: ast.Call, line: int) -> Iterator[Example]:
    """Read assertEqual(f(2), 4) and its like."""
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    if name.endswith(("Equal", "Equals")) and "Not" not in name and len(call.args) >= 2:
        example = compare_sides(call.args[0], call.args[1], "assert", line) if write_code(call) else None
        if example is not None:
            yield replace(example, tolerance=_CLOSE_BY) if "Almost" in name else example
            return
    condition = _make_condition(name, call.args)
    if condition is not None:
        yield from parse_condition(condition, "assert", line)


def _make_condition(name: str, given: list[ast.expr]) -> ast.expr | None:
    """Give the condition that a method of unittest stands for; None for a method that has none."""
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
