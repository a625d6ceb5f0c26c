"""Rate what a candidate's process answered by what the query shows, outside of that process.

A list for a tuple of the same items holds, and counts a little less than the very value: people write the one for the
other, and tests may not.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pkg.rerank.candidates import Check, Example
from pkg.rerank.conditions import split_expression
from pkg.rerank.decisions import FailedError, UndecidedError, decide
from pkg.rerank.forms import STRICT, TOLERANCE, Rule, equal_values
from pkg.sandbox.protocol import Kind, Verdict
from pkg.sandbox.values import render_value

NEAR = 0.95  # of a list for a tuple: in HumanEval and MBPP every example that holds also names the right one of the two
WEAK = 0.9  # of an example that the candidate's own process judges: it may have been talked round
STATEMENTS = "statements that run as they stand"
OBJECT = "it stands on an object that is no plain data"


class Rating(NamedTuple):
    """How far the end of a step is what an example shows."""

    rate: float  # 0 where it is not, less than 1 where the evidence is weaker
    note: str = ""  # why it cannot be decided outside
    may_ask: bool = False  # the candidate's own objects may be asked instead


def rate_step(example: Example, verdict: Verdict, entry: str | None = None) -> Rating:
    """Rate the end of the step that an example makes; entry: the function that is wanted, where that is known."""
    if example.check not in (Check.VALUE, Check.TRUTH) or verdict.kind is not Kind.OK or verdict.value is None:
        rate = _rate_end(example, verdict)
        return Rating(rate, STATEMENTS if example.check is Check.ASSERTION and rate else "")
    split = split_expression(example.source, entry)
    if split.is_whole and example.check is Check.VALUE:
        return Rating(_rate_value(example, verdict.value))
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
        raised = re.match(r"[\w.]*", verdict.detail)
        name = raised.group().rpartition(".")[2] if raised else ""
        return float(verdict.kind is not Kind.OK and name == example.expected)
    if verdict.kind is not Kind.OK:
        return 0.0
    if example.check is Check.OUTPUT:
        return float(_shorten(verdict.output) == _shorten(str(example.expected)))
    return WEAK if example.check is Check.ASSERTION else 0.0


def _rate_value(example: Example, value: str) -> float:
    rule, expected = Rule(example.tolerance or TOLERANCE), render_value(example.expected)
    if not equal_values(value, expected, rule):
        return 0.0
    return 1.0 if equal_values(value, expected, STRICT._replace(tolerance=rule.tolerance)) else NEAR


def _shorten(text: str) -> str:
    """Give a text with its runs of white space as one space each, as sessions are copied without care for them."""
    return " ".join(text.split())
