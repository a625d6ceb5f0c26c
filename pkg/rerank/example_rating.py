"""Rate the results of a candidate's process against the examples of the query, outside that process.

A list where a tuple with the same items is expected passes with a slightly lower rate: queries confuse the two, but
tests may distinguish them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from pkg.rerank.candidates import Check, Example
from pkg.rerank.conditions import split_expression
from pkg.rerank.decisions import FailedError, UndecidedError, decide, show_value
from pkg.rerank.value_equality import STRICT, TOLERANCE, Rule, equal_values
from pkg.sandbox.claims import parse_value
from pkg.sandbox.protocol import Kind, Verdict
from pkg.sandbox.values import render_value

NEAR = 0.95  # rate of a list for a tuple: in HumanEval and MBPP every passing example names the correct type
PRINTED = 0.85  # rate of printed output where a value is shown, or the reverse
WEAK = 0.9  # rate of an example that the candidate's own process decides, which it can manipulate
STATEMENTS = "statements run unchanged"
SESSION = "transcript"  # notation of examples in console sessions
MAX_MESSAGE = 200  # characters of the message of an exception that are matched
_BACKTRACKS = re.compile(r"\)[*+{]|\\[1-9]")
OBJECT = "the result depends on an object that is not plain data"


class Rating(NamedTuple):
    """Degree to which the result of a step matches an example."""

    rate: float  # 0 for a failure, less than 1 for weaker evidence
    note: str = ""  # reason why it cannot be decided outside the sandbox
    may_delegate: bool = False  # the candidate's process may evaluate it instead


def rate_step(example: Example, verdict: Verdict, entry: str | None = None) -> Rating:
    """Rate the result of the request of an example; entry: the name of the entry point, if known."""
    if example.check not in (Check.VALUE, Check.TRUTH) or verdict.kind is not Kind.OK or verdict.value is None:
        rate = _rate_end(example, verdict)
        return Rating(rate, STATEMENTS if example.check is Check.ASSERTION and rate else "")
    split = split_expression(example.source, entry, example.before)
    if split.is_whole and example.check is Check.VALUE:
        return Rating(_rate_value(example, verdict.value) or _rate_printed(example, verdict))
    try:
        found = decide(split, verdict.value)
    except UndecidedError as fault:
        return Rating(0.0, str(fault), example.check in fault.delegable)
    except FailedError as fault:
        return Rating(0.0, str(fault))
    is_truth = example.check is Check.TRUTH
    rate = float(found.is_true is example.expected) if is_truth else _rate_value(example, render_value(found.value))
    return Rating(WEAK * rate, OBJECT) if found.is_weak and rate else Rating(rate)


def rate_own_result(example: Example, verdict: Verdict) -> float:
    """Rate the result of a whole example that the candidate's process evaluated, at most WEAK."""
    if verdict.kind is not Kind.OK or verdict.value is None:
        return 0.0
    if example.check is Check.TRUTH:
        return WEAK * (verdict.value == render_value(example.expected))
    return WEAK * _rate_value(example, verdict.value)


def passes(example: Example, verdict: Verdict, entry: str | None = None) -> bool:
    """Return whether the result of a step matches an example."""
    return rate_step(example, verdict, entry).rate > 0


def _rate_end(example: Example, verdict: Verdict) -> float:
    """Rate a result other than a value: an exception, the output, or statements that did not fail."""
    if example.check is Check.RAISES:
        return float(verdict.kind is not Kind.OK and _is_raised(example, verdict))
    if verdict.kind is not Kind.OK:
        return 0.0
    if example.check in (Check.OUTPUT, Check.PROGRAM):
        return _rate_output(example, verdict)
    return WEAK if example.check is Check.ASSERTION else 0.0


def _is_raised(example: Example, verdict: Verdict) -> bool:
    """Return whether the exception is of an expected class or a subclass, with a matching message."""
    raised, _, message = verdict.detail.partition(": ")
    name = raised.partition(" (")[0].rpartition(".")[2]
    expected = str(example.expected).split(" or ")
    if name not in expected and not any(each in expected for each in verdict.bases):
        return False
    if not example.match or _BACKTRACKS.search(example.match):  # a nested repetition could take exponential time
        return True
    try:
        return re.search(example.match, message[:MAX_MESSAGE]) is not None
    except (re.error, RecursionError):
        return True


def _rate_output(example: Example, verdict: Verdict) -> float:
    """Rate the output; an interactive session shows values too, and people may leave out quotes."""
    expected = _normalise_spaces(str(example.expected))
    if _normalise_spaces(verdict.output) == expected:
        return 1.0
    if example.check is Check.PROGRAM:
        return _rate_program(expected.split(), verdict.output.split())
    if verdict.value in (None, "null"):
        return 0.0
    value = parse_value(verdict.value)
    if isinstance(value, dict) and "repr" in value:
        return NEAR if _normalise_spaces(value["repr"][1]) == expected else 0.0
    if isinstance(value, str) and _normalise_spaces(value) == expected:
        return PRINTED
    return NEAR if _normalise_spaces(show_value(verdict.value)) == expected else 0.0


def _rate_program(expected: Sequence[str], actual: Sequence[str]) -> float:
    """Rate the words of the output of a program that differs: numbers may be rounded, and a prompt may come first."""
    if len(expected) == len(actual):
        return NEAR * all(map(_are_near, expected, actual))
    return PRINTED if expected and actual[-len(expected) :] == expected else 0.0


def _are_near(one: str, other: str) -> bool:
    try:
        return one == other or math.isclose(float(one), float(other), rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    except ValueError:
        return False


def _rate_printed(example: Example, verdict: Verdict) -> float:
    """Rate code that prints the value it should return, because a session shows both alike."""
    is_session = example.notation == SESSION and example.expected is not None
    return PRINTED * (
        is_session and verdict.value == "null" and _normalise_spaces(verdict.output) == repr(example.expected)
    )


def _rate_value(example: Example, value: str) -> float:
    rule, expected = Rule(example.tolerance or TOLERANCE), render_value(example.expected)
    if not equal_values(value, expected, rule):
        return 0.0
    return 1.0 if equal_values(value, expected, STRICT._replace(tolerance=rule.tolerance)) else NEAR


def _normalise_spaces(text: str) -> str:
    return " ".join(text.split())
