"""Find undefined names, which loading the definitions does not reveal (A-08)."""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Iterator

from pkg.extract.syntax import list_read_globals, silence_warnings, walk_tables

_GIVEN = frozenset((*dir(builtins), "__file__", "__builtins__", "__path__", "__annotations__", "__class__"))
_OPEN = frozenset(("exec", "eval", "globals", "vars", "locals", "setattr", "__import__"))
"""Names whose use may define other names, so that undefined names cannot be found."""


def find_undefined(code: str, tree: ast.Module) -> list[tuple[str, int]]:
    """List the names that are read but never bound with the line of their first use, in order of lines.

    Returns [] for code with a star import or names defined at run time. Ignores names guarded by `except NameError` and
    annotations that are not evaluated.
    """
    if any(_binds_unseen(node) for node in ast.walk(tree)):
        return []
    try:
        with silence_warnings():
            table = symtable.symtable(code, "<candidate>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    bound = _list_module_names(table) | _GIVEN
    missing = {name for name in list_read_globals(table) if name not in bound}
    return _find_uses(tree, missing) if missing else []


def _binds_unseen(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return any(alias.name == "*" for alias in node.names)
    return isinstance(node, ast.Name) and node.id in _OPEN


def _list_module_names(table: symtable.SymbolTable) -> set[str]:
    """Return the names that the module binds, directly or by `global` in a function."""
    names = {each.get_name() for each in table.get_symbols() if each.is_assigned() or each.is_imported()}
    names |= {each.get_name() for each in table.get_symbols() if each.is_namespace()}
    for inner in walk_tables(table):
        names |= {each.get_name() for each in inner.get_symbols() if each.is_declared_global() and each.is_assigned()}
    return names


def _find_uses(tree: ast.Module, missing: set[str]) -> list[tuple[str, int]]:
    found: dict[str, int] = {}
    for node in _walk_evaluated(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in missing:
            found[node.id] = min(node.lineno, found.get(node.id, node.lineno))
    return sorted(found.items(), key=lambda use: (use[1], use[0]))


def _walk_evaluated(tree: ast.Module) -> Iterator[ast.AST]:
    """Iterate over the evaluated nodes, without unevaluated annotations and guarded names."""
    is_postponed = any(isinstance(node, ast.ImportFrom) and _postpones_annotations(node) for node in tree.body)
    waiting: list[tuple[ast.AST, bool]] = [(tree, False)]
    while waiting:
        node, is_local = waiting.pop()
        yield node
        for name, child in ast.iter_fields(node):
            if name in ("annotation", "returns") and (is_postponed or (is_local and isinstance(node, ast.AnnAssign))):
                continue
            if name == "body" and isinstance(node, ast.Try) and any(map(_catches_names, node.handlers)):
                continue
            inside = _is_inside(node, is_local)
            children = child if isinstance(child, list) else [child]
            waiting += [(each, inside) for each in children if isinstance(each, ast.AST)]


def _postpones_annotations(statement: ast.ImportFrom) -> bool:
    return statement.module == "__future__" and any(alias.name == "annotations" for alias in statement.names)


def _is_inside(node: ast.AST, is_local: bool) -> bool:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return True
    return is_local and not isinstance(node, ast.ClassDef)


def _catches_names(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    return any(
        isinstance(node, ast.Name) and node.id in ("NameError", "Exception", "BaseException")
        for node in ast.walk(handler.type)
    )
