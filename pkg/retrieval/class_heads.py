"""Show a class or module by its head: docstring, fields and statements, and of each definition the header alone.

What is not shown is a fold, a comment in its place that tells which lines of the file are not there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from pkg.extract.syntax import find_indent, parse_statements
from pkg.model import Label, Node
from pkg.retrieval.context import Lines
from pkg.retrieval.folds import name_fold

SHORT_CLASS = 30  # lines of a helper that are shown whole, about what a method of the same budget takes
MOST_LINES = 100  # of a head: a class of a hundred methods is not read for its list of methods
LONG_STATEMENT = 20  # lines: a table is known by its first ones
SHOWN_OF_LONG = 8
SHORTEST_FOLD = 2  # lines: a fold takes one itself

_Definition = ast.FunctionDef | ast.AsyncFunctionDef


class _Fold(NamedTuple):
    """Lines that are folded, and whether they are the whole of a body, for which a statement has to stand."""

    first: int
    last: int
    is_body: bool = False


class Folded(NamedTuple):
    """A node by its head, and the lines of the file that are folded in it."""

    node: Node
    folds: tuple[Lines, ...] = ()


def fold_helper(node: Node) -> Folded:
    """Show a long class by what its making needs, without its methods; any other helper as it is."""
    if node.label is not Label.CLASS or node.content.count("\n") < SHORT_CLASS:
        return Folded(node)
    return fold_definitions(node, with_headers=False)


def fold_definitions(node: Node, with_headers: bool = True) -> Folded:
    """Fold what the definitions inside of a class or module do, and all beyond a number of lines.

    with_headers: whether the headers of the definitions are shown.
    """
    lines = node.content.split("\n")
    folds = _limit(_join_folds(_find_folds(node, with_headers), lines), len(lines))
    first = node.start_line or 1
    told = tuple(Lines(first + fold.first, first + fold.last) for fold in folds)
    return Folded(replace(node, content="\n".join(_write(lines, folds, first))), told)


def _find_folds(node: Node, with_headers: bool) -> Iterator[_Fold]:
    """List what is folded, in lines of the content from 0 on; nothing where Python does not take it."""
    content = node.content.encode("utf-8", "replace")
    indent = find_indent(content, node.start_col)
    body = parse_statements(content, indent)
    first = 2 if indent else 1  # the line of the first statement, by the count of the parser
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
    """Give the first line of a statement, decorators included."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min(statement.lineno, *(each.lineno for each in decorators)) if decorators else statement.lineno


def _list_suites(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        if suite := getattr(statement, name, None):
            yield suite
    for each in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield each.body


def _join_folds(folds: Iterable[_Fold], lines: Sequence[str]) -> list[_Fold]:
    """Make one fold of those between which nothing but blank lines and comments stands."""
    joined: list[_Fold] = []
    for fold in folds:
        between = lines[joined[-1].last + 1 : fold.first] if joined else ["what comes first"]
        if all(not line.strip() or line.lstrip().startswith("#") for line in between):
            joined[-1] = joined[-1]._replace(last=fold.last)
        else:
            joined.append(fold)
    return joined


def _limit(folds: list[_Fold], count: int) -> list[_Fold]:
    """Fold all behind the last line that may be shown."""
    shown, line = 0, 0
    for number, fold in enumerate([*folds, _Fold(count, count)]):
        shown += fold.first - line
        if shown > MOST_LINES:
            return [*folds[:number], _Fold(fold.first - (shown - MOST_LINES), count - 1)]
        shown, line = shown + 1, fold.last + 1
    return folds


def _write(lines: Sequence[str], folds: Sequence[_Fold], first: int) -> Iterator[str]:
    """Write the lines that are shown, and a fold in the place of the others."""
    line = 0
    for fold in folds:
        yield from lines[line : fold.first]
        hidden = lines[fold.first]
        margin = hidden[: len(hidden) - len(hidden.lstrip())]
        stands = "pass  " if fold.is_body else ""
        yield f"{margin}{stands}{name_fold(first + fold.first, first + fold.last)}"
        line = fold.last + 1
    yield from lines[line:]
