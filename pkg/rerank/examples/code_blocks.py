"""Find tests in a query: in fences, between lines of prose, and as asserts within a sentence."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from textwrap import dedent

from pkg.rerank.candidates import Example
from pkg.rerank.examples.literals import is_value, parse_expression, parse_statements
from pkg.rerank.examples.written_tests import holds_claim, read_tests

MAX_LINES = 400  # of one statement, such as a class of tests
MAX_IN_LINE = 16  # offsets in a line at which an assert may begin or end; each pair is parsed
MAX_OPEN_LINES = 40  # lines after an open bracket
_JOINS = re.compile(r"[ \t]*(?:else\b|elif\b|except\b|finally\b|case\b|[)\]}])")
_LEAD = re.compile(r"[ \t]*(?:[-*+]|\d+[.)])[ \t]+")
_CLAIMS = re.compile(r"assert|raises|Assert")
_CREATED = re.compile(r"(?:^|[:;`])[ \t]*([A-Za-z_]\w*)[ \t]*=[ \t]*[A-Z]\w*\(", re.MULTILINE)
_SEVERAL = re.compile(r";[ \t]*(?=[A-Za-z_])")
_SHOWS = re.compile(
    r"(?P<indent>[ \t]*)(?P<expression>[A-Za-z_][\w.]*\([^#\n]*?\)|[A-Za-z_]\w*(?:\.\w+)+)[ \t]*"
    r"(?:->|=>|→|==|\breturns?\b|\bis\b|#[ \t]*(?:->|=>|→|==|returns?\b|prints?\b)?)[ \t]*(?P<value>\S[^;\n]*?)[ \t]*"
)
_IN_PROSE = re.compile(r"(?:[:;,.][ \t]+|`+|['\"])(?=(?:\w[^:;`]*;[ \t]*)*(?:self\.)?assert)")
_ENDS = "`'\"., "  # characters that may follow an assert in prose
_KINDS = frozenset(("int", "str", "float", "bool", "list", "dict", "set", "tuple", "bytes", "object", "Any"))


def extract_tests(text: str, candidate_names: Collection[str], entry: str | None = None) -> tuple[list[Example], str]:
    """Return the examples of the tests and asserts in a text, and the text without them.

    candidate_names: names that the candidates define. entry: name of the entry point, if known.
    """
    lines = _write_claims(text)
    if not _CLAIMS.search("\n".join(lines)):
        return [], text
    examples: list[Example] = []
    for run in _find_runs(lines):
        if not any(map(holds_claim, run)):
            continue
        examples += read_tests(run, candidate_names, entry)
        _blank(lines, [each for each in run if getattr(each, "name", None) not in candidate_names])
    for row, line in enumerate(lines):
        if "assert" in line:
            found, lines[row] = _take_from_line(line, row, candidate_names)
            examples += found
    return examples, "\n".join(lines)


def _write_claims(text: str) -> list[str]:
    """Rewrite `s.pop() -> 2` and `s.pop()  # 2` as asserts if `s` is an object created above."""
    objects = {found[1] for found in _CREATED.finditer(text)}
    lines = text.split("\n")
    for row, line in enumerate(lines) if objects else ():
        parts = _SEVERAL.split(line)
        written = [_write_claim(each, objects) for each in parts]
        lines[row] = "; ".join(written) if written != parts else line
    return lines


def _write_claim(line: str, made: set[str]) -> str:
    found = _SHOWS.fullmatch(line)
    if (
        found is None
        or not made & {*re.findall(r"\w+", found["expression"])}
        or parse_expression(found["expression"]) is None
    ):
        return line
    value = parse_expression(found["value"].rstrip(".;"))
    if value is None or not is_value(value):
        return line
    return f"{found['indent']}assert {found['expression']} == {found['value'].rstrip('.;')}"


def _blank(lines: list[str], statements: Sequence[ast.stmt]) -> None:
    for each in statements:
        for row in range(each.lineno - 1, each.end_lineno or each.lineno):
            lines[row] = ""


def _find_runs(lines: Sequence[str]) -> Iterator[list[ast.stmt]]:
    """Yield runs of statements that are separated only by blank lines and comments."""
    run: list[ast.stmt] = []
    row = 0
    while row < len(lines):
        if not lines[row].strip() or lines[row].lstrip().startswith("#"):
            row += 1
            continue
        taken = _parse_at(lines, row)
        if taken is None:
            if run:
                yield run
            run, row = [], row + 1
            continue
        statements, row = taken
        run += statements
    if run:
        yield run


def _parse_at(lines: Sequence[str], row: int) -> tuple[list[ast.stmt], int] | None:
    """Parse the statement that begins at a row, and return it with the row after it; None if there is no code."""
    for end in _list_ends(lines, row):
        block = "\n".join(lines[row:end])
        lead = _LEAD.match(block)
        for piece in (block, block[lead.end() :]) if lead else (block,):
            statements = parse_statements(dedent(piece))
            if statements and all(map(_is_code, statements)):
                for each in statements:
                    ast.increment_lineno(each, row)
                return statements, end
    return None


def _list_ends(lines: Sequence[str], row: int) -> Iterator[int]:
    """Yield the rows at which a statement may end: after its indented body, or after an open bracket closes."""
    last = min(len(lines), row + MAX_LINES)
    end = _skip_body(lines, row, last)
    yield end
    if _is_open(lines[row]):
        for more in range(end, min(last, end + MAX_OPEN_LINES)):
            yield _skip_body(lines, more, last)
    if end > row + 1:
        yield row + 1


def _skip_body(lines: Sequence[str], row: int, last: int) -> int:
    """Return the row after a line and its body, including clauses such as `else`."""
    indent = _measure(lines[row])
    end = row + 1
    while end < last and (not lines[end].strip() or _measure(lines[end]) > indent or _JOINS.match(lines[end])):
        end += 1
    while end > row + 1 and not lines[end - 1].strip():
        end -= 1
    return end


def _is_open(line: str) -> bool:
    """Return whether a line has an open bracket or string, or is a decorator."""
    brackets = sum(map(line.count, "([{")) > sum(map(line.count, ")]}"))
    quotes = line.count('"""') % 2 or line.count("'''") % 2
    return brackets or bool(quotes) or line.endswith("\\") or line.lstrip().startswith("@")


