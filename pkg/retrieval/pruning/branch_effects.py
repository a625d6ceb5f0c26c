"""Find the effects of a branch on the code around it: bound names, exits, and possible changes of objects.

The effects of a call are unknown. A call that is a statement is there for its effects, and a method whose result is
used may have effects too; exceptions are calls whose name says that they only inspect, such as `isinstance` or
`x.is_open()`, create an object, such as `Point(1, 2)`, or only report, such as `print` and `log.warning`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

Definition = ast.FunctionDef | ast.AsyncFunctionDef
_NAMED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler | ast.MatchAs | ast.MatchStar
Loop = ast.For | ast.AsyncFor | ast.While
_WAITING = ast.Await | ast.AsyncFor | ast.AsyncWith  # other code runs meanwhile

_LOOKING = re.compile(
    r"(abs|all|any|ascii|bin|bool|bytes|callable|chr|complex|dict|divmod|enumerate|filter|float|format|frozenset"
    r"|getattr|hasattr|hash|hex|id|int|isinstance|issubclass|len|list|map|max|min|oct|ord|pow|range|repr|reversed|round"
    r"|set|sorted|str|sum|super|tuple|type|zip"
    r"|capitalize|copy|count|decode|encode|endswith|find|fullmatch|get|index|items|join|keys|lower|lstrip|match|replace"
    r"|rfind|rsplit|rstrip|search|split|splitlines|startswith|strip|title|upper|values)$"
    r"|_*(is|has|can|should|get|find|count|len|as|to)(_|[A-Z])|_*is[a-z]+$"
)
_REPORTING = re.compile(
    r"_*(print|pprint|echo|secho|warn\w*|log\w*|debug|info|error|exception|critical|trace|verbose|notice)$"
)
_MAKING = re.compile(r"_*[A-Z]")
_TAKING = re.compile(r"next$|heap|pop|read|recv|shuffle|insort")  # functions that change their arguments
_LEAVING = re.compile(r"_*(exit|abort|quit|fail|skip)$")


@dataclass(slots=True)
class Effects:
    """Effects of a branch on its function."""

    bound: set[str] = field(default_factory=set)  # names that it binds or deletes
    called: set[str] = field(default_factory=set)  # plain functions that may change local names, if they are local
    consumed: set[str] = field(default_factory=set)  # names that one of its loops iterates over
    holds_error: bool = False
    must_stay: str = ""  # reason why the branch must stay, in words


def find_effects(branch: ast.stmt) -> Effects:
    """Return the effects of the statements of a branch."""
    effects = Effects()
    _collect(branch, effects, in_loop=False)
    return effects


def _collect(node: ast.AST, effects: Effects, in_loop: bool) -> None:
    """Collect the effects of a node and its children; the body of a lambda acts only when it is called."""
    effects.must_stay = effects.must_stay or _name_reason(node, in_loop)
    effects.holds_error |= isinstance(node, ast.Raise | ast.Assert)
    effects.bound |= set(list_bound(node))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        effects.called.add(node.func.id)
    if isinstance(node, ast.For) and isinstance(node.iter, ast.Name):
        effects.consumed.add(node.iter.id)
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        children = [*node.exc.args, *node.exc.keywords]  # the construction of an error has no effects
    else:
        children = [] if isinstance(node, ast.Lambda) else list(ast.iter_child_nodes(node))
    for child in children:
        _collect(child, effects, in_loop or (isinstance(node, Loop) and child in node.body))


def _name_reason(node: ast.AST, in_loop: bool) -> str:
    """Return why one node prevents the removal of a branch; "" if it does not."""
    if isinstance(node, ast.Return):
        return "it returns"
    if isinstance(node, ast.Yield | ast.YieldFrom | _WAITING):
        return "it yields or waits"
    if isinstance(node, ast.Break | ast.Continue) and not in_loop:
        return "it ends a step of the loop around it"
    if isinstance(node, ast.Global | ast.Nonlocal):
        return "it binds a name of an outer scope"
    if isinstance(node, Definition | ast.ClassDef):
        return f"it defines `{node.name}`"
    if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return f"it changes `{ast.unparse(node)}`"
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and not _reports(node.value):
        return f"it calls `{ast.unparse(node.value.func)}`"
    if isinstance(node, ast.Call) and may_change(node):
        return f"it calls `{ast.unparse(node.func)}`"
    return ""


def may_change(call: ast.Call) -> bool:
    """Return whether a call whose result is used may still have effects, judging by its name."""
    if isinstance(call.func, ast.Name):
        name = call.func.id
        return bool(_TAKING.match(name) or _LEAVING.match(name))
    return not is_harmless(find_called_name(call))


def _reports(call: ast.Call) -> bool:
    return bool(_REPORTING.match(find_called_name(call)))


def is_harmless(name: str) -> bool:
    """Return whether a callable only inspects, creates or reports, judging by its name."""
    return any(pattern.match(name) for pattern in (_LOOKING, _MAKING, _REPORTING))


def find_called_name(call: ast.Call) -> str:
    """Return the last name of the called expression; "" without one."""
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def list_bound(node: ast.AST) -> Iterator[str]:
    """List the names that a node itself binds or deletes, without its children."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, _NAMED) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest
    elif isinstance(node, ast.alias):
        yield (node.asname or node.name).partition(".")[0]
