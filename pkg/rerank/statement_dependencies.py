"""Find the statements of a module that its definitions depend on: imports, constants, code that fills a table."""

from __future__ import annotations

import ast
import builtins
import symtable
from dataclasses import dataclass

from pkg.extract.syntax import list_read_globals, silence_warnings, walk_tables
from pkg.rerank.parsed_question import Definition

_BUILT_IN = frozenset(dir(builtins))


@dataclass(frozen=True, slots=True)
class ModuleStatement:
    """Statement of a module with the names that it reads and binds."""

    node: ast.stmt
    reads: frozenset[str]
    binds: frozenset[str]

    @property
    def is_import(self) -> bool:
        """Return whether the statement is an import."""
        return isinstance(self.node, ast.Import | ast.ImportFrom)

    @property
    def is_definition(self) -> bool:
        """Return whether the statement defines a function or a class."""
        return isinstance(self.node, Definition)


def read_statement(node: ast.stmt) -> ModuleStatement:
    """Find the names of a statement; raises a RecursionError if it is nested too deeply for ast.unparse."""
    with silence_warnings():
        table = symtable.symtable(ast.unparse(ast.Module([node], [])), "<candidate>", "exec")
    symbols = table.get_symbols()
    binds = {each.get_name() for each in symbols if each.is_assigned() or each.is_imported() or each.is_namespace()}
    for inner in walk_tables(table):
        binds |= {each.get_name() for each in inner.get_symbols() if each.is_declared_global() and each.is_assigned()}
    return ModuleStatement(node, list_read_globals(table), frozenset(binds))


def select_dependencies(statements: list[ModuleStatement], required: frozenset[str]) -> list[ModuleStatement]:
    """Select the statements that the required names depend on, including those that mutate an object that is read."""
    needed, kept = required, list[ModuleStatement]()
    waiting = _drop_rebinding(statements, required)
    while True:
        mutators = _list_mutators(statements, needed)
        more = [
            each
            for each in waiting
            if each.binds & needed
            or (not each.is_definition and _mutates(each.node, needed))
            or _calls_any(each.node, mutators)
        ]
        if not more:
            return kept
        kept += more
        waiting = [each for each in waiting if each not in more]
        needed |= frozenset(name for each in more for name in each.reads)


def _drop_rebinding(statements: list[ModuleStatement], required: frozenset[str]) -> list[ModuleStatement]:
    """Drop statements that overwrite a definition above: `area = area(2, 3)`, `from area import area`, `sum = 0`."""
    defined = frozenset(name for each in statements if each.is_definition for name in each.binds & required)
    indices = [index for index, each in enumerate(statements) if each.binds & defined]
    first = min(indices, default=len(statements))
    return [each for index, each in enumerate(statements) if index <= first or not _rebinds(each, defined)]


def _rebinds(statement: ModuleStatement, defined: frozenset[str]) -> bool:
    if statement.is_definition or not statement.binds:
        return False
    if isinstance(statement.node, ast.Delete):
        return True
    value = getattr(statement.node, "value", None)
    is_result = isinstance(value, ast.Call) and getattr(value.func, "id", "") in defined
    return (bool(statement.binds & defined) and (statement.is_import or is_result)) or statement.binds <= _BUILT_IN


def _list_mutators(statements: list[ModuleStatement], needed: frozenset[str]) -> frozenset[str]:
    """Return the names of functions that bind a needed global name or mutate its object."""
    functions = [(each.node, each.binds) for each in statements if isinstance(each.node, ast.FunctionDef)]
    return frozenset(each.name for each, binds in functions if (binds - {each.name}) & needed or _mutates(each, needed))


def _mutates(node: ast.stmt, needed: frozenset[str]) -> bool:
    """Return whether a statement mutates the object of a needed name: `table[i] = 1`, `names.append(x)`."""
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute | ast.Subscript) and isinstance(each.ctx, ast.Store):
            if _find_root(each) in needed:
                return True
        elif isinstance(each, ast.Expr) and isinstance(each.value, ast.Call):
            function = each.value.func
            if isinstance(function, ast.Attribute) and _is_mutating_call(function, needed):
                return True
    return False


def _is_mutating_call(method: ast.Attribute, needed: frozenset[str]) -> bool:
    """Return whether a method call may mutate a needed object or set the recursion limit."""
    if method.attr == "setrecursionlimit":
        return True
    return method.attr in _MUTATING and _find_root(method) in needed


_MUTATING = frozenset(("append", "extend", "add", "update", "insert", "setdefault", "seed", "sort", "reverse"))


def _find_root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _calls_any(node: ast.stmt, mutators: frozenset[str]) -> bool:
    """Return whether a statement calls one of the functions that mutate needed objects."""
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in mutators


def list_lines(node: ast.stmt) -> range:
    """Return the line numbers of a statement, including its decorators."""
    decorators = node.decorator_list if isinstance(node, Definition) else []
    first = min((each.lineno for each in decorators), default=node.lineno)
    return range(min(first, node.lineno), (node.end_lineno or node.lineno) + 1)
