"""Find the statements of a module that its definitions depend on: imports, constants, code that fills a table."""

from __future__ import annotations

import ast
import builtins
import symtable
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

from pkg.errors import shorten
from pkg.extract.syntax import list_read_globals, silence_warnings, walk_tables
from pkg.rerank.parsed_question import Definition, is_test

_BUILT_IN = frozenset(dir(builtins))
_EXITS = ("exit", "_exit", "quit")
MAX_STATEMENTS = 1000  # of a module; no answer of a model has that many
MAX_SHOWN = 60  # characters of a quoted line


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


class Driver(NamedTuple):
    """Driver code of an answer, and the code without it."""

    line: str  # description of its first line
    code_without: str


def _name(node: ast.expr | None) -> str:
    """Return the last name of a callee or expression."""
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def find_driver(code: str, tree: ast.Module, entry: str | None) -> Driver | None:
    """Find the driver code: input, tests, prints, a loop, a server (U-15); None if there is none, or nothing else.

    Driver code may fail, wait for input or never end, which says nothing about the definitions.
    """
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
