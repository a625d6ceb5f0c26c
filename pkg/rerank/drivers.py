"""Tell what an answer defines from what it does with it below: reading input, own tests, prints, a loop, a server.

What is wanted is the definitions. Lines that only use them may fail, wait for a person or never end where nobody asked
for them, and say nothing about what they use.
"""

from __future__ import annotations

import ast
import builtins
import re
import symtable
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

from pkg.errors import shorten
from pkg.extract.syntax import list_read_globals, silence_warnings, walk_tables
from pkg.rerank.wanted import Definition

_TEST = re.compile(r"test_|Test|tests?$|run_tests?$|main$|demo$")
_BUILT_IN = frozenset(dir(builtins))
_EXITS = ("exit", "_exit", "quit")
LONGEST = 60  # characters of a line that is named


class Driver(NamedTuple):
    """The lines of an answer that use what it defines, and the code without them."""

    line: str  # the first one, as it is told
    bare: str


@dataclass(frozen=True, slots=True)
class _Part:
    """One statement of a module, with the names that it reads and binds."""

    statement: ast.stmt
    reads: frozenset[str]
    binds: frozenset[str]

    @property
    def is_import(self) -> bool:
        return isinstance(self.statement, ast.Import | ast.ImportFrom)

    @property
    def is_definition(self) -> bool:
        return isinstance(self.statement, Definition)


def is_test(definition: Definition) -> bool:
    """Tell whether a definition is there to try others, by its name or its base."""
    bases = definition.bases if isinstance(definition, ast.ClassDef) else []
    return bool(_TEST.match(definition.name)) or any(_name(each).endswith("TestCase") for each in bases)


def _name(node: ast.expr | None) -> str:
    """Give the name of what is called or built upon, without the module before it."""
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def find_driver(code: str, tree: ast.Module, entry: str | None) -> Driver | None:
    """Find the lines of code that only use what is wanted; None where there are none, or nothing else."""
    if not any(map(_acts, tree.body)):
        return None
    try:
        parts = [_read_part(each) for each in tree.body]
    except RecursionError:  # a statement that is too deep to be written out
        return None
    wanted = _list_wanted(parts, entry)
    kept = _keep_needed(parts, wanted)
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


def _read_part(statement: ast.stmt) -> _Part:
    with silence_warnings():
        table = symtable.symtable(ast.unparse(ast.Module([statement], [])), "<candidate>", "exec")
    symbols = table.get_symbols()
    binds = {each.get_name() for each in symbols if each.is_assigned() or each.is_imported() or each.is_namespace()}
    for inner in walk_tables(table):
        binds |= {each.get_name() for each in inner.get_symbols() if each.is_declared_global() and each.is_assigned()}
    return _Part(statement, list_read_globals(table), frozenset(binds))


def _list_wanted(parts: list[_Part], entry: str | None) -> frozenset[str]:
    """Name what is wanted: the entry, or where it is not known or not there every definition that tries no other."""
    if entry and any(entry in each.binds and not each.is_import for each in parts):
        return frozenset((entry,))
    definitions = [each.statement for each in parts if isinstance(each.statement, Definition)]
    return frozenset(each.name for each in definitions if not is_test(each) or all(map(is_test, definitions)))


def _keep_needed(parts: list[_Part], wanted: frozenset[str]) -> list[_Part]:
    """Keep what the wanted names stand on: what binds those that are read, and what fills an object that is read."""
    needed, kept = wanted, list[_Part]()
    waiting = _leave_rebinding(parts, wanted)
    while True:
        fillers = _list_fillers(parts, needed)
        more = [
            each
            for each in waiting
            if each.binds & needed or _fills(each.statement, needed) or _calls(each.statement, fillers)
        ]
        if not more:
            return kept
        kept += more
        waiting = [each for each in waiting if each not in more]
        needed |= frozenset(name for each in more for name in each.reads)


def _leave_rebinding(parts: list[_Part], wanted: frozenset[str]) -> list[_Part]:
    """Leave out what spoils a definition above: `area = area(2, 3)`, `from area import area`, `sum = 0`."""
    defined = frozenset(name for each in parts if each.is_definition for name in each.binds & wanted)
    places = [place for place, each in enumerate(parts) if each.binds & defined]
    first = min(places, default=len(parts))
    return [each for place, each in enumerate(parts) if place <= first or not _rebinds(each, defined)]


def _rebinds(part: _Part, defined: frozenset[str]) -> bool:
    if part.is_definition or not part.binds:
        return False
    value = getattr(part.statement, "value", None)
    is_result = isinstance(value, ast.Call) and getattr(value.func, "id", "") in defined
    return (bool(part.binds & defined) and (part.is_import or is_result)) or part.binds <= _BUILT_IN


def _list_fillers(parts: list[_Part], needed: frozenset[str]) -> frozenset[str]:
    """Name the functions that bind a global name which is needed."""
    definitions = [(each.statement, each.binds) for each in parts if isinstance(each.statement, Definition)]
    return frozenset(each.name for each, binds in definitions if (binds - {each.name}) & needed)


def _fills(statement: ast.stmt, needed: frozenset[str]) -> bool:
    """Tell whether a statement changes an object of a needed name: `table[i] = 1`, `names.append(x)`."""
    if isinstance(statement, Definition | ast.Import | ast.ImportFrom):
        return False
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


def _is_useless(part: _Part, wanted: frozenset[str], last: int) -> bool:
    """Tell whether an import brings what is defined here, or no known name below what is needed."""
    return part.is_import and (bool(part.binds & wanted) or (not part.binds and part.statement.lineno > last))


def _ends_before(parts: list[_Part], wanted: frozenset[str]) -> bool:
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


def _list_left(others: list[_Part], kept: list[_Part], useless: list[_Part]) -> list[_Part]:
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


def list_lines(statement: ast.stmt) -> range:
    """List the lines of a statement, its decorators among them."""
    decorators = statement.decorator_list if isinstance(statement, Definition) else []
    first = min((each.lineno for each in decorators), default=statement.lineno)
    return range(min(first, statement.lineno), (statement.end_lineno or statement.lineno) + 1)