def _measure(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_code(statement: ast.stmt) -> bool:
    """Return whether a statement is code; a single name or `Note: this` is prose that happens to parse."""
    if isinstance(statement, ast.AnnAssign):
        kind = statement.annotation
        is_kind = isinstance(kind, ast.Subscript) or getattr(kind, "id", "") in _KINDS
        return statement.value is not None and is_kind
    if isinstance(statement, ast.Expr):
        value = statement.value
        return isinstance(value, ast.Call | ast.Await | ast.Yield) or isinstance(getattr(value, "value", None), str)
    return True


def _take_from_line(line: str, row: int, candidate_names: Collection[str]) -> tuple[list[Example], str]:
    """Return the examples of the asserts in a line of prose, and the line without them."""
    lead = _LEAD.match(line)
    starts = dict.fromkeys(
        [lead.end() if lead else 0, *(each.end() for each in islice(_IN_PROSE.finditer(line), MAX_IN_LINE))]
    )
    found: list[Example] = []
    position = 0
    for start in starts:
        if start < position:
            continue
        taken = _parse_rest(line, start)
        if taken is None:
            continue
        statements, end = taken
        for each in statements:
            ast.increment_lineno(each, row)
        examples = read_tests(statements, candidate_names)
        if examples:
            found += examples
            line = line[:start] + " " * (end - start) + line[end:]
            position = end
    return found, line


def _parse_rest(line: str, start: int) -> tuple[list[ast.stmt], int] | None:
    """Parse statements that begin within a line and end with it, at a quotation mark or with a sentence."""
    ends = [len(line), *(each.start() for each in re.finditer(r"[`]|\.(?=\s)|['\"](?=[\s.,;]|$)| and ", line[start:]))]
    for end in (ends[0], *(start + each for each in ends[1:MAX_IN_LINE])):
        for piece in dict.fromkeys((line[start:end], line[start:end].rstrip(_ENDS))):
            statements = parse_statements(piece.strip())
            if statements and all(map(_is_code, statements)) and any(map(holds_claim, statements)):
                return statements, start + len(piece)
    return None
