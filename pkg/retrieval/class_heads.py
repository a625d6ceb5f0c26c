"""Show a class or module by its head: docstring, fields and statements, and only the header of each definition.

Hidden lines are folded: a comment in their place gives their line numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from pkg.extract.syntax import find_indent, parse_statements
from pkg.model import Label, Node
from pkg.retrieval.context import Lines
from pkg.retrieval.folds import format_fold

SHORT_CLASS = 30  # lines of a helper that are shown whole, about the size of a method in the same budget
MAX_LINES = 100  # of a head: a class with a hundred methods is not read for its list of methods
LONG_STATEMENT = 20  # lines: the first ones identify a table
SHOWN_OF_LONG = 8
SHORTEST_FOLD = 2  # lines: a fold itself takes one

_Definition = ast.FunctionDef | ast.AsyncFunctionDef


class _Fold(NamedTuple):
    """Folded lines, and whether they are the whole of a body, which then needs a `pass`."""

    first: int
    last: int
    is_body: bool = False


class Folded(NamedTuple):
    """The head of a node, and the folded lines of the file."""

    node: Node
    folds: tuple[Lines, ...] = ()


def fold_helper(node: Node) -> Folded:
    """Reduce a long class to what its construction needs, without methods; return any other helper unchanged."""
    if node.label is not Label.CLASS or node.content.count("\n") < SHORT_CLASS:
        return Folded(node)
    return fold_definitions(node, with_headers=False)


def fold_definitions(node: Node, with_headers: bool = True) -> Folded:
    """Fold the bodies of definitions inside a class or module, and all lines beyond a limit.

    with_headers: whether the headers of the definitions are shown.
    """
    lines = node.content.split("\n")
    folds = _limit(_join_folds(_find_folds(node, with_headers), lines), len(lines))
    first = node.start_line or 1
    hidden = tuple(Lines(first + fold.first, first + fold.last) for fold in folds)
    return Folded(replace(node, content="\n".join(_write(lines, folds, first))), hidden)


def _find_folds(node: Node, with_headers: bool) -> Iterator[_Fold]:
    """Yield the folds, in lines of the content from 0; nothing where Python cannot parse it."""
    content = node.content.encode("utf-8", "replace")
    indent = find_indent(content, node.start_col)
    body = parse_statements(content, indent)
    first = 2 if indent else 1  # number of the first statement's line for the parser
    if node.label is Label.CLASS and body and isinstance(body[0], ast.ClassDef):
        body = body[0].body
    for fold in _fold_suite(body, with_headers):
        yield fold._replace(first=fold.first - first, last=fold.last - first)


def _fold_suite(suite: Sequence[ast.stmt], with_headers: bool) -> Iterator[_Fold]:
    for statement in suite:
        last = statement.end_lineno or statement.lineno
        if not with_headers and isinstance(statement, _Definition | ast.ClassDef):
            yield _Fold(_find_first_line(statement), last, is_body=statement is suite[0])
        elif isinstance(statement, _Definition):
            yield from _fold_lines(_find_first_line(statement.body[0]), last, is_body=True)
        elif suites := list(_list_suites(statement)):
            for each in suites:
                yield from _fold_suite(each, with_headers)
        elif last - statement.lineno >= LONG_STATEMENT:
            yield from _fold_lines(statement.lineno + SHOWN_OF_LONG, last - 1)


def _fold_lines(first: int, last: int, is_body: bool = False) -> Iterator[_Fold]:
    if last - first + 1 >= SHORTEST_FOLD:
        yield _Fold(first, last, is_body)


def _find_first_line(statement: ast.stmt) -> int:
    """Return the first line of a statement, decorators included."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min(statement.lineno, *(each.lineno for each in decorators)) if decorators else statement.lineno


def _list_suites(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        if suite := getattr(statement, name, None):
            yield suite
    for each in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield each.body


def _join_folds(folds: Iterable[_Fold], lines: Sequence[str]) -> list[_Fold]:
    """Merge folds separated only by blank lines and comments."""
    joined: list[_Fold] = []
    for fold in folds:
        between = lines[joined[-1].last + 1 : fold.first] if joined else ["what comes first"]
        if all(not line.strip() or line.lstrip().startswith("#") for line in between):
            joined[-1] = joined[-1]._replace(last=fold.last)
        else:
            joined.append(fold)
    return joined


def _limit(folds: list[_Fold], count: int) -> list[_Fold]:
    """Fold all lines after the last one that may be shown."""
    shown, line = 0, 0
    for number, fold in enumerate([*folds, _Fold(count, count)]):
        shown += fold.first - line
        if shown > MAX_LINES:
            return [*folds[:number], _Fold(fold.first - (shown - MAX_LINES), count - 1)]
        shown, line = shown + 1, fold.last + 1
    return folds


def _write(lines: Sequence[str], folds: Sequence[_Fold], first: int) -> Iterator[str]:
    """Yield the shown lines, and a comment in place of each fold."""
    line = 0
    for fold in folds:
        yield from lines[line : fold.first]
        hidden = lines[fold.first]
        margin = hidden[: len(hidden) - len(hidden.lstrip())]
        stands = "pass  " if fold.is_body else ""
        yield f"{margin}{stands}{format_fold(first + fold.first, first + fold.last)}"
        line = fold.last + 1
    yield from lines[line:]
