"""Parse console sessions: `>>> f(2)` with its output below, as in doctest, and informal variants."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from pkg.rerank.candidates import Check, Example
from pkg.rerank.examples.arrows import parse_result
from pkg.rerank.examples.asserts import parse_condition
from pkg.rerank.examples.literals import NotLiteral, parse_literal, parse_statements, write_code
from pkg.rerank.examples.script import Script
from pkg.rerank.examples.substitution import Environment, substitute
from pkg.rerank.examples.written_tests import TestModule

_PROMPT = re.compile(r"^([ \t]*(?:[rR]?(?:'''|\"{3}))?[ \t]*)>>>[ \t]?(.*)$")
_CONTINUED = re.compile(r"^[ \t]*\.\.\.[ \t]?(.*)$")
_QUOTES = re.compile(r"'''|\"\"\"")
_RAISED = re.compile(
    r"^(?:[\w.]+\.)?([A-Za-z_]\w*(?:Error|Exception|Interrupt|Exit|Warning|Iteration))\b", re.MULTILINE
)
_MAX_WORDS = 6  # of an output that is not a literal; more words are prose
NOTATION = "transcript"
_ARRAY = re.compile(r"^array\((\[.*\])(?:, dtype=\w+)?\)$", re.DOTALL)  # as numpy shows it
_PRINTS = re.compile(r"\bprint(?:s|ed|ing)?\b(?!\()", re.IGNORECASE)
_RETURNS = re.compile(r"\breturn(?:s|ed|ing)?\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Entry:
    """Input at one prompt, and the output below it."""

    code: str
    answer: str
    line: int
    is_closed: bool  # a blank line or another prompt follows immediately


def extract_transcripts(text: str, candidate_names: Collection[str] = ()) -> tuple[list[Example], str]:
    """Return the examples of the sessions in a text, parsed as one script, and the text without them."""
    lines = text.split("\n")
    entries = [(each, statements) for each in _find_entries(lines) if (statements := parse_statements(each.code))]
    answered = any(entry.answer for entry, _ in entries)
    prints = _PRINTS.search(text) is not None and _RETURNS.search(text) is None
    script, values = Script(NOTATION, candidate_names), Environment()
    for index, (entry, statements) in enumerate(entries):
        rest = [each for _, later in entries[index + 1 :] for each in later]
        module = TestModule(candidate_names, NOTATION)
        module.run(statements[:-1], script, values, rest=[statements[-1], *rest])
        examples = _parse_entry(entry, substitute(statements[-1], values), answered, prints)
        if examples:
            script.add_claims(examples)
        else:
            module.run(statements[-1:], script, values, rest=rest)
    return script.list_examples(), "\n".join(lines)


def _find_entries(lines: list[str]) -> Iterator[Entry]:
    """Yield the entries of all sessions and blank their lines."""
    row = 0
    while row < len(lines):
        found = _PROMPT.match(lines[row])
        first, row = row, row + 1
        if found is None:
            continue
        code = [found.group(2)]
        while row < len(lines) and (more := _CONTINUED.match(lines[row])) and parse_statements("\n".join(code)) is None:
            code.append(more.group(1))
            row += 1
        end = _find_answer_end(lines, row)
        answer = "\n".join(_cut_quotes(line).strip() for line in lines[row:end])
        is_ended = bool(_QUOTES.search(code[-1])) and parse_statements("\n".join(code)) is None
        if is_ended:
            code[-1] = _cut_quotes(code[-1])
        answer = answer.replace("<BLANKLINE>", "").strip()
        yield Entry("\n".join(code), answer, first + 1, end < len(lines))
        lines[first:end] = [""] * (end - first)
        row = end


def _find_answer_end(lines: Sequence[str], row: int) -> int:
    while row < len(lines) and lines[row].strip() and not _PROMPT.match(lines[row]):
        row += 1
        if _QUOTES.search(lines[row - 1]):
            break
    return row


def _cut_quotes(line: str) -> str:
    return _QUOTES.split(line)[0]


def _parse_entry(entry: Entry, last: ast.stmt, answered: bool, prints: bool) -> list[Example]:
    """Return the examples of the last statement of an entry."""
    if isinstance(last, ast.Assert):
        return list(parse_condition(last.test, NOTATION, entry.line))
    if isinstance(last, ast.Expr):
        return _parse_answer(entry, last.value, answered, prints)
    source = write_code(last)
    is_loop = isinstance(last, ast.For | ast.While | ast.With | ast.If | ast.Try)
    if source is None or not is_loop or not _is_shown(entry.answer):
        return []
    return [Example(source, Check.OUTPUT, entry.answer, notation=NOTATION, line=entry.line)]


def _parse_answer(entry: Entry, expression: ast.expr, answered: bool, prints: bool) -> list[Example]:
    """Return the examples of an expression and the output below it."""
    line, source = entry.line, write_code(expression)
    if source is None:
        return []
    is_condition = isinstance(expression, ast.Compare | ast.BoolOp) or (
        isinstance(expression, ast.UnaryOp) and isinstance(expression.op, ast.Not)
    )
    if is_condition and entry.answer in ("", "True"):
        return list(parse_condition(expression, NOTATION, line))
    if not entry.answer:
        is_none = answered and entry.is_closed and isinstance(expression, ast.Call) and not _prints(expression)
        is_none = is_none and not isinstance(expression.func, ast.Attribute)  # type: ignore[attr-defined]
        return [Example(source, Check.VALUE, None, notation=NOTATION, line=line)] if is_none else []
    if entry.answer.startswith("Traceback"):
        raised = _RAISED.search(entry.answer)
        return [Example(source, Check.RAISES, raised.group(1), notation=NOTATION, line=line)] if raised else []
    if _prints(expression) or (prints and _is_shown(entry.answer)):
        return [Example(source, Check.OUTPUT, entry.answer, notation=NOTATION, line=line)]
    return _parse_value(entry, source)


def _parse_value(entry: Entry, source: str) -> list[Example]:
    """Parse the output as a value; if that fails and it is short, as printed text or the repr of an object."""
    first, _, rest = entry.answer.partition("\n")
    for text in (entry.answer, *([] if rest and _is_literal(rest.partition("\n")[0]) else [first])):
        try:
            value = parse_result(_ARRAY.sub(r"\1", text), 0)
            return [Example(source, Check.VALUE, value, notation=NOTATION, line=entry.line)]
        except NotLiteral:
            continue
    return (
        [Example(source, Check.OUTPUT, entry.answer, notation=NOTATION, line=entry.line)]
        if _is_shown(entry.answer)
        else []
    )


def _is_literal(text: str) -> bool:
    try:
        parse_literal(text.strip())
    except NotLiteral:
        return False
    return True


def _is_shown(answer: str) -> bool:
    """Return whether an output may be printed text: each line is short, and nothing is elided."""
    lines = answer.split("\n")
    is_short = all(len(line.split()) <= _MAX_WORDS for line in lines) or all(map(_is_literal, answer.split()))
    return bool(answer) and is_short and "..." not in answer


def _prints(expression: ast.expr) -> bool:
    return isinstance(expression, ast.Call) and isinstance(expression.func, ast.Name) and expression.func.id == "print"
