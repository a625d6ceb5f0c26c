"""Rate what a candidate's process answered by what the query shows, outside of that process.

A list for a tuple of the same items holds, and counts a little less than the very value: people write the one for the
other, and tests may not.
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

from pkg.rerank.candidates import Check, Example
from pkg.rerank.conditions import split_expression
from pkg.rerank.decisions import FailedError, UndecidedError, decide, show_value
from pkg.rerank.forms import STRICT, TOLERANCE, Rule, equal_values
from pkg.sandbox.claims import parse_value
from pkg.sandbox.protocol import Kind, Verdict
from pkg.sandbox.values import render_value

NEAR = 0.95  # of a list for a tuple: in HumanEval and MBPP every example that holds also names the right one of the two
PRINTED = 0.85  # of what is printed where a value is shown, or the other way round
WEAK = 0.9  # of an example that the candidate's own process judges: it may have been talked round
STATEMENTS = "statements that run as they stand"
SESSION = "transcript"  # the form of an example that a session shows
LONGEST_MESSAGE = 200  # characters of an exception that are looked at
_BACKTRACKS = re.compile(r"\)[*+{]|\\[1-9]")
OBJECT = "it stands on an object that is no plain data"


class Rating(NamedTuple):
    """How far the end of a step is what an example shows."""

    rate: float  # 0 where it is not, less than 1 where the evidence is weaker
    note: str = ""  # why it cannot be decided outside
    may_ask: bool = False  # the candidate's own objects may be asked instead


def rate_step(example: Example, verdict: Verdict, entry: str | None = None) -> Rating:
    """Rate the end of what an example asks; entry: the function that is wanted, where that is known."""
    if example.check not in (Check.VALUE, Check.TRUTH) or verdict.kind is not Kind.OK or verdict.value is None:
        rate = _rate_end(example, verdict)
        return Rating(rate, STATEMENTS if example.check is Check.ASSERTION and rate else "")
    split = split_expression(example.source, entry, example.before)
    if split.is_whole and example.check is Check.VALUE:
        return Rating(_rate_value(example, verdict.value) or _rate_printed(example, verdict))
    try:
        found = decide(split, verdict.value)
    except UndecidedError as fault:
        return Rating(0.0, str(fault), example.check in fault.asks)
    except FailedError as fault:
        return Rating(0.0, str(fault))
    is_truth = example.check is Check.TRUTH
    rate = float(found.is_true is example.expected) if is_truth else _rate_value(example, render_value(found.value))
    return Rating(WEAK * rate, OBJECT) if found.is_weak and rate else Rating(rate)


def rate_word(example: Example, verdict: Verdict) -> float:
    """Rate what the candidate's own objects made of the whole of an example: never as much as what is seen outside."""
    if verdict.kind is not Kind.OK or verdict.value is None:
        return 0.0
    if example.check is Check.TRUTH:
        return WEAK * (verdict.value == render_value(example.expected))
    return WEAK * _rate_value(example, verdict.value)


def passes(example: Example, verdict: Verdict, entry: str | None = None) -> bool:
    """Tell whether the end of a step is what an example shows."""
    return rate_step(example, verdict, entry).rate > 0


def _rate_end(example: Example, verdict: Verdict) -> float:
    """Rate an end that is not about a value: an exception, what was printed, statements that did not fail."""
    if example.check is Check.RAISES:
        return float(verdict.kind is not Kind.OK and _is_raised(example, verdict))
    if verdict.kind is not Kind.OK:
        return 0.0
    if example.check in (Check.OUTPUT, Check.PROGRAM):
        return _rate_output(example, verdict)
    return WEAK if example.check is Check.ASSERTION else 0.0


def _is_raised(example: Example, verdict: Verdict) -> bool:
    """Return whether the exception is one of those that are wanted, or of a subclass, with a message that matches."""
    raised, _, message = verdict.detail.partition(": ")
    name = raised.partition(" (")[0].rpartition(".")[2]
    wanted = str(example.expected).split(" or ")
    if name not in wanted and not any(each in wanted for each in verdict.bases):
        return False
    if not example.match or _BACKTRACKS.search(example.match):  # a nested repetition could take for ever
        return True
    try:
        return re.search(example.match, message[:LONGEST_MESSAGE]) is not None
    except (re.error, RecursionError):
        return True


def _rate_output(example: Example, verdict: Verdict) -> float:
    """Rate what was printed; an interactive session shows a value too, and a person may leave out its quotes."""
    shown = _shorten(str(example.expected))
    if _shorten(verdict.output) == shown:
        return 1.0
    if example.check is Check.PROGRAM:
        return _rate_program(shown, _shorten(verdict.output))
    if verdict.value in (None, "null"):
        return 0.0
    value = parse_value(verdict.value)
    if isinstance(value, dict) and "repr" in value:
        return NEAR if _shorten(value["repr"][1]) == shown else 0.0
    if isinstance(value, str) and _shorten(value) == shown:
        return PRINTED
    return NEAR if _shorten(show_value(verdict.value)) == shown else 0.0


def _rate_program(expected: str, found: str) -> float:
    """Rate the output of a program that is not the very one: other digits of a number, or a prompt before it."""
    wanted, given = expected.split(), found.split()
    if len(wanted) == len(given):
        return NEAR * all(map(_are_near, wanted, given))
    return PRINTED if wanted and given[-len(wanted) :] == wanted else 0.0


def _are_near(one: str, other: str) -> bool:
    try:
        return one == other or math.isclose(float(one), float(other), rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    except ValueError:
        return False


def _rate_printed(example: Example, verdict: Verdict) -> float:
    """Rate code that prints what it should return, as a session shows the two alike."""
    is_session = example.form == SESSION and example.expected is not None
    return PRINTED * (is_session and verdict.value == "null" and _shorten(verdict.output) == repr(example.expected))


def _rate_value(example: Example, value: str) -> float:
    rule, expected = Rule(example.tolerance or TOLERANCE), render_value(example.expected)
    if not equal_values(value, expected, rule):
        return 0.0
    return 1.0 if equal_values(value, expected, STRICT._replace(tolerance=rule.tolerance)) else NEAR


def _shorten(text: str) -> str:
    """Give a text with its runs of white space as one space each, as sessions are copied without care for them."""
    return " ".join(text.split())
