"""Read examples that are handed over beside the query, and hidden tests for research."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pkg.errors import InputError
from pkg.rerank.examples.asserts import take_asserts
from pkg.rerank.examples.conditions import read_condition
from pkg.rerank.examples.example import Check, Example
from pkg.rerank.examples.find import find_examples
from pkg.rerank.examples.literals import parse_expression, parse_statements, write_value
from pkg.rerank.question import Question
from pkg.wording import shorten

FORM = "handed over"


def read_handed(items: Iterable[Any], question: Question) -> list[Example]:
    """Read examples as text in any form that a query may show them, or as {"call" or "args", "expected"}."""
    return [example for item in items for example in _read_item(item, question)]


def _read_item(item: Any, question: Question) -> Iterator[Example]:
    if isinstance(item, str):
        yield from _read_text(item, question)
    elif isinstance(item, dict) and "expected" in item and ("call" in item or "args" in item):
        call = item.get("call")
        if call is None:
            if question.entry is None or not isinstance(item["args"], list):
                raise InputError(f'{_show(item)} has no call and the query names no function; give "call": "f(2)"')
            call = f"{question.entry}({', '.join(map(write_value, item['args']))})"
        if not isinstance(call, str) or parse_expression(call) is None:
            raise InputError(f"the call of {_show(item)} is no expression; expected one such as f(2)")
        yield Example(call, Check.VALUE, item["expected"], FORM)
    else:
        raise InputError(f'{_show(item)} is no example; expected "f(2) == 4" or {{"call": "f(2)", "expected": 4}}')


def _read_text(text: str, question: Question) -> Iterator[Example]:
    """Read one text: a condition, or whatever forms of examples it holds, or statements that must not fail."""
    condition = parse_expression(text)
    if condition is not None:
        yield from read_condition(condition, FORM, 0)
        return
    known = Question(text, question.entry, question.parameters)
    found = find_examples(known)
    if found:
        yield from found
    elif parse_statements(text):
        yield Example(text, Check.ASSERTION, None, FORM)
    else:
        raise InputError(f'{_show(text)} is no example; expected "f(2) == 4", an assert, or a session')


def read_tests(tests: Any) -> tuple[Example, ...]:
    """Read hidden tests: a list of asserts, or one program; what cannot be taken apart runs as it stands."""
    texts = tests if isinstance(tests, list) else [tests]
    found: list[Example] = []
    for text in texts:
        if not isinstance(text, str) or not text.strip():
            raise InputError(f"{_show(text)} is no test; expected an assert, or a program of them")
        asserts, rest = take_asserts(text)
        found += asserts if asserts and not rest.strip() else [Example(text, Check.ASSERTION, None, "hidden")]
    return tuple(found)


def _show(item: Any) -> str:
    return shorten(repr(item), 80)
