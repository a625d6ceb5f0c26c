"""Make code stand for itself: a function as its signature, a block with what it needs of the function around it.

A block alone reads names that nothing in it binds; where a prompt shows it so, these names come back in the answer. So
the function around it is shown too, but of that only its signature, what leads to the block, and the statements that
bind names that the block reads. All else is `...`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from textwrap import indent

from pkg.extract.syntax import is_string_statement, parse_code

Definition = ast.FunctionDef | ast.AsyncFunctionDef
_KEPT_DECORATORS = ("classmethod", "property", "staticmethod")  # they tell how it is called
_Assignment = ast.Assign | ast.AnnAssign
_LONGEST = 200
"""Characters of a statement that is shown for a name that it binds; a table may have thousands. Of a longer assignment
its names are shown."""
_HERE = "_the_block_stands_here_"


def make_signature(code: str, docstring: str = "") -> str | None:
    """Write the header of a function and the first line of its docstring; with a class goes its `__init__`.

    docstring: one that does not stand in the code. None for what is no definition, or no Python 3.
    """
    definition = _parse_definition(code)
    if definition is None:
        return None
    summary = _summarise(definition, docstring)
    if isinstance(definition, ast.ClassDef):
        starts = [each for each in definition.body if isinstance(each, Definition) and each.name == "__init__"]
        definition.body = [*summary, *(_cut_definition(each) for each in starts)] if starts else [*summary, _omit()]
        definition.decorator_list = []
    else:
        _cut_definition(definition, summary)
    return ast.unparse(ast.fix_missing_locations(definition))


def wrap_block(function: str, lines: tuple[int, int], block: str, docstring: str = "") -> str | None:
    """Write a block inside of what it needs of the function around it.

    function: its code, from its first line on. lines: the first and last line of the block in it, from 1. block: the
    code of the block, of which more may have been cut. None where the block is not found in the function, or what
    comes out is no Python 3.
    """
    definition = _parse_definition(function)
    if not isinstance(definition, Definition):
        return None
    summary = _summarise(definition, docstring)
    body = definition.body[1:] if is_string_statement(definition.body[0]) else definition.body
    if not body:
        return None
    slicer = _Slicer(*lines, set(re.findall(r"[^\W\d]\w*", block)))
    if not slicer.holds_block(body):
        return None
    _cut_definition(definition, [*summary, *slicer.cut_around(body)])
    whole = ast.unparse(ast.fix_missing_locations(definition))
    whole = re.sub(rf"^( *){_HERE}$", lambda found: indent(block.rstrip(), found[1]), whole, flags=re.MULTILINE)
    return whole if parse_code(whole) is not None else None


def _parse_definition(code: str) -> Definition | ast.ClassDef | None:
    tree = parse_code(code)
    found = tree.body[0] if tree is not None and tree.body else None
    return found if isinstance(found, Definition | ast.ClassDef) else None


def _summarise(definition: Definition | ast.ClassDef, docstring: str) -> list[ast.stmt]:
    """Give the first line of a docstring as a statement; nothing where there is none."""
    told = docstring or ast.get_docstring(definition) or ""
    line = next((line.strip() for line in told.splitlines() if line.strip()), "")
    return [ast.Expr(ast.Constant(line))] if line else []


def _cut_definition(definition: Definition, body: Sequence[ast.stmt] = ()) -> Definition:
    """Give a function another body, and take away decorators that do not tell how it is called."""
    definition.body = list(body) if body and not _is_summary(body) else [*body, _omit()]
    definition.decorator_list = [
        each for each in definition.decorator_list if isinstance(each, ast.Name) and each.id in _KEPT_DECORATORS
    ]
    return definition


def _is_summary(body: Sequence[ast.stmt]) -> bool:
    return len(body) == 1 and is_string_statement(body[0])


def _omit() -> ast.stmt:
    return ast.Expr(ast.Constant(...))


@dataclass(slots=True)
class _Slicer:
    """Cuts from the statements around a block what the block does not need."""

    first: int
    last: int
    needed: set[str] = field(default_factory=set)  # names that what is shown reads; each statement kept adds its own

    def holds_block(self, suite: Sequence[ast.stmt]) -> bool:
        """Tell whether the block is all of these statements, one of them, or inside of one."""
        return self._is_block(suite) or any(self._is_around(each) for each in suite)

    def cut_around(self, suite: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Put a mark in the place of the block, and cut what stands before and after it."""
        if self._is_block(suite):
            return [ast.Expr(ast.Name(_HERE))]
        place = next(number for number, each in enumerate(suite) if self._is_around(each))
        middle = self._enter(suite[place])
        return [*self._cut_before(suite[:place]), middle, *([_omit()] if suite[place + 1 :] else [])]

    def _is_block(self, suite: Sequence[ast.stmt]) -> bool:
        return (suite[0].lineno, suite[-1].end_lineno) == (self.first, self.last)

    def _is_around(self, statement: ast.stmt) -> bool:
        suites = list(_list_suites(statement))
        return bool(suites) and (self._is_block([statement]) or any(map(self.holds_block, suites)))

    def _enter(self, statement: ast.stmt) -> ast.stmt:
        """Go on inside of a statement; its suites that do not hold the block are cut whole."""
        if self._is_block([statement]):
            return ast.Expr(ast.Name(_HERE))
        for suite in _list_suites(statement):
            suite[:] = self.cut_around(suite) if self.holds_block(suite) else [_omit()]
        self.needed |= _list_header_names(statement)
        return statement

    def _cut_before(self, suite: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Cut statements, from the last one on, that bind nothing that is needed."""
        kept: list[ast.stmt] = []
        for statement in reversed(suite):
            if self._is_needed(statement):
                kept.append(self._reduce(statement))
            elif not kept or not _is_omission(kept[-1]):
                kept.append(_omit())
        return kept[::-1]

    def _is_needed(self, statement: ast.stmt) -> bool:
        if isinstance(statement, Definition | ast.ClassDef):
            return statement.name in self.needed
        if not _list_bound(statement) & self.needed:
            return False
        return any(_list_suites(statement)) or isinstance(statement, _Assignment) or not _is_long(statement)

    def _reduce(self, statement: ast.stmt) -> ast.stmt:
        """Cut what is inside of a statement that stays, and need what it reads."""
        if isinstance(statement, Definition | ast.ClassDef):
            statement.body, statement.decorator_list = [_omit()], []
            return statement
        if isinstance(statement, _Assignment) and _is_long(statement):
            statement.value = ast.Constant(...)
        for suite in _list_suites(statement):
            suite[:] = self._cut_before(suite)
        self.needed |= _list_header_names(statement)
        return statement


def _is_long(statement: ast.stmt) -> bool:
    return len(ast.unparse(statement)) > _LONGEST


def _list_suites(statement: ast.AST) -> Iterator[list[ast.stmt]]:
    """List the suites of a compound statement; what is inside of a function or class is not looked at."""
    if isinstance(statement, Definition | ast.ClassDef):
        return
    for name in ("body", "orelse", "finalbody"):
        if suite := getattr(statement, name, None):
            yield suite
    for name in ("handlers", "cases"):
        for each in getattr(statement, name, ()):
            yield each.body


def _walk_header(node: ast.AST) -> Iterator[ast.AST]:
    """Give a statement and what is in it, but for other statements."""
    yield node
    for each in ast.iter_child_nodes(node):
        if not isinstance(each, ast.stmt):
            yield from _walk_header(each)


def _list_header_names(statement: ast.stmt) -> set[str]:
    return {each.id for each in _walk_header(statement) if isinstance(each, ast.Name)}


def _list_bound(statement: ast.stmt) -> set[str]:
    """List the names that a statement binds, or one inside of it."""
    names = {each.id for each in ast.walk(statement) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    aliases = (each for each in ast.walk(statement) if isinstance(each, ast.alias))
    return names | {(each.asname or each.name).partition(".")[0] for each in aliases}


def _is_omission(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and statement.value.value is ...
    )
