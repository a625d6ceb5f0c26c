"""Find the calls of a function that tests write out, such as `f(Pair(1, 2))` in an assert, and replace them.

Such a call can be evaluated as source in the process of the candidate, with the names that it defines; for other calls,
inside functions and loops, the values of the arguments are passed.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from pkg.lab.evaluation.code.inside_tests import ANSWER

_NAMING = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar
)  # fmt: skip


def rewrite_calls(tests: str, entry: str) -> str:
    """Replace each call of a function in top-level statements of tests by one that requests its result."""
    try:
        tree = ast.parse(tests)
    except (SyntaxError, ValueError):
        return tests
    bound = Counter(_list_bound(tree))
    if "*" in bound:  # a star import
        return tests
    rewriter = _Rewriter(entry, bound)
    tree.body = [rewriter.visit(each) if isinstance(each, ast.Assert | ast.Expr) else each for each in tree.body]
    return ast.unparse(ast.fix_missing_locations(tree)) if rewriter.is_changed else tests


def _list_bound(tree: ast.AST) -> Iterator[str]:
    """Yield the names that code binds, once for each binding; * for a star import."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield node.asname or node.name.partition(".")[0]
        elif isinstance(node, ast.MatchMapping):
            yield from filter(None, [node.rest])
        elif isinstance(node, _NAMING) and node.name:
            yield node.name


class _Rewriter(ast.NodeTransformer):
    """Replaces the outermost calls of a function whose arguments use no name that the tests bind."""

    def __init__(self, entry: str, bound: Counter[str]) -> None:
        self._entry, self._bound = entry, bound
        self.is_changed = False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Replace a call, or visit its parts."""
        used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        if isinstance(node.func, ast.Name) and node.func.id == self._entry and not used & self._list_outer(node):
            self.is_changed = True
            return ast.Call(ast.Name(ANSWER, ast.Load()), [ast.Constant(ast.unparse(node))], [])
        return self.generic_visit(node)

    def _list_outer(self, call: ast.Call) -> set[str]:
        """Return the names that the tests bind outside the call; a lambda inside it binds its own."""
        leaks = any(isinstance(each, ast.NamedExpr) for each in ast.walk(call))
        return set(self._bound if leaks else self._bound - Counter(_list_bound(call)))
