"""Say of each line of a file which statement it belongs to and whose code it is, and which functions suspend."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from pkg.quiet import silence_warnings

Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(slots=True)
class Outline:
    """The lines of one file; empty for a file that this Python cannot parse, where each line stands for itself."""

    statements: list[int] = field(default_factory=list)  # by line, its first line; 0 outside of statements
    owners: list[tuple[int, str] | None] = field(default_factory=list)  # by line, first line and name of the function
    suspending: set[tuple[int, str]] = field(default_factory=set)  # generators and coroutines, in the same form
    decorated: set[int] = field(default_factory=set)  # first lines of functions and classes under decorators

    def statement(self, line: int) -> int:
        """Give the first line of the innermost statement that a line belongs to; of a compound one, its head alone."""
        return (self.statements[line] if 0 <= line < len(self.statements) else 0) or line

    def owner(self, line: int) -> tuple[int, str] | None:
        """Give the innermost function in whose body a line stands; its decorators and defaults are not in it."""
        return self.owners[line] if 0 <= line < len(self.owners) else None


def outline_text(text: bytes) -> Outline:
    """Outline the text of a file."""
    try:
        with silence_warnings():
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Outline()
    count = text.count(b"\n") + 2
    outline = Outline([0] * count, [None] * count)
    pending: list[ast.stmt] = list(tree.body)
    while pending:
        pending += _outline_statement(outline, pending.pop())
    return outline


def _outline_statement(outline: Outline, statement: ast.stmt) -> Iterator[ast.stmt]:
    """Mark the lines of a statement, and give the statements inside, which mark theirs over it."""
    first, last = _first_line(statement), min(statement.end_lineno or statement.lineno, len(outline.statements) - 1)
    outline.statements[first : last + 1] = [first] * (last + 1 - first)
    if isinstance(statement, Definition | ast.ClassDef) and statement.decorator_list:
        outline.decorated.add(first)
    if isinstance(statement, Definition):
        name = first, statement.name
        body = _first_line(statement.body[0])
        outline.owners[body : last + 1] = [name] * (last + 1 - body)
        if isinstance(statement, ast.AsyncFunctionDef) or _has_yield(statement):
            outline.suspending.add(name)
    return _list_inside(statement)


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(each.lineno for each in decorators)])


def _list_inside(node: ast.AST) -> Iterator[ast.stmt]:
    """Give the statements directly inside, also those of except and case clauses."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, ast.ExceptHandler | ast.match_case):
            yield from _list_inside(child)


def _has_yield(function: Definition) -> bool:
    """Tell whether a function is a generator: it yields itself, not only what is defined in it."""
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, ast.Lambda | ast.ClassDef | Definition):
            pending += ast.iter_child_nodes(node)
    return False
