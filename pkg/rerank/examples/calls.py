"""Find calls with literal arguments in text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from pkg.rerank.candidates import Example
from pkg.rerank.examples.literals import find_closing, is_value, parse_expression
from pkg.rerank.wanted import Question

_CALL = re.compile(r"(?<![\w.\\])(?<!(?<!['\"])['\"])([A-Za-z_][\w.]*)[ \t]?\(")
_OPERATOR = re.compile(r"(?:[-+*/%<>=!&|^~]|\bnot)[ \t]*$")
_ARROW = re.compile(r"(?:->|=>|>>>)[ \t]*$")
MOST = 500  # calls that are looked at; each may have to be read to the end of the text
_BULLET = re.compile(r"[ \t]*[-*+][ \t]+")
_WORDS = frozenset(
    ("if", "for", "while", "and", "or", "not", "in", "is", "return", "returns", "print", "assert", "lambda")
)


def list_calls(examples: Iterable[Example], entry: str | None) -> Iterator[ast.Call]:
    """Give the calls of what is wanted in some examples; those that name an argument are left out."""
    for example in examples:
        tree = parse_expression(example.source)
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == entry and not node.keywords:
                yield node


@dataclass(frozen=True, slots=True)
class FoundCall:
    """One call in a text: the expression as Python writes it, and where it stands."""

    source: str
    start: int
    end: int


def find_calls(text: str, question: Question) -> Iterator[FoundCall]:
    """Yield the calls of what is wanted, or where that is not known of anything, whose arguments are literals."""
    for found in islice(_CALL.finditer(text), MOST):
        name = found.group(1)
        if name in _WORDS or (question.entry and name != question.entry):
            continue
        end = find_closing(text, found.end() - 1)
        source = parse_call(text[found.start() : end], question) if end > 0 else None
        if source is not None and not _is_operand(text[: found.start()].rpartition("\n")[2]):
            yield FoundCall(source, found.start(), end)


def _is_operand(before: str) -> bool:
    """Tell whether an operator stands before the call: then what follows is not the value of the call alone."""
    return bool(_OPERATOR.search(before)) and not _ARROW.search(before) and not _BULLET.fullmatch(before)


def parse_call(text: str, question: Question) -> str | None:
    """Give a call as Python writes it, when its arguments are literals and fit the function that is wanted."""
    node = parse_expression(text)
    if not isinstance(node, ast.Call) or not are_literal(node) or not _fits(node, question):
        return None
    return ast.unparse(node)


def are_literal(node: ast.Call) -> bool:
    """Tell whether all arguments of a call are literals."""
    return all(map(is_value, node.args)) and all(keyword.arg and is_value(keyword.value) for keyword in node.keywords)


def _fits(node: ast.Call, question: Question) -> bool:
    if not (isinstance(node.func, ast.Name) and node.func.id == question.entry):
        return question.entry is None
    return question.takes(len(node.args) + len(node.keywords))
