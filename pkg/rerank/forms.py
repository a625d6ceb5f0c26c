"""Compare values outside of the process that made them, each in one form that equal values share.

Numbers are equal within 1e-6, as the tests of HumanEval compare them; sets and dicts have no order. People write a list
for a tuple of the same items, and tests may not, so there are two rules.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from itertools import chain, repeat
from typing import Any, NamedTuple

from pkg.sandbox.claims import MalformedError, parse_value

TOLERANCE = 1e-6  # of floats, relative above 1; what HumanEval's own tests allow
LARGEST_EXACT = 1 << 53  # up to here each whole number is a float

_GROUPS = ("tuple", "iterator")


class Rule(NamedTuple):
    """Say how near two values must be."""

    tolerance: float = TOLERANCE
    is_strict: bool = False  # a tuple is no list


LENIENT = Rule()
STRICT = Rule(is_strict=True)


class Form(NamedTuple):
    """A value in the one order that equal values share: all of it but its numbers, and those, in that order.

    Two values are equal when their texts are the same and their numbers are near each other one by one, so comparing
    them takes one step for each number, however deep their sets lie in each other.
    """

    text: str
    numbers: tuple[float, ...] = ()
    rounded: tuple[float, ...] = ()  # what parts of sets and dicts are sorted by: near numbers are the same here


def equal_values(one: str, other: str, rule: Rule = LENIENT) -> bool:
    """Compare two rendered values; texts that render no value are equal only to themselves."""
    if one == other:
        return True
    try:
        return equal_forms(make_form(one, rule.is_strict), make_form(other, rule.is_strict), rule.tolerance)
    except MalformedError:
        return False


def equal_forms(one: Form, other: Form, tolerance: float = TOLERANCE) -> bool:
    """Compare two values in their forms, both made strictly or both not."""
    if one.text != other.text or len(one.numbers) != len(other.numbers):
        return False
    return all(map(equal_numbers, one.numbers, other.numbers, repeat(tolerance)))


def make_form(text: str, is_strict: bool = False) -> Form:
    """Bring a rendered value into its form; MalformedError where it is none."""
    return _form(parse_value(text), is_strict)


def _form(tree: Any, is_strict: bool) -> Form:
    if isinstance(tree, bool | int | float):
        return Form("nan") if tree != tree else Form("#", (tree,), (_round(tree),))
    if isinstance(tree, list):
        return _join("list", [_form(each, is_strict) for each in tree])
    if not isinstance(tree, dict):
        return Form(json.dumps(tree))
    ((kind, content),) = tree.items()
    if kind == "dict":
        return _join(
            kind, sorted((_join("", [_form(each, is_strict) for each in pair]) for pair in content), key=_rank)
        )
    if kind == "set":
        return _join(kind, sorted((_form(each, is_strict) for each in content), key=_rank))
    if kind == "complex" and equal_numbers(content[1] + content[0], content[0]):
        return _form(content[0], is_strict)  # (-1+0j) is -1
    if kind == "made":
        return _form_made(*content)
    if kind in _GROUPS or kind == "complex":
        name = "list" if kind in _GROUPS and not is_strict else kind
        return _join(name, [_form(each, is_strict) for each in content])
    return Form(json.dumps(tree))


def _form_made(kind: str, text: str) -> Form:
    """Bring a value of the standard library into its form: a number that a float holds exactly is that number."""
    if kind in ("Decimal", "Fraction"):
        number = Decimal(text) if kind == "Decimal" else Fraction(text)
        if isinstance(number, Decimal) and not number.is_finite():
            return Form("nan") if number.is_nan() else _form(float(number), True)
        exact = Fraction(number)
        if exact.denominator == 1:
            return _form(exact.numerator, True)
        return _form(float(exact), True) if _is_float(exact) else Form(f"{kind} {exact}")
    if kind == "datetime":
        moment = datetime.fromisoformat(text)
        offset = moment.utcoffset()
        if offset is None:
            return Form(f"{kind} {moment}")
        return Form(f"{kind} {moment.replace(tzinfo=None) - datetime.min - offset} from the first moment in UTC")
    return Form(f"{kind.removeprefix('Pure')} {text}")


def _is_float(exact: Fraction) -> bool:
    try:
        return Fraction(float(exact)) == exact
    except OverflowError:  # beyond the largest float
        return False


def _join(kind: str, parts: Sequence[Form]) -> Form:
    text = f"{kind}({','.join(part.text for part in parts)})"
    numbers, rounded = (tuple(chain.from_iterable(column)) for column in _list_columns(parts))
    return Form(text, numbers, rounded)


def _list_columns(parts: Sequence[Form]) -> tuple[list[tuple[float, ...]], list[tuple[float, ...]]]:
    return [part.numbers for part in parts], [part.rounded for part in parts]


def _rank(form: Form) -> tuple[str, tuple[float, ...], tuple[float, ...]]:
    """Give what a part of a set sorts by: numbers that are near each other leave it to what stands behind them."""
    return form.text, form.rounded, form.numbers


def _round(number: float) -> float:
    """Round to as many digits as count; a whole number that no float holds stays as it is."""
    return float(f"{number:.6g}") if abs(number) < LARGEST_EXACT or isinstance(number, float) else number


def equal_numbers(one: float, other: float, tolerance: float = TOLERANCE) -> bool:
    """Compare two numbers: whole ones exactly, others by how near they are."""
    if isinstance(one, int) and isinstance(other, int):
        return one == other
    try:
        return math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance) or (one != one and other != other)
    except OverflowError:  # a whole number that no float can hold
        return False
