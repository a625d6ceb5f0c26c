"""Read examples that call what is wanted by another name, or with words that lack their quotes."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from pkg.rerank.examples.arrows import read_arrows
from pkg.rerank.examples.example import Example
from pkg.rerank.question import Question

_BARE = re.compile(r"\(([a-z]{1,40})\)(?=[ \t]*(?:[-=]+>|➞|→))")
_LEAST = 3  # calls with words; fewer may be names of variables


def read_misnamed(text: str, question: Question) -> list[Example]:
    """Read the examples of a query that has none under the wanted name (A-08); [] where two names compete."""
    if question.entry is None or question.parameters is None:
        return []
    return _read_renamed(text, question) or _read_bare(text, question)


def _read_renamed(text: str, question: Question) -> list[Example]:
    """Take the calls of one other name for calls of the wanted function, as after a late change of the name."""
    found = list(read_arrows(text, replace(question, entry=None)))
    calls = [ast.parse(each.source, mode="eval").body for each in found]
    named = {call.func.id for call in calls if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)}
    if len(named) != 1 or len(calls) != len(found) or re.search(rf"\bdef {min(named)}\b", question.text):
        return []
    examples = []
    for example, call in zip(found, calls, strict=True):
        if isinstance(call, ast.Call) and question.takes(len(call.args) + len(call.keywords)):
            call.func = ast.Name(question.entry or "")
            examples.append(replace(example, source=ast.unparse(call)))
    return examples


def _read_bare(text: str, question: Question) -> list[Example]:
    """Take `f(abcd) => True` for `f('abcd') => True` where several words stand so and none is a parameter."""
    words = {found.group(1) for found in _BARE.finditer(text)}
    names = {each.name for each in question.parameters or ()}
    if len(words) < _LEAST or words & names or max(map(len, words)) < _LEAST:
        return []
    return list(read_arrows(_BARE.sub(r"('\1')", text), question))
