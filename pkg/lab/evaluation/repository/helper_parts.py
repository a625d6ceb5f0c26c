"""Reduce the code of a helper to a part of it: its header, its docstring, a line that calls it, or its body."""

from __future__ import annotations

from itertools import takewhile
from typing import NamedTuple

from pkg.extract.syntax import is_string_statement, parse_code
from pkg.generation.prompt_templates.prompt_template import HelperText
from pkg.lab.evaluation.code.evaluation_conditions import Part
from pkg.lab.evaluation.repository.masked_functions import Definition

PROMPT = ">>> "  # of an example in a docstring


def show_part(helper: HelperText, part: Part, usage: str = "") -> HelperText | None:
    """Return a helper reduced to a part; None if its code has no function.

    usage: a line that calls the function; without one, an example of its docstring is shown, or its header alone.
    """
    found = _split(helper.code)
    if found is None:
        return None
    if part == "body":
        code = f"{found.imports}{found.omit_docstring()}"
    elif part == "docstring":
        code = f"{found.header}{found.docstring}" if found.docstring else found.omit_body()
    elif part == "usage" and (line := usage or _find_example(found)):
        code = f"{found.omit_body()}\n\n{line}"
    else:
        code = found.omit_body()
    return HelperText(helper.place, code.rstrip())


class _Function(NamedTuple):
    """The text of a function in pieces that make up all of it."""

    name: str
    imports: str  # all text before it
    header: str  # with decorators, up to its first statement
    docstring: str
    body: str

    def omit_body(self) -> str:
        """Return the header alone, in valid Python."""
        return f"{self.header.rstrip()}\n    ..."

    def omit_docstring(self) -> str:
        """Return the function without its docstring; the header alone if it has nothing else."""
        if not self.docstring:
            return self.header + self.body
        if not self.body.strip(" \n;"):
            return self.omit_body()
        return self.header.rstrip() + self.body.removeprefix(";")


def _split(code: str) -> _Function | None:
    """Split code with one function, possibly after imports; None if there is no function."""
    tree = parse_code(code)
    function = next((each for each in tree.body if isinstance(each, Definition)), None) if tree is not None else None
    if function is None:
        return None
    data = code.encode("utf-8", "replace")
    lines = data.splitlines(keepends=True)

    def cut(line: int, column: int) -> int:
        return sum(map(len, lines[: line - 1])) + column

    first = min([function.lineno, *(each.lineno for each in function.decorator_list)])
    statement = function.body[0]
    start, begin = cut(first, 0), cut(statement.lineno, statement.col_offset)
    if is_string_statement(statement):
        end = cut(statement.end_lineno or statement.lineno, statement.end_col_offset or 0)
    else:
        begin = end = begin - _measure_comments(data[:begin])
    pieces = (data[:start], data[start:begin], data[begin:end], data[end:])
    return _Function(function.name, *(each.decode("utf-8", "replace") for each in pieces))


def _measure_comments(header: bytes) -> int:
    """Return the size of the end of a header that is indentation, comments and empty lines, if it has any line."""
    *lines, margin = header.splitlines(keepends=True)
    if margin.strip():
        return 0
    comments = takewhile(lambda line: line.lstrip()[:1] in (b"", b"#"), reversed(lines))
    return len(margin) + sum(map(len, comments))


def _find_example(function: _Function) -> str:
    """Return the first line of an example in the docstring that calls the function; "" without one."""
    for line in function.docstring.splitlines():
        told = line.strip()
        if told.startswith(PROMPT) and f"{function.name}(" in told:
            return told.removeprefix(PROMPT)
    return ""
