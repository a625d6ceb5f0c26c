"""Make self-contained code: a function as its signature, a block with the parts of its function that it needs.

A block alone reads names that it does not bind; a model that is shown such a block uses these names in its answer. So
the block is shown inside its function, reduced to the signature, the statements that enclose the block, and those that
bind names it reads. The rest is `...`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from textwrap import indent

from pkg.extract.syntax import is_string_statement, parse_code

Definition = ast.FunctionDef | ast.AsyncFunctionDef
_KEPT_DECORATORS = ("classmethod", "property", "staticmethod")  # they change the way it is called
_Assignment = ast.Assign | ast.AnnAssign
_LONGEST = 200
"""Most characters of a statement that is shown for the names it binds: a table may have thousands. Of a longer
assignment only the names are shown."""
_PLACEHOLDER = "_the_block_stands_here_"


def make_signature(code: str, docstring: str = "") -> str | None:
    """Write the header of a function and the first line of its docstring; of a class, also its `__init__`.

    docstring: used instead of the one in the code. None if the code is no definition in Python 3.
    """
    definition = _parse_definition(code)
    if definition is None:
        return None
    summary = _summarise(definition, docstring)
    if isinstance(definition, ast.ClassDef):
        inits = [each for each in definition.body if isinstance(each, Definition) and each.name == "__init__"]
        definition.body = [*summary, *(_replace_body(each) for each in inits)] if inits else [*summary, _omit()]
        definition.decorator_list = []
    else:
        _replace_body(definition, summary)
    return ast.unparse(ast.fix_missing_locations(definition))


def wrap_block(function: str, lines: tuple[int, int], block: str, docstring: str = "") -> str | None:
    """Write a block inside the parts of its function that it needs.

    function: its code. lines: the first and last line of the block in it, counted from 1. block: the code of the block,
    possibly pruned. None if the function has no such block, or the result is not valid Python 3.
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
    _replace_body(definition, [*summary, *slicer.cut_around(body)])
    whole = ast.unparse(ast.fix_missing_locations(definition))
    whole = re.sub(rf"^( *){_PLACEHOLDER}$", lambda found: indent(block.rstrip(), found[1]), whole, flags=re.MULTILINE)
    return whole if parse_code(whole) is not None else None


def _parse_definition(code: str) -> Definition | ast.ClassDef | None:
    tree = parse_code(code)
    found = tree.body[0] if tree is not None and tree.body else None
    return found if isinstance(found, Definition | ast.ClassDef) else None


def _summarise(definition: Definition | ast.ClassDef, docstring: str) -> list[ast.stmt]:
    """Return the first line of a docstring as a statement, or nothing."""
    docstring = docstring or ast.get_docstring(definition) or ""
    line = next((line.strip() for line in docstring.splitlines() if line.strip()), "")
    return [ast.Expr(ast.Constant(line))] if line else []


def _replace_body(definition: Definition, body: Sequence[ast.stmt] = ()) -> Definition:
    """Replace the body of a function, and remove decorators that do not change the way it is called."""
    is_summary = len(body) == 1 and is_string_statement(body[0])
    definition.body = list(body) if body and not is_summary else [*body, _omit()]
    definition.decorator_list = [
        each for each in definition.decorator_list if isinstance(each, ast.Name) and each.id in _KEPT_DECORATORS
    ]
    return definition


def _omit() -> ast.stmt:
    return ast.Expr(ast.Constant(...))


@dataclass(slots=True)
class _Slicer:
    """Cuts the statements around a block that the block does not need."""

    first: int
    last: int
    needed: set[str] = field(default_factory=set)  # names that the kept statements read

    def holds_block(self, suite: Sequence[ast.stmt]) -> bool:
        """Return whether the block is all of these statements, one of them, or inside one."""
        return self._is_block(suite) or any(self._is_around(each) for each in suite)

    def cut_around(self, suite: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Put a placeholder in the place of the block, and cut the statements before and after it."""
        if self._is_block(suite):
            return [ast.Expr(ast.Name(_PLACEHOLDER))]
        place = next(number for number, each in enumerate(suite) if self._is_around(each))
        middle = self._enter(suite[place])
        return [*self._cut_before(suite[:place]), middle, *([_omit()] if suite[place + 1 :] else [])]

    def _is_block(self, suite: Sequence[ast.stmt]) -> bool:
        return (suite[0].lineno, suite[-1].end_lineno) == (self.first, self.last)

    def _is_around(self, statement: ast.stmt) -> bool:
        suites = list(_list_suites(statement))
        return bool(suites) and (self._is_block([statement]) or any(map(self.holds_block, suites)))

    def _enter(self, statement: ast.stmt) -> ast.stmt:
        """Cut inside a statement around the block; suites without the block are cut whole."""
        if self._is_block([statement]):
            return ast.Expr(ast.Name(_PLACEHOLDER))
        for suite in _list_suites(statement):
            suite[:] = self.cut_around(suite) if self.holds_block(suite) else [_omit()]
        self.needed |= _list_header_names(statement)
        return statement

    def _cut_before(self, suite: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Cut the statements that bind no needed name, from the last one on."""
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
        """Cut the inside of a kept statement, and add the names that it reads to the needed ones."""
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
    """Yield the suites of a compound statement, except functions and classes."""
    if isinstance(statement, Definition | ast.ClassDef):
        return
    for name in ("body", "orelse", "finalbody"):
        if suite := getattr(statement, name, None):
            yield suite
    for name in ("handlers", "cases"):
        for each in getattr(statement, name, ()):
            yield each.body


def _walk_header(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a statement and its descendants, without nested statements."""
    yield node
    for each in ast.iter_child_nodes(node):
        if not isinstance(each, ast.stmt):
            yield from _walk_header(each)


def _list_header_names(statement: ast.stmt) -> set[str]:
    return {each.id for each in _walk_header(statement) if isinstance(each, ast.Name)}


def _list_bound(statement: ast.stmt) -> set[str]:
    """Return the names that a statement binds, including nested ones."""
    names = {each.id for each in ast.walk(statement) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    aliases = (each for each in ast.walk(statement) if isinstance(each, ast.alias))
    return names | {(each.asname or each.name).partition(".")[0] for each in aliases}


def _is_omission(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and statement.value.value is ...
    )
