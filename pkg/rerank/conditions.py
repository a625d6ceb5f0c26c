"""Split an expression into the parts that the candidate evaluates and the rest, which is evaluated outside the sandbox.

For `f(2) in (4, 5)` the candidate's process evaluates `f(2)` alone and returns the value as text;
pkg.rerank.decisions evaluates the rest.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pkg.rerank.examples.literals import is_value, parse_expression, parse_statements

CLOSE = {"isclose": (1e-9, 0.0), "allclose": (1e-5, 1e-8)}  # default relative and absolute tolerance

TYPES: dict[str, type] = {
    each.__name__: each for each in (bool, bytes, complex, dict, float, frozenset, int, list, set, str, tuple)
}
_FUNCTIONS = frozenset(
    (*CLOSE, "abs", "all", "any", "bool", "float", "int", "isinstance", "len", "max", "min", "round", "set", "sorted")
) | {"sum", "type"}
_MODULES = ("math", "np", "numpy")
_TEXT_METHODS = ("endswith", "isalnum", "isalpha", "isdigit", "islower", "isspace", "isupper", "startswith")
_METHODS = frozenset(
    (*_TEXT_METHODS, "count", "index", "is_integer", "isdisjoint", "issubset", "issuperset", "lower", "split", "strip")
) | {"upper"}
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
_KEYWORDS = frozenset(("rel_tol", "abs_tol", "rtol", "atol", "reverse"))


@dataclass(frozen=True, slots=True)
class SplitExpression:
    """An expression and the parts of it that the candidate evaluates."""

    request: str  # expression that the candidate evaluates: one part, or a tuple of several
    parts: tuple[str, ...]
    body: ast.expr
    names: frozenset[str]  # used in the expression and the lines before it
    entry: str | None
    bound: frozenset[str] = frozenset()  # names bound by the lines before the expression
    is_whole: bool = False  # the candidate evaluates the whole expression


@lru_cache(maxsize=1024)
def split_expression(source: str, entry: str | None = None, before: tuple[str, ...] = ()) -> SplitExpression:
    """Split an expression.

    entry: name of the entry point, which shadows a builtin of that name. before: lines that run before the expression;
    the names that they bind hold values of the candidate.
    """
    tree = parse_expression(source)
    body = tree if tree is not None else ast.Constant(None)
    bound, used = _list_names(before)
    names = used | {node.id for node in ast.walk(body) if isinstance(node, ast.Name)}
    whole = SplitExpression(request=source, parts=(), body=body, names=names, entry=entry, bound=bound, is_whole=True)
    if tree is None:
        return whole
    try:
        parts = tuple(dict.fromkeys(list_parts(body, Scope(entry, bound))))
        request = _join_parts(parts)
    except (ValueError, RecursionError):  # ast.unparse fails for a huge number or a deeply nested expression
        return whole
    if not parts or parts == (ast.unparse(body),):
        return whole
    return SplitExpression(request=request, parts=parts, body=body, names=names, entry=entry, bound=bound)


def _list_names(lines: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that lines bind, except by imports, and all names that they use."""
    nodes = [node for line in lines for each in parse_statements(line) or () for node in ast.walk(each)]
    names = [each for each in nodes if isinstance(each, ast.Name)]
    return (
        frozenset(each.id for each in names if isinstance(each.ctx, ast.Store)),
        frozenset(each.id for each in names),
    )


def write_line(line: str, entry: str | None, before: tuple[str, ...]) -> str:
    """Return the code that the candidate runs for a line of a script: of a condition only the requested parts."""
    return split_expression(line, entry, before).request


def _join_parts(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


@dataclass(frozen=True, slots=True)
class Scope:
    """Names that belong to the candidate."""

    entry: str | None
    bound: frozenset[str] = frozenset()

    def is_candidate_name(self, name: str) -> bool:
        """Return whether a name belongs to the candidate, even if it shadows a builtin."""
        return name in self.candidate_names

    @property
    def candidate_names(self) -> frozenset[str]:
        """Return all names that belong to the candidate."""
        return self.bound if self.entry is None else self.bound | {self.entry}

    def add_targets(self, comprehension: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Scope:
        """Return the scope inside a comprehension."""
        targets = [node for each in comprehension.generators for node in ast.walk(each.target)]
        return Scope(self.entry, self.bound | {node.id for node in targets if isinstance(node, ast.Name)})


def list_parts(node: ast.expr, scope: Scope) -> Iterator[str]:
    """Yield the source of each part that the candidate evaluates, from left to right."""
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        yield write_rows(node, scope)
        return
    children = list_children(node, scope)
    if children is None:
        yield ast.unparse(node)
        return
    for child in children:
        yield from list_parts(child, scope)


def write_rows(node: ast.ListComp | ast.SetComp | ast.GeneratorExp, scope: Scope) -> str:
    """Return a comprehension that evaluates the requested parts for each row."""
    parts = tuple(dict.fromkeys(list_parts(node.elt, scope.add_targets(node))))
    loops = " ".join(map(_write_loop, node.generators))
    return f"[{_join_parts(parts) if parts else '()'} {loops}]"


def _write_loop(loop: ast.comprehension) -> str:
    tests = "".join(f" if {ast.unparse(each)}" for each in loop.ifs)
    return f"{'async ' * loop.is_async}for {ast.unparse(loop.target)} in {ast.unparse(loop.iter)}{tests}"


def list_children(node: ast.expr, scope: Scope) -> list[ast.expr] | None:
    """List the operands of an expression that is evaluated outside; None for one that the candidate evaluates."""
    if is_value(node, scope.candidate_names):
        return []
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return None if any(isinstance(each, ast.Starred) for each in node.elts) else node.elts
    if isinstance(node, ast.UnaryOp):
        return None if isinstance(node.op, ast.Invert) else [node.operand]
    if isinstance(node, ast.BinOp):
        return [node.left, node.right] if isinstance(node.op, _ARITHMETIC) else None
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.IfExp):
        return [node.test, node.body, node.orelse]
    if isinstance(node, ast.Subscript):
        return [node.value, node.slice]
    if isinstance(node, ast.Slice):
        return [each for each in (node.lower, node.upper, node.step) if each is not None]
    if isinstance(node, ast.Name):
        return [] if node.id in TYPES and not scope.is_candidate_name(node.id) else None
    return _list_arguments(node, scope) if isinstance(node, ast.Call) else None


def _list_arguments(node: ast.Call, scope: Scope) -> list[ast.expr] | None:
    """List the operands of a call that can be made outside; None for any other call."""
    given = [*node.args, *(each.value for each in node.keywords)]
    if any(isinstance(each, ast.Starred) for each in given) or not {each.arg for each in node.keywords} <= _KEYWORDS:
        return None
    if isinstance(node.func, ast.Name):
        return given if node.func.id in _FUNCTIONS and not scope.is_candidate_name(node.func.id) else None
    if not isinstance(node.func, ast.Attribute):
        return None
    receiver = node.func.value
    if isinstance(receiver, ast.Name) and not scope.is_candidate_name(receiver.id):  # probably a module
        return given if receiver.id in _MODULES and node.func.attr in CLOSE else None
    return [receiver, *given] if node.func.attr in _METHODS else None
