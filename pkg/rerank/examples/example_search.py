"""Find all examples of a query: each reader removes what it parses, and the next one reads the rest.

Also parses the examples of the caller, and hidden tests for research.
"""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from pkg.errors import InputError, shorten
from pkg.rerank.candidates import Check, Example
from pkg.rerank.examples.arrows import find_arrows, find_misnamed
from pkg.rerank.examples.asserts import parse_condition
from pkg.rerank.examples.code_blocks import extract_tests
from pkg.rerank.examples.labelled import find_labelled
from pkg.rerank.examples.literals import parse_expression, parse_statements, write_value
from pkg.rerank.examples.script import add_imports
from pkg.rerank.examples.transcripts import extract_transcripts
from pkg.rerank.parsed_question import Question

MAX_EXAMPLES = 64  # each is a run; no query of HumanEval or MBPP shows more than 13

MAX_TEXT = 20_000  # characters of a query; the longest prompt of HumanEval has 1,400, and parsing is quadratic
_TYPESET = str.maketrans("‘’“”\u00a0", "''\"\" ")


def find_examples(question: Question) -> tuple[Example, ...]:
    """Find the examples of a query (A-08), in their order: sessions, tests, arrows, and inputs with outputs."""
    text = question.text[:MAX_TEXT].translate(_TYPESET)
    candidate_names = question.candidate_names
    sessions, text = extract_transcripts(text, candidate_names)
    tests, text = extract_tests(text, candidate_names, question.entry or question.unanimous)
    found = [*sessions, *tests, *find_arrows(text, question), *find_labelled(text, question)]
    found = [each for each in found if _is_about(each, question)] or find_misnamed(text, question)
    ordered = sorted(keep_consistent(found), key=lambda each: each.line)[:MAX_EXAMPLES]
    return tuple(add_imports(each, question.imports, candidate_names) for each in ordered)


def keep_consistent(examples: Iterable[Example]) -> list[Example]:
    """Remove duplicates, and all examples that contradict each other, because at least one of them is wrong."""
    by_source: dict[tuple[tuple[str, ...], str], dict[str, Example]] = {}
    for each in examples:
        by_source.setdefault((each.before, each.source), {}).setdefault(f"{each.check} {each.expected!r}", each)
    return [example for found in by_source.values() if len(found) == 1 for example in found.values()]


def _is_about(example: Example, question: Question) -> bool:
    """Return whether an example calls the entry point, or any function if that is unknown."""
    called = list_called(example)
    return bool(called & question.candidate_names if question.entry else called)


def list_called(example: Example) -> set[str]:
    """Return the names that an example and its script call; builtins only if there are no others.

    `s.pop()` after `s = Stack()` calls Stack.
    """
    nodes = [
        node
        for line in (*example.before, example.source)
        for statement in parse_statements(line) or ()
        for node in ast.walk(statement)
    ]
    used = [each.func for each in nodes if isinstance(each, ast.Call)]
    used += [each for node in nodes for each in getattr(node, "decorator_list", [])]
    owners = [(each.attr, each.value) for each in used if isinstance(each, ast.Attribute)]
    names = {each.id for each in used if isinstance(each, ast.Name)}
    names |= {attribute for attribute, owner in owners if _is_candidate(owner, example)}
    names |= {owner.id for _, owner in owners if isinstance(owner, ast.Name) and owner.id[:1].isupper()}
    return {name for name in names if not hasattr(builtins, name)} or names - {"bool"}


def _is_candidate(node: ast.expr, example: Example) -> bool:
    """Return whether a name is that of a module that is replaced by the candidate."""
    return isinstance(node, ast.Name) and any(f"import candidate as {node.id}" in line for line in example.before)


def find_entry(question: Question, examples: Iterable[Example]) -> str | None:
    """Return the name of the entry point: from the query, or else the function of its examples that answers define."""
    if question.entry:
        return question.entry
    called = [list_called(each) for each in examples if each.check is not Check.ASSERTION or each.before]
    if question.defined:
        counts = Counter(name for names in called for name in names & question.defined)
        if counts:
            return max(sorted(counts), key=lambda name: counts[name])
        return question.fallback
    common = set.intersection(*called) if called else set()
    return common.pop() if len(common) == 1 else None


NOTATION = "handed over"


def parse_given(items: Iterable[Any], question: Question) -> list[Example]:
    """Parse examples of the caller: text in any notation of queries, or {"call" or "args", "expected"}.

    Raises an InputError for an invalid example.
    """
    return [example for item in items for example in _parse_item(item, question)]


def _parse_item(item: Any, question: Question) -> Iterator[Example]:
    if isinstance(item, str):
        yield from _parse_text(item, question)
    elif isinstance(item, dict) and "expected" in item and ("call" in item or "args" in item):
        call = item.get("call")
        if call is None:
            if question.entry is None or not isinstance(item["args"], list):
                raise InputError(f'{_show(item)} has no call and the query names no function; give "call": "f(2)"')
            call = f"{question.callee}({', '.join(map(write_value, item['args']))})"
        if not isinstance(call, str) or parse_expression(call) is None:
            raise InputError(f"the call of {_show(item)} is not an expression; expected one such as f(2)")
        yield Example(call, Check.VALUE, item["expected"], NOTATION)
    else:
        raise InputError(f'{_show(item)} is not an example; expected "f(2) == 4" or {{"call": "f(2)", "expected": 4}}')


def _parse_text(text: str, question: Question) -> Iterator[Example]:
    """Parse one text: a condition, examples in any notation, or statements that must not fail."""
    condition = parse_expression(text)
    if condition is not None:
        yield from parse_condition(condition, NOTATION, 0)
        return
    known = replace(question, text=text)
    found = find_examples(known)
    if found:
        yield from found
    elif parse_statements(text):
        yield Example(text, Check.ASSERTION, None, NOTATION)
    else:
        raise InputError(f'{_show(text)} is not an example; expected "f(2) == 4", an assert, or a session')


def parse_tests(tests: Any) -> tuple[Example, ...]:
    """Parse hidden tests: a list of asserts, or one program; code that cannot be split runs unchanged.

    Raises an InputError for an invalid test.
    """
    texts = tests if isinstance(tests, list) else [tests]
    found: list[Example] = []
    for text in texts:
        if not isinstance(text, str) or not text.strip():
            raise InputError(f"{_show(text)} is not a test; expected an assert, or a program of asserts")
        asserts, rest = extract_tests(text, ())
        found += asserts if asserts and not rest.strip() else [Example(text, Check.ASSERTION, None, "hidden")]
    return tuple(found)


def _show(item: Any) -> str:
    return shorten(repr(item), 80)
