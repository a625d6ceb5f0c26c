"""Separate the definitions of an answer from its driver code, which uses them: input, tests, prints, a loop, a server.

Driver code may fail, wait for input or never end, which says nothing about the definitions (U-15).
"""

from __future__ import annotations

import ast
from itertools import takewhile
from typing import NamedTuple

from pkg.errors import shorten
from pkg.rerank.parsed_question import Definition, is_test
from pkg.rerank.statement_dependencies import ModuleStatement, list_lines, read_statement, select_dependencies

_EXITS = ("exit", "_exit", "quit")
MAX_STATEMENTS = 1000  # of a module; no answer of a model has that many
MAX_SHOWN = 60  # characters of a quoted line


class Driver(NamedTuple):
    """Driver code of an answer, and the code without it."""

    line: str  # description of its first line
    code_without: str


def _name(node: ast.expr | None) -> str:
    """Return the last name of a callee or expression."""
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def find_driver(code: str, tree: ast.Module, entry: str | None) -> Driver | None:
    """Find the driver code; None if there is none, or nothing else."""
    if len(tree.body) > MAX_STATEMENTS or not any(map(_has_effect, tree.body)):
        return None
    try:
        statements = [read_statement(each) for each in tree.body]
    except RecursionError:  # a statement that is nested too deeply for ast.unparse
        return None
    required = _list_required(statements, entry)
    kept = select_dependencies(statements, required)
    others = [each for each in statements if each not in kept]
    last = max((each.node.lineno for each in kept), default=0)
    useless = [each for each in others if _is_useless(each, required, last)]
    acting = [each for each in others if _has_effect(each.node) or each in useless]
    if not required or not acting or _exits_before(statements, required):
        return None
    removed = _list_removed(others, kept, useless)
    line = acting[0].node.lineno
    shown = shorten(code.split("\n")[line - 1].strip(), MAX_SHOWN)
    return Driver(f"line {line}: {shown}", _remove_nodes(code, tree, [each.node for each in removed]))


def _list_required(statements: list[ModuleStatement], entry: str | None) -> frozenset[str]:
    """Return the required names: the entry point, or if it is unknown or missing all definitions that are not tests."""
    if entry and any(entry in each.binds and not each.is_import for each in statements):
        return frozenset((entry,))
    definitions = [each.node for each in statements if isinstance(each.node, Definition)]
    return frozenset(each.name for each in definitions if not is_test(each) or all(map(is_test, definitions)))


def _is_useless(statement: ModuleStatement, required: frozenset[str], last: int) -> bool:
    """Return whether an import rebinds a required name, or is a star import below the needed statements."""
    return statement.is_import and (
        bool(statement.binds & required) or (not statement.binds and statement.node.lineno > last)
    )


def _exits_before(statements: list[ModuleStatement], required: frozenset[str]) -> bool:
    """Return whether the code exits before it defines the required names."""
    above = [each.node for each in takewhile(lambda each: not each.binds & required, statements)]
    return any(isinstance(each, ast.Raise) or _name(getattr(each, "value", None)) in _EXITS for each in above)


def _has_effect(node: ast.stmt) -> bool:
    """Return whether loading a statement has an effect other than binding a name to plain data."""
    if isinstance(node, Definition):
        return is_test(node) and bool(node.decorator_list)
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Pass):
        return False
    if isinstance(node, ast.If) and "__name__" in {getattr(each, "id", "") for each in ast.walk(node.test)}:
        return False
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return False
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return node.value is not None and any(isinstance(each, ast.Call) for each in ast.walk(node.value))
    return True


def _list_removed(
    others: list[ModuleStatement], kept: list[ModuleStatement], useless: list[ModuleStatement]
) -> list[ModuleStatement]:
    """List the statements to remove: the driver code, and the tests and imports that only it needs."""
    removed = [each for each in others if _is_driver(each.node) or each in useless]
    needed = frozenset(name for each in kept for name in each.reads)
    read = frozenset(name for each in removed for name in each.reads) - needed
    imports = [each for each in others if each.is_import and each.binds and each.binds <= read and each not in removed]
    gone = frozenset(name for each in (*removed, *imports) for name in each.binds)
    removed += [each for each in others if each.is_definition and each not in removed and _reads_now(each.node) & gone]
    staying = [each for each in others if each.is_definition and each not in removed]
    still = frozenset(name for each in staying for name in each.reads)
    return [*removed, *(each for each in imports if not each.binds & still)]


def _is_driver(node: ast.stmt) -> bool:
    if isinstance(node, Definition):
        return is_test(node)
    if isinstance(node, ast.Import | ast.ImportFrom):
        return False
    return not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _reads_now(definition: ast.stmt) -> frozenset[str]:
    """Return the names that loading a definition reads: in its decorators, defaults, bases and class body."""
    now: list[ast.AST] = []
    if isinstance(definition, Definition):
        now += definition.decorator_list
    if isinstance(definition, ast.ClassDef):
        now += [*definition.bases, *(each for each in definition.body if not isinstance(each, Definition))]
    elif isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef):
        now += [definition.args, *([definition.returns] if definition.returns else [])]
    return frozenset(node.id for root in now for node in ast.walk(root) if isinstance(node, ast.Name))


def _remove_nodes(code: str, tree: ast.Module, removed: list[ast.stmt]) -> str:
    """Return the code without some of its statements; the lines of the others are unchanged."""
    rest = [each for each in tree.body if each not in removed]
    gone = {line for each in removed for line in list_lines(each)}
    if any(line in gone for each in rest for line in list_lines(each)):  # two statements on one line
        return "\n\n".join(map(ast.unparse, rest))
    return "\n".join(line for number, line in enumerate(code.split("\n"), 1) if number not in gone).strip("\n")
