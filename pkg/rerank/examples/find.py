"""Find all examples of a query: each reader takes what it understands, and the next one reads what is left."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable

from pkg.rerank.examples.arrows import read_arrows
from pkg.rerank.examples.asserts import take_asserts
from pkg.rerank.examples.example import Check, Example
from pkg.rerank.examples.given import read_given
from pkg.rerank.examples.literals import parse_statements
from pkg.rerank.examples.misnamed import read_misnamed
from pkg.rerank.examples.transcripts import take_transcripts
from pkg.rerank.question import Question

MAX_EXAMPLES = 64  # each is a run; no query of HumanEval or MBPP shows more than 13

MAX_TEXT = 20_000  # characters that are read; the longest prompt of HumanEval has 1,400, and reading takes the square
_TYPESET = str.maketrans("‘’“”\u00a0", "''\"\" ")


def find_examples(question: Question) -> tuple[Example, ...]:
    """Find what a query shows (A-08): sessions, asserts, arrows, inputs with outputs, in the order of the text."""
    text = question.text[:MAX_TEXT].translate(_TYPESET)
    sessions, text = take_transcripts(text)
    asserts, text = take_asserts(text)
    found = [*sessions, *asserts, *read_arrows(text, question), *read_given(text, question)]
    found = [each for each in found if _is_about(each, question)] or read_misnamed(text, question)
    return tuple(sorted(keep_consistent(found), key=lambda each: each.line)[:MAX_EXAMPLES])


def keep_consistent(examples: Iterable[Example]) -> list[Example]:
    """Keep each example once; of those that contradict each other none is left, for one of them is wrong."""
    by_source: dict[str, dict[str, Example]] = {}
    for each in examples:
        by_source.setdefault(each.source, {}).setdefault(f"{each.check} {each.expected!r}", each)
    return [example for found in by_source.values() if len(found) == 1 for example in found.values()]


def _is_about(example: Example, question: Question) -> bool:
    """Tell whether an example calls what is wanted, or something that is not built in where that is not known."""
    called = list_called(example)
    return question.entry in called if question.entry else bool(called)


def list_called(example: Example) -> set[str]:
    """List the names that an example calls; built-in ones only where there are no others."""
    statements = parse_statements(example.source) or []
    names = {
        node.func.id
        for statement in statements
        for node in ast.walk(statement)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    return {name for name in names if not hasattr(builtins, name)} or names - {"bool"}


def find_entry(question: Question, examples: Iterable[Example]) -> str | None:
    """Name what is wanted: as the query says, or else the one name that every example calls."""
    if question.entry:
        return question.entry
    called = [list_called(each) for each in examples if each.check is not Check.ASSERTION]
    common = set.intersection(*called) if called else set()
    return common.pop() if len(common) == 1 else None
