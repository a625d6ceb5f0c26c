"""Read console sessions: `>>> f(2)` with its answer below, as doctest does, and as people write it from memory."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pkg.rerank.candidates import Check, Example
from pkg.rerank.examples.arrows import parse_result
from pkg.rerank.examples.asserts import parse_condition
from pkg.rerank.examples.literals import NotLiteral, parse_statements, write_code
from pkg.rerank.examples.statement_chains import chain_statements

_PROMPT = re.compile(r"^([ \t]*(?:[rR]?(?:'''|\"{3}))?[ \t]*)>>>[ \t]?(.*)$")
_CONTINUED = re.compile(r"^[ \t]*\.\.\.[ \t]?(.*)$")
_QUOTES = re.compile(r"'''|\"\"\"")
_RAISED = re.compile(
    r"^(?:[\w.]+\.)?([A-Za-z_]\w*(?:Error|Exception|Interrupt|Exit|Warning|Iteration))\b", re.MULTILINE
)
_MAX_WORDS = 6  # of an answer that is no literal; more words are prose
FORM = "transcript"


@dataclass(frozen=True, slots=True)
class Entry:
    """What was typed at one prompt, and what stands below it."""

    code: str
    answer: str
    line: int
    is_closed: bool  # a blank line or another prompt follows at once


def take_transcripts(text: str) -> tuple[list[Example], str]:
    """Read the sessions of a text, and give the text without them."""
    lines = text.split("\n")
    entries = list(_find_entries(lines))
    answered = any(entry.answer for entry in entries)
    examples: list[Example] = []
    before: list[ast.stmt] = []
    for entry in entries:
        statements = parse_statements(entry.code)
        if statements is None:
            continue
        examples += _parse_entry(entry, statements, before, answered)
        before += statements
    return examples, "\n".join(lines)


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
        yield Entry("\n".join(code), answer.strip(), first + 1, end < len(lines))
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


def _parse_entry(
    entry: Entry, statements: list[ast.stmt], before: Sequence[ast.stmt], answered: bool
) -> Iterator[Example]:
    last = statements[-1] if statements else None
    if isinstance(last, ast.Assert):
        examples = list(parse_condition(last.test, FORM, entry.line))
    elif isinstance(last, ast.Expr):
        examples = _parse_answer(entry, last.value, answered)
    else:
        return
    earlier = [*before, *statements[:-1]]
    for example in examples:
        source = example.source if example.check is Check.OUTPUT else chain_statements(earlier, example.source)
        if source is not None:
            yield replace(example, source=source)


def _parse_answer(entry: Entry, asked: ast.expr, answered: bool) -> list[Example]:
    """Make the examples of an expression and what stands below it."""
    line, source = entry.line, write_code(asked)
    if source is None:
        return []
    is_condition = isinstance(asked, ast.Compare | ast.BoolOp) or (
        isinstance(asked, ast.UnaryOp) and isinstance(asked.op, ast.Not)
    )
    if is_condition and entry.answer in ("", "True"):
        return list(parse_condition(asked, FORM, line))
    if not entry.answer:
        is_none = answered and entry.is_closed and isinstance(asked, ast.Call) and not _prints(asked)
        return [Example(source, Check.VALUE, None, FORM, line)] if is_none else []
    if entry.answer.startswith("Traceback"):
        raised = _RAISED.search(entry.answer)
        return [Example(source, Check.RAISES, raised.group(1), FORM, line)] if raised else []
    if _prints(asked):
        return [Example(source, Check.OUTPUT, entry.answer, FORM, line)]
    return _parse_value(entry, source)


def _parse_value(entry: Entry, source: str) -> list[Example]:
    """Read the answer as a value; else, when it is short, as what `print` would show."""
    for text in (entry.answer, entry.answer.partition("\n")[0]):
        try:
            return [Example(source, Check.VALUE, parse_result(text, 0), FORM, entry.line)]
        except NotLiteral:
            continue
    if len(entry.answer.split()) > _MAX_WORDS or "..." in entry.answer:
        return []
    return [Example(f"print({source})", Check.OUTPUT, entry.answer, FORM, entry.line)]


def _prints(asked: ast.expr) -> bool:
    return isinstance(asked, ast.Call) and isinstance(asked.func, ast.Name) and asked.func.id == "print"
