"""Read `assert` statements and the methods of unittest that stand in a text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from pkg.rerank.examples.conditions import compare_sides, read_condition
from pkg.rerank.examples.example import Check, Example
from pkg.rerank.examples.literals import parse_statements

_ASSERT = re.compile(
    r"(?:^[ \t]*|(?<=:)[ \t]+|(?<=`)|(?<=['\"])|^[ \t]*(?:[-*+]|\d+[.)])[ \t]+`?)"
    r"(?:self\.)?(assert(?:[A-Z]\w*)?\b[ (])",
    re.MULTILINE,
)
_MAX_LINES = 40  # of one statement
_CLOSERS = "`'\"., "  # what may stand behind an assert that is quoted in prose


def take_asserts(text: str) -> tuple[list[Example], str]:
    """Read the asserts of a text, and give the text without them."""
    examples: list[Example] = []
    rest, position = text, 0
    while found := _ASSERT.search(rest, position):
        start, position = found.start(1), found.end()
        taken = _parse_at(rest, start)
        if taken is None:
            continue
        statement, end = taken
        line = text.count("\n", 0, start) + 1
        examples += read_assert(statement, line)
        rest = rest[:start] + re.sub(r"[^\n]", " ", rest[start:end]) + rest[end:]
        position = end
    return examples, rest


def _parse_at(text: str, start: int) -> tuple[ast.stmt, int] | None:
    """Parse the one statement that begins at an offset and may span lines."""
    end = start
    for _ in range(_MAX_LINES):
        end = text.find("\n", end)
        end = len(text) if end < 0 else end
        for piece in dict.fromkeys((text[start:end], text[start:end].rstrip(_CLOSERS))):
            statements = parse_statements(piece)
            if statements and len(statements) == 1:
                return statements[0], end
        if end == len(text):
            break
        end += 1
    return None


def read_assert(statement: ast.stmt, line: int) -> Iterator[Example]:
    """Yield the examples of one assert; statements of any other kind have none."""
    if isinstance(statement, ast.Assert):
        yield from read_condition(statement.test, "assert", line)
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        example = _read_method(statement.value, line)
        if example is not None:
            yield example


def _read_method(call: ast.Call, line: int) -> Example | None:
    """Read assertEqual(f(2), 4) and its like."""
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    if re.fullmatch(r"assert(?:\w*Equals?|Is)", name) and len(call.args) >= 2 and "Not" not in name:
        found = compare_sides(call.args[0], call.args[1], "assert", line)
        if found and "Almost" in name:
            return Example(found.source, Check.VALUE, found.expected, "assert", line, 1e-6)
        return found
    if name in ("assertTrue", "assertFalse") and call.args:
        return Example(f"bool({ast.unparse(call.args[0])})", Check.TRUTH, name == "assertTrue", "assert", line)
    return None
