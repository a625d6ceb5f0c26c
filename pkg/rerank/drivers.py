"""Tell what an answer defines from what it does with it below: reading input, own tests, prints, a loop, a server.

What is wanted is the definitions. Lines that only use them may fail, wait for a person or never end where nobody asked
for them, and say nothing about what they use (U-15).
"""

from __future__ import annotations

import ast
from itertools import takewhile
from typing import NamedTuple

from pkg.errors import shorten
from pkg.rerank.needed_parts import Part, keep_needed, list_lines, read_part
from pkg.rerank.wanted import Definition, is_test

_EXITS = ("exit", "_exit", "quit")
MOST_STATEMENTS = 1000  # of a module that is looked at; no answer of a model has so many
LONGEST = 60  # characters of a line that is named


class Driver(NamedTuple):
    """The lines of an answer that use what it defines, and the code without them."""

    line: str  # the first one, as it is told
    bare: str


def _name(node: ast.expr | None) -> str:
    """Give the name of what is called or built upon, without the module before it."""
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def find_driver(code: str, tree: ast.Module, entry: str | None) -> Driver | None:
    """Find the lines of code that only use what is wanted; None where there are none, or nothing else."""
    if len(tree.body) > MOST_STATEMENTS or not any(map(_acts, tree.body)):
        return None
    try:
        parts = [read_part(each) for each in tree.body]
    except RecursionError:  # a statement that is too deep to be written out
        return None
    wanted = _list_wanted(parts, entry)
    kept = keep_needed(parts, wanted)
    others = [each for each in parts if each not in kept]
    last = max((each.statement.lineno for each in kept), default=0)
    useless = [each for each in others if _is_useless(each, wanted, last)]
    acting = [each for each in others if _acts(each.statement) or each in useless]
    if not wanted or not acting or _ends_before(parts, wanted):
        return None
    left = _list_left(others, kept, useless)
    line = acting[0].statement.lineno
    shown = shorten(code.split("\n")[line - 1].strip(), LONGEST)
    return Driver(f"line {line}: {shown}", _write(code, tree, [each.statement for each in left]))


def _list_wanted(parts: list[Part], entry: str | None) -> frozenset[str]:
    """Name what is wanted: the entry, or where it is not known or not there every definition that tries no other."""
    if entry and any(entry in each.binds and not each.is_import for each in parts):
        return frozenset((entry,))
    definitions = [each.statement for each in parts if isinstance(each.statement, Definition)]
    return frozenset(each.name for each in definitions if not is_test(each) or all(map(is_test, definitions)))


def _is_useless(part: Part, wanted: frozenset[str], last: int) -> bool:
    """Tell whether an import brings what is defined here, or no known name below what is needed."""
    return part.is_import and (bool(part.binds & wanted) or (not part.binds and part.statement.lineno > last))


def _ends_before(parts: list[Part], wanted: frozenset[str]) -> bool:
    """Tell whether the code ends itself above what is wanted: that is not defined then, whoever runs it."""
    above = [each.statement for each in takewhile(lambda each: not each.binds & wanted, parts)]
    return any(isinstance(each, ast.Raise) or _name(getattr(each, "value", None)) in _EXITS for each in above)


def _acts(statement: ast.stmt) -> bool:
    """Tell whether a statement does something when the code is loaded, but for binding a name to plain data."""
    if isinstance(statement, Definition):
        return is_test(statement) and bool(statement.decorator_list)
    if isinstance(statement, ast.Import | ast.ImportFrom | ast.Pass):
        return False
    if isinstance(statement, ast.If) and "__name__" in {getattr(each, "id", "") for each in ast.walk(statement.test)}:
        return False
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return False
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        return statement.value is not None and any(isinstance(node, ast.Call) for node in ast.walk(statement.value))
    return True


def _list_left(others: list[Part], kept: list[Part], useless: list[Part]) -> list[Part]:
    """List what is left out: the drivers, and the tests and imports that only they need."""
    left = [each for each in others if _is_driver(each.statement) or each in useless]
    needed = frozenset(name for each in kept for name in each.reads)
    read = frozenset(name for each in left for name in each.reads) - needed
    imports = [each for each in others if each.is_import and each.binds and each.binds <= read and each not in left]
    gone = frozenset(name for each in (*left, *imports) for name in each.binds)
    left += [each for each in others if each.is_definition and each not in left and _reads_now(each.statement) & gone]
    staying = [each for each in others if each.is_definition and each not in left]
    still = frozenset(name for each in staying for name in each.reads)
    return [*left, *(each for each in imports if not each.binds & still)]


def _is_driver(statement: ast.stmt) -> bool:
    if isinstance(statement, Definition):
        return is_test(statement)
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return False
    return not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))


def _reads_now(definition: ast.stmt) -> frozenset[str]:
    """List the names that a definition reads when it is loaded: of its decorators, defaults, bases and class body."""
    now: list[ast.AST] = []
    if isinstance(definition, Definition):
        now += definition.decorator_list
    if isinstance(definition, ast.ClassDef):
        now += [*definition.bases, *(each for each in definition.body if not isinstance(each, Definition))]
    elif isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef):
        now += [definition.args, *([definition.returns] if definition.returns else [])]
    return frozenset(node.id for root in now for node in ast.walk(root) if isinstance(node, ast.Name))


def _write(code: str, tree: ast.Module, left: list[ast.stmt]) -> str:
    """Write the code without some of its statements; the lines of the others stay as they are."""
    rest = [each for each in tree.body if each not in left]
    gone = {line for each in left for line in list_lines(each)}
    if any(line in gone for each in rest for line in list_lines(each)):  # two statements on one line
        return "\n\n".join(map(ast.unparse, rest))
    return "\n".join(line for number, line in enumerate(code.split("\n"), 1) if number not in gone).strip("\n")
