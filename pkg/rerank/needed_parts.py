"""Find the statements of a module on which some of its definitions stand: imports, constants, what fills a table."""

from __future__ import annotations

import ast
import builtins
import symtable
from dataclasses import dataclass

from pkg.extract.syntax import list_read_globals, silence_warnings, walk_tables
from pkg.rerank.wanted import Definition

_BUILT_IN = frozenset(dir(builtins))


@dataclass(frozen=True, slots=True)
class Part:
    """One statement of a module, with the names that it reads and binds."""

    statement: ast.stmt
    reads: frozenset[str]
    binds: frozenset[str]

    @property
    def is_import(self) -> bool:
        """Tell whether it is an import."""
        return isinstance(self.statement, ast.Import | ast.ImportFrom)

    @property
    def is_definition(self) -> bool:
        """Tell whether it is a function or a class."""
        return isinstance(self.statement, Definition)


def read_part(statement: ast.stmt) -> Part:
    """Find the names of a statement; a RecursionError says that it is too deep to be written out."""
    with silence_warnings():
        table = symtable.symtable(ast.unparse(ast.Module([statement], [])), "<candidate>", "exec")
    symbols = table.get_symbols()
    binds = {each.get_name() for each in symbols if each.is_assigned() or each.is_imported() or each.is_namespace()}
    for inner in walk_tables(table):
        binds |= {each.get_name() for each in inner.get_symbols() if each.is_declared_global() and each.is_assigned()}
    return Part(statement, list_read_globals(table), frozenset(binds))


def keep_needed(parts: list[Part], wanted: frozenset[str]) -> list[Part]:
    """Keep what the wanted names stand on: what binds those that are read, and what fills an object that is read."""
    needed, kept = wanted, list[Part]()
    waiting = _leave_rebinding(parts, wanted)
    while True:
        fillers = _list_fillers(parts, needed)
        more = [
            each
            for each in waiting
            if each.binds & needed
            or (not each.is_definition and _fills(each.statement, needed))
            or _calls(each.statement, fillers)
        ]
        if not more:
            return kept
        kept += more
        waiting = [each for each in waiting if each not in more]
        needed |= frozenset(name for each in more for name in each.reads)


def _leave_rebinding(parts: list[Part], wanted: frozenset[str]) -> list[Part]:
    """Leave out what spoils a definition above: `area = area(2, 3)`, `from area import area`, `sum = 0`."""
    defined = frozenset(name for each in parts if each.is_definition for name in each.binds & wanted)
    places = [place for place, each in enumerate(parts) if each.binds & defined]
    first = min(places, default=len(parts))
    return [each for place, each in enumerate(parts) if place <= first or not _rebinds(each, defined)]


def _rebinds(part: Part, defined: frozenset[str]) -> bool:
    if part.is_definition or not part.binds:
        return False
    if isinstance(part.statement, ast.Delete):
        return True
    value = getattr(part.statement, "value", None)
    is_result = isinstance(value, ast.Call) and getattr(value.func, "id", "") in defined
    return (bool(part.binds & defined) and (part.is_import or is_result)) or part.binds <= _BUILT_IN


def _list_fillers(parts: list[Part], needed: frozenset[str]) -> frozenset[str]:
    """Name the functions that bind a global name which is needed, or change its object."""
    functions = [(each.statement, each.binds) for each in parts if isinstance(each.statement, ast.FunctionDef)]
    return frozenset(each.name for each, binds in functions if (binds - {each.name}) & needed or _fills(each, needed))


def _fills(statement: ast.stmt, needed: frozenset[str]) -> bool:
    """Tell whether a statement changes an object of a needed name: `table[i] = 1`, `names.append(x)`."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            if _find_root(node) in needed:
                return True
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            function = node.value.func
            if isinstance(function, ast.Attribute) and _changes(function, needed):
                return True
    return False


def _changes(method: ast.Attribute, needed: frozenset[str]) -> bool:
    """Tell whether a call of a method may change what is needed; of modules only the limits that they set."""
    if method.attr == "setrecursionlimit":
        return True
    return method.attr in _CHANGING and _find_root(method) in needed


_CHANGING = frozenset(("append", "extend", "add", "update", "insert", "setdefault", "seed", "sort", "reverse"))


def _find_root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _calls(statement: ast.stmt, fillers: frozenset[str]) -> bool:
    """Tell whether a statement is a call of a function that binds global names which are needed."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in fillers


def list_lines(statement: ast.stmt) -> range:
    """List the lines of a statement, its decorators among them."""
    decorators = statement.decorator_list if isinstance(statement, Definition) else []
    first = min((each.lineno for each in decorators), default=statement.lineno)
    return range(min(first, statement.lineno), (statement.end_lineno or statement.lineno) + 1)
