"""Find the calls of a function that tests spell out, such as `f(Pair(1, 2))` in an assert, and replace them.

Such a call can be done as it is written where the candidate runs, with what the candidate itself defines; all others,
inside of functions and loops, hand their values over.
"""

from __future__ import annotations

import ast

from pkg.evaluation.code.inside_tests import ANSWER


def rewrite_calls(tests: str, entry: str) -> str:
    """Replace each call of a function that statements of tests spell out by one that asks for its answer."""
    try:
        tree = ast.parse(tests)
    except (SyntaxError, ValueError):
        return tests
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    bound |= {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    rewriter = _Rewriter(entry, bound)
    tree.body = [rewriter.visit(each) if isinstance(each, ast.Assert | ast.Expr) else each for each in tree.body]
    return ast.unparse(ast.fix_missing_locations(tree)) if rewriter.is_changed else tests


class _Rewriter(ast.NodeTransformer):
    """Replaces the outermost calls of a function whose arguments use nothing that the tests bind."""

    def __init__(self, entry: str, bound: set[str]) -> None:
        self._entry, self._bound = entry, bound
        self.is_changed = False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Replace a call, or look inside of it."""
        used = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        if isinstance(node.func, ast.Name) and node.func.id == self._entry and not used & self._bound:
            self.is_changed = True
            return ast.Call(ast.Name(ANSWER, ast.Load()), [ast.Constant(ast.unparse(node))], [])
        return self.generic_visit(node)
