"""Find calls with literal arguments in text."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from pkg.rerank.candidates import Example
from pkg.rerank.examples.literals import find_closing, is_value, parse_expression
from pkg.rerank.examples.script import KNOWN_IMPORTS
from pkg.rerank.parsed_question import Question

_CALL = re.compile(
    r"(?<![\w.\\])(?:(?<!(?<!['\"])['\"])([A-Za-z_][\w.]*)|(?:'[^'\n]{0,40}'|\"[^\"\n]{0,40}\")\.[a-z]+)[ \t]?\("
)
_MEMBER = re.compile(r"\.[A-Za-z_]\w*")
_OPERATOR = re.compile(r"(?:[-+*/%<>=!&|^~]|\bnot)[ \t]*$")
_ARROW = re.compile(r"(?:->|=>|>>>)[ \t]*$")
MAX_CALLS = 500  # of one text; the search for a closing bracket may reach the end of the text
_BULLET = re.compile(r"[ \t]*[-*+][ \t]+")
_WORDS = frozenset(
    ("if", "for", "while", "and", "or", "not", "in", "is", "return", "returns", "print", "assert", "lambda", "bool")
)


def list_calls(examples: Iterable[Example], entry: str | None) -> Iterator[ast.Call]:
    """Yield the calls of the entry point in examples, except those with keyword arguments."""
    for example in examples:
        tree = parse_expression(example.source)
        for node in ast.walk(tree) if tree is not None else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == entry and not node.keywords:
                yield node


@dataclass(frozen=True, slots=True)
class FoundCall:
    """A call in a text: its normalised source and its offsets."""

    source: str
    start: int
    end: int


def find_calls(text: str, question: Question) -> Iterator[FoundCall]:
    """Yield the calls of the entry point, or of any function if that is unknown, with literal arguments.

    A call may be nested, as in `list(f(2))`, and followed by methods, attributes and items.
    """
    for found in islice(_CALL.finditer(text), MAX_CALLS):
        if found.group(1) in _WORDS:
            continue
        first = find_closing(text, found.end() - 1)
        if first < 0 or _is_operand(text[: found.start()].rpartition("\n")[2]):
            continue
        for end in dict.fromkeys((_find_end(text, first), first)):
            source = parse_call(text[found.start() : end], question)
            if source is not None:
                yield FoundCall(source, found.start(), end)
                break


def _find_end(text: str, end: int) -> int:
    """Return the end of an expression that begins with a call, including following methods, attributes and items."""
    while True:
        more = _MEMBER.match(text, end)
        after = more.end() if more else end
        if text[after : after + 1] in ("(", "["):
            after = find_closing(text, after)
        if after <= end:
            return end
        end = after


def _is_operand(before: str) -> bool:
    """Return whether an operator precedes the call, so that a following value is not that of the call alone."""
    return bool(_OPERATOR.search(before)) and not _ARROW.search(before) and not _BULLET.fullmatch(before)


def parse_call(text: str, question: Question) -> str | None:
    """Return the normalised source of a call whose literal arguments fit the entry point; None for any other."""
    node = parse_expression(text)
    if node is None:
        return None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if question.method and node.func.id == question.method and are_literal(node):
            return f"{question.entry}().{ast.unparse(node)}" if _count_fits(node, question) else None
        if are_literal(node) and question.entry in (None, node.func.id):
            return ast.unparse(node) if _count_fits(node, question) else None
    return ast.unparse(node) if _is_closed(node, question) else None


def are_literal(node: ast.Call) -> bool:
    """Return whether all arguments of a call are literals."""
    return all(map(is_value, node.args)) and all(keyword.arg and is_value(keyword.value) for keyword in node.keywords)


def _count_fits(node: ast.Call, question: Question) -> bool:
    is_class = question.method is not None and isinstance(node.func, ast.Name) and node.func.id == question.entry
    return is_class or question.takes(len(node.args) + len(node.keywords))


def _is_closed(node: ast.expr, question: Question) -> bool:
    """Return whether an expression calls the entry point and otherwise reads only builtins and known imports."""
    names = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
    bound = {each.id for each in names if not isinstance(each.ctx, ast.Load)}
    free = {each.id for each in names} - bound - KNOWN_IMPORTS.keys() - question.imports.keys()
    unknown = {name for name in free if not hasattr(builtins, name)}
    own = {question.entry} if question.entry else unknown & question.defined or unknown
    called = {each.func.id for each in ast.walk(node) if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)}
    return len(own) == 1 and own <= called and all(name in own or hasattr(builtins, name) for name in free)
