"""Compare what a candidate's process says a value is with what the query shows, outside of that process.

Numbers are equal within 1e-6, as the tests of HumanEval compare them; sets and dicts have no order. People write a list
for a tuple of the same items, and tests may not: such a value holds, and counts a little less than the very value.
"""

from __future__ import annotations

import json
import math
import re
from functools import lru_cache
from typing import Any, NamedTuple

from pkg.rerank.candidates import Check, Example
from pkg.sandbox.protocol import Kind, Verdict
from pkg.sandbox.values import render_value

TOLERANCE = 1e-6  # of floats, relative above 1; what HumanEval's own tests allow

NEAR = 0.95  # of a list for a tuple: in HumanEval and MBPP every example that holds also names the right one of the two
WEAK = 0.9  # of an example that the candidate's own process judges: it may have been talked round

_GROUPS = ("tuple", "iterator")


class Rule(NamedTuple):
    """Say how near two values must be."""

    tolerance: float = TOLERANCE
    is_strict: bool = False  # a tuple is no list


LENIENT = Rule()
STRICT = Rule(is_strict=True)


def rate_step(example: Example, verdict: Verdict) -> float:
    """Rate the end of a step by an example: 0 where it does not hold, less than 1 where the evidence is weaker."""
    if not passes(example, verdict):
        return 0.0
    if example.check is Check.ASSERTION:
        return WEAK
    rule = Rule(example.tolerance or TOLERANCE, is_strict=True)
    is_near = example.check is Check.VALUE and not _holds(example, verdict, rule)
    return NEAR if is_near else 1.0


def passes(example: Example, verdict: Verdict) -> bool:
    """Tell whether the end of a step is what an example shows."""
    if example.check is Check.RAISES:
        raised = re.match(r"[\w.]*", verdict.detail)
        name = raised.group().rpartition(".")[2] if raised else ""
        return verdict.kind is not Kind.OK and name == example.expected
    if verdict.kind is not Kind.OK:
        return False
    if example.check is Check.OUTPUT:
        return _shorten(verdict.output) == _shorten(str(example.expected))
    if example.check is Check.ASSERTION:
        return True
    return _holds(example, verdict, Rule(example.tolerance or TOLERANCE))


def _holds(example: Example, verdict: Verdict, rule: Rule) -> bool:
    return verdict.value is not None and equal_values(verdict.value, render_value(example.expected), rule)


def _shorten(text: str) -> str:
    """Give a text with its runs of white space as one space each, as sessions are copied without care for them."""
    return " ".join(text.split())


def equal_values(one: str, other: str, rule: Rule = LENIENT) -> bool:
    """Compare two rendered values; texts that are no JSON are equal only to themselves."""
    if one == other:
        return True
    try:
        return _equal(_read(one), _read(other), rule)
    except (ValueError, RecursionError):
        return False


@lru_cache(maxsize=4096)
def _read(text: str) -> Any:
    return json.loads(text)


def _equal(one: Any, other: Any, rule: Rule) -> bool:
    if not rule.is_strict:
        one, other = _open_group(one), _open_group(other)
    if isinstance(one, bool) or isinstance(other, bool):
        return (type(one) is type(other) and one == other) or (_is_number(one) and _is_number(other) and one == other)
    if _is_number(one) and _is_number(other):
        return _equal_numbers(one, other, rule.tolerance)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(lambda a, b: _equal(a, b, rule), one, other))
    if isinstance(one, dict) and isinstance(other, dict) and len(one) == len(other) == 1:
        return _equal_kinds(one, other, rule)
    return type(one) is type(other) and bool(one == other)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _equal_numbers(one: float, other: float, tolerance: float) -> bool:
    if isinstance(one, int) and isinstance(other, int):
        return one == other
    try:
        return math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance) or (one != one and other != other)
    except OverflowError:  # a whole number that no float can hold
        return False


def _open_group(value: Any) -> Any:
    """Give the items of a tuple, or of what can be iterated, as a list."""
    if isinstance(value, dict) and len(value) == 1:
        kind, items = next(iter(value.items()))
        return items if kind in _GROUPS else value
    return value


def _equal_kinds(one: dict[str, Any], other: dict[str, Any], rule: Rule) -> bool:
    (kind, left), (other_kind, right) = next(iter(one.items())), next(iter(other.items()))
    if kind != other_kind:
        return False
    if kind in ("set", "dict"):
        return len(left) == len(right) and _pair_up(left, right, rule)
    return _equal(left, right, rule) if kind in _GROUPS else bool(left == right)


def _pair_up(left: list[Any], right: list[Any], rule: Rule) -> bool:
    """Find for each part of one an equal part of the other; sorted by text they mostly stand at the same place."""
    if all(_equal(one, other, rule) for one, other in zip(left, right, strict=True)):
        return True
    if len(left) > 100:  # pairing costs the square
        return False
    rest = list(right)
    for one in left:
        place = next((index for index, other in enumerate(rest) if _equal(one, other, rule)), None)
        if place is None:
            return False
        rest.pop(place)
    return True
