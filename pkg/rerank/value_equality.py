"""Compare rendered values outside the process that produced them, by a canonical representation.

Numbers are equal within 1e-6, as in the tests of HumanEval; sets and dicts are unordered. Queries often show a list
for a tuple with the same items, but tests may distinguish them, so there are two rules.
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

TOLERANCE = 1e-6  # of floats, relative above 1; as in the tests of HumanEval
MAX_EXACT_INT = 1 << 53  # up to here every integer is a float

_SEQUENCES = ("tuple", "iterator")


class Rule(NamedTuple):
    """Rule by which values are equal."""

    tolerance: float = TOLERANCE
    is_strict: bool = False  # a tuple does not equal a list


LENIENT = Rule()
STRICT = Rule(is_strict=True)


class CanonicalValue(NamedTuple):
    """Canonical representation of a value: its structure as text, and its numbers in order of occurrence.

    Values are equal if their texts are equal and their numbers are pairwise close, so a comparison takes one step per
    number, however deeply sets are nested.
    """

    text: str
    numbers: tuple[float, ...] = ()
    rounded: tuple[float, ...] = ()  # sort key of items of sets and dicts: equal for close numbers


def equal_values(one: str, other: str, rule: Rule = LENIENT) -> bool:
    """Return whether two rendered values are equal; malformed texts equal only themselves."""
    if one == other:
        return True
    try:
        return equal_canonical(
            make_canonical(one, rule.is_strict), make_canonical(other, rule.is_strict), rule.tolerance
        )
    except MalformedError:
        return False


def equal_canonical(one: CanonicalValue, other: CanonicalValue, tolerance: float = TOLERANCE) -> bool:
    """Return whether two canonical values are equal; both must be made with the same is_strict."""
    if one.text != other.text or len(one.numbers) != len(other.numbers):
        return False
    return all(map(equal_numbers, one.numbers, other.numbers, repeat(tolerance)))


def make_canonical(text: str, is_strict: bool = False) -> CanonicalValue:
    """Return the canonical representation of a rendered value; raises a MalformedError for malformed text."""
    return _canonicalise(parse_value(text), is_strict)


def _canonicalise(tree: Any, is_strict: bool) -> CanonicalValue:
    if isinstance(tree, bool | int | float):
        return CanonicalValue("nan") if tree != tree else CanonicalValue("#", (tree,), (_round(tree),))
    if isinstance(tree, list):
        return _join("list", [_canonicalise(each, is_strict) for each in tree])
    if not isinstance(tree, dict):
        return CanonicalValue(json.dumps(tree))
    ((kind, content),) = tree.items()
    if kind == "dict":
        return _join(
            kind, sorted((_join("", [_canonicalise(each, is_strict) for each in pair]) for pair in content), key=_rank)
        )
    if kind == "set":
        return _join(kind, sorted((_canonicalise(each, is_strict) for each in content), key=_rank))
    if kind == "complex" and equal_numbers(content[1] + content[0], content[0]):
        return _canonicalise(content[0], is_strict)  # (-1+0j) is -1
    if kind == "made":
        return _canonicalise_constructed(*content)
    if kind in _SEQUENCES or kind == "complex":
        name = "list" if kind in _SEQUENCES and not is_strict else kind
        return _join(name, [_canonicalise(each, is_strict) for each in content])
    return CanonicalValue(json.dumps(tree))


def _canonicalise_constructed(kind: str, text: str) -> CanonicalValue:
    """Return the canonical representation of a standard library value; a number that is exactly a float equals it."""
    if kind in ("Decimal", "Fraction"):
        number = Decimal(text) if kind == "Decimal" else Fraction(text)
        if isinstance(number, Decimal) and not number.is_finite():
            return CanonicalValue("nan") if number.is_nan() else _canonicalise(float(number), True)
        exact = Fraction(number)
        if exact.denominator == 1:
            return _canonicalise(exact.numerator, True)
        return _canonicalise(float(exact), True) if _is_float(exact) else CanonicalValue(f"{kind} {exact}")
    if kind == "datetime":
        moment = datetime.fromisoformat(text)
        offset = moment.utcoffset()
        if offset is None:
            return CanonicalValue(f"{kind} {moment}")
        return CanonicalValue(f"{kind} {moment.replace(tzinfo=None) - datetime.min - offset} since datetime.min in UTC")
    return CanonicalValue(f"{kind.removeprefix('Pure')} {text}")


def _is_float(exact: Fraction) -> bool:
    try:
        return Fraction(float(exact)) == exact
    except OverflowError:  # beyond the largest float
        return False


def _join(kind: str, parts: Sequence[CanonicalValue]) -> CanonicalValue:
    text = f"{kind}({','.join(part.text for part in parts)})"
    numbers = tuple(chain.from_iterable(part.numbers for part in parts))
    return CanonicalValue(text, numbers, tuple(chain.from_iterable(part.rounded for part in parts)))


def _rank(value: CanonicalValue) -> tuple[str, tuple[float, ...], tuple[float, ...]]:
    """Return the sort key of an item of a set, in which close numbers are equal."""
    return value.text, value.rounded, value.numbers


def _round(number: float) -> float:
    """Round to the significant digits; an integer that is not exactly a float is unchanged."""
    return float(f"{number:.6g}") if abs(number) < MAX_EXACT_INT or isinstance(number, float) else number


def equal_numbers(one: float, other: float, tolerance: float = TOLERANCE) -> bool:
    """Return whether two numbers are equal: integers exactly, others within the tolerance."""
    if isinstance(one, int) and isinstance(other, int):
        return one == other
    try:
        return math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance) or (one != one and other != other)
    except OverflowError:  # an integer beyond the largest float
        return False
