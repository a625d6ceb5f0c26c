"""Judge whether a branch of a function may be removed because the remaining code works without it (P-18).

A branch stays if other code reads a name that it binds; if it may change an object; if it returns, yields, or ends a
step of a loop around it; if all its paths end in an error, which is then the answer itself, or an error leaves a loop
or is caught; if no loop would be left; and if only `pass` would be left of a loop, `with`, `try` or definition. So
guards that refuse input, warnings and reports are removed.

Python's own parser is used where it can; in other texts, such as Python 2, little is known, and only guards and reports
are removed (`find_loose_objection`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from pkg.extract.syntax import is_string_statement, parse_piece
from pkg.model import Nested

if TYPE_CHECKING:
    from tree_sitter import Node


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
    """Return the effects of the statements of a branch on the code around it.

    Those of a call are unknown. A call that is a statement is there for its effects, and a method whose result is used
    may have effects too; exceptions are calls whose name says that they only inspect, such as `isinstance` or
    `x.is_open()`, create an object, such as `Point(1, 2)`, or only report, such as `print` and `log.warning`.
    """
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


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_TRIES = (ast.Try, getattr(ast, "TryStar", ast.Try))  # the second exists since Python 3.11
_ALL_NAMES = ("eval", "exec", "locals", "vars")  # they may read any name
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_HARMLESS = ("if", "raise", "print", "assert", "pass", "expression")  # statements
_HARMFUL = ("assignment", "augmented_assignment", "await", "lambda", "named_expression", "yield")
_CATCHING = ("while_statement", "try_statement", "with_statement")


class Surroundings(NamedTuple):
    """Text of the function that a text is or is part of, and the offset of the text in it."""

    text: bytes
    indent: bytes  # white space before the first line
    start: int = 0


def find_objection(around: Surroundings, branch: Nested, gone: Sequence[Nested] = ()) -> str:
    """Return why a branch must stay, in words; "" if the code works without it and the earlier cuts.

    Branches have byte offsets into the pruned text.
    """
    tree = parse_piece(around.text, around.indent)
    if tree is None:
        return find_loose_objection(around.text, around.start + branch.start)
    statements = _find_statements(around)
    found = statements.get(_find_place(around, branch))
    if found is None:
        return "its place is not known"
    cut = [inner for each in gone if (inner := statements.get(_find_place(around, each))) is not None]
    return _find_objection(tree, found, {id(each.node) for each in cut})


@dataclass(frozen=True, slots=True)
class Placed:
    """A statement with its owners, outermost first, and its suite."""

    node: ast.stmt
    owners: tuple[ast.AST, ...]
    suite: Sequence[ast.stmt]


def _find_place(around: Surroundings, branch: Nested) -> tuple[int, int]:
    """Return line and column, in bytes, of a branch's start for the parser."""
    start = around.start + branch.start
    line = around.text.rfind(b"\n", 0, start) + 1
    margin = len(around.indent) if line == 0 else 0
    return around.text.count(b"\n", 0, start) + 1 + bool(around.indent), start - line + margin


@lru_cache(maxsize=2)
def _find_statements(around: Surroundings) -> dict[tuple[int, int], Placed]:
    """Return the compound statements of a text by line and column."""
    tree = parse_piece(around.text, around.indent)
    assert tree is not None, "the caller has parsed it"
    found: dict[tuple[int, int], Placed] = {}
    waiting: list[tuple[ast.AST, tuple[ast.AST, ...]]] = [(tree, ())]
    while waiting:
        node, owners = waiting.pop()
        inside = (*owners, node)
        for _, value in ast.iter_fields(node):
            suite = value if isinstance(value, list) else []
            for each in suite:
                if isinstance(each, ast.stmt):
                    found.setdefault((each.lineno, each.col_offset), Placed(each, inside, suite))
                if isinstance(each, ast.stmt | ast.ExceptHandler | ast.match_case):
                    waiting.append((each, inside))
    return found


def _find_objection(tree: ast.Module, branch: Placed, gone: set[int]) -> str:
    effects = find_effects(branch.node)
    if effects.must_stay:
        return effects.must_stay
    if (fault := _judge_suite(branch, gone)) or (fault := _judge_error(branch, effects)):
        return fault
    without = gone | {id(branch.node)}
    function = next((owner for owner in branch.owners if isinstance(owner, Definition)), tree)
    has_loop = any(isinstance(node, Loop) for node in ast.walk(branch.node))
    if has_loop and not any(isinstance(node, Loop) for node in _walk(function, without)):
        return "no loop would be left"
    if effects.holds_error and not _has_result(function, without):
        return "nothing else gives a result"
    return _judge_names(_find_uses(function, without, branch), effects)


def _judge_names(uses: _Uses, effects: Effects) -> str:
    """Return an objection if other code depends on a name through the branch."""
    if effects.bound and (reader := next((name for name in _ALL_NAMES if name in uses.read), "")):
        return f"`{reader}` may read all names"
    for name in sorted(effects.bound & uses.read):
        return f"`{name}` is read elsewhere"
    for name in sorted(effects.called & uses.bound):
        return f"it calls `{name}`"
    for name in sorted(effects.consumed & uses.read):
        return f"it may use up `{name}`"
    return ""


def _judge_suite(branch: Placed, gone: set[int]) -> str:
    """Return an objection if a statement that needs its suite would lose it."""
    left = [
        each
        for each in branch.suite
        if each is not branch.node and id(each) not in gone and not is_string_statement(each)
        and not isinstance(each, ast.Pass)
    ]  # fmt: skip
    owner = branch.owners[-1]
    if left or isinstance(owner, ast.If | ast.ExceptHandler | ast.match_case):
        return ""
    return "its suite would be empty"


def _judge_error(branch: Placed, effects: Effects) -> str:
    """Return an objection if an error of the branch is more than a refusal of input."""
    if not effects.holds_error:
        return ""
    if _always_leaves([branch.node]):
        return "it always ends in an error"
    inner = branch.owners[_last_scope(branch.owners) :]
    for owner, child in zip(inner, (*inner[1:], branch.node), strict=True):
        if isinstance(owner, ast.While):
            return "an error of it may end a loop"
        if isinstance(owner, ast.ExceptHandler) or (isinstance(owner, _TRIES) and child in owner.body):
            return "an error of it is a way through a `try`"
        if isinstance(owner, ast.With) and any(_suppresses(item) for item in owner.items):
            return "an error of it is caught"
    return ""


def _last_scope(owners: Sequence[ast.AST]) -> int:
    return max((number for number, owner in enumerate(owners) if isinstance(owner, _SCOPES)), default=0)


def _suppresses(item: ast.withitem) -> bool:
    call = item.context_expr
    return isinstance(call, ast.Call) and find_called_name(call) in ("suppress", "raises", "assertRaises")


def _always_leaves(suite: Sequence[ast.stmt]) -> bool:
    """Return whether every path through statements ends in an error or a result."""
    for each in suite:
        if isinstance(each, ast.Raise | ast.Return):
            return True
        if isinstance(each, ast.If) and each.orelse and _always_leaves(each.body) and _always_leaves(each.orelse):
            return True
        if isinstance(each, ast.With | ast.AsyncWith) and _always_leaves(each.body):
            return True
    return False


def _has_result(function: ast.AST, without: set[int]) -> bool:
    """Return whether code still returns or raises anything, changes an object, or calls what may do so."""
    return any(
        isinstance(node, ast.Yield | ast.YieldFrom | ast.Raise | ast.Assert)
        or (isinstance(node, ast.Return) and node.value is not None)
        or (isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load))
        or (isinstance(node, ast.Call) and not is_harmless(find_called_name(node)))
        for node in _walk(function, without)
    )


def _walk(node: ast.AST, without: set[int]) -> Iterator[ast.AST]:
    """Iterate over a node and its descendants, except some statements."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if id(current) not in without:
            yield current
            waiting += ast.iter_child_nodes(current)


@dataclass(slots=True)
class _Uses:
    """Names that code reads and binds, except for some statements."""

    without: set[int]
    around: set[int]  # statements around the branch
    read: set[str] = field(default_factory=set)  # names whose value may come from elsewhere
    bound: set[str] = field(default_factory=set)

    def collect(self, node: ast.AST, given: frozenset[str] = frozenset()) -> None:
        """Collect the names that a node reads and binds; ``given`` names get their value from an outer statement."""
        if id(node) in self.without:
            return
        self.bound |= {*list_bound(node), *((node.arg,) if isinstance(node, ast.arg) else ())}
        if isinstance(node, ast.Name) and node.id not in given and not isinstance(node.ctx, ast.Store):
            self.read.add(node.id)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id not in given:
            self.read.add(node.target.id)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            self.read |= set(node.names)
        for names, child in _list_parts(node):
            self.collect(child, given if id(node) in self.around else given | names)


def _find_uses(function: ast.AST, without: set[int], branch: Placed) -> _Uses:
    uses = _Uses(without, {id(owner) for owner in branch.owners})
    uses.collect(function)
    return uses


def _list_parts(node: ast.AST) -> Iterator[tuple[frozenset[str], ast.AST]]:
    """Yield the children of a node, each with the names that the node itself binds for it."""
    nothing = frozenset[str]()
    if isinstance(node, ast.For | ast.AsyncFor):
        names = _list_targets([node.target])
        yield from ((nothing, part) for part in (node.iter, *node.orelse))
        yield from ((names, part) for part in (node.target, *node.body))
    elif isinstance(node, _COMPREHENSIONS):
        names = _list_targets([each.target for each in node.generators])
        yield nothing, node.generators[0].iter
        yield from ((names, part) for part in _list_inner(node))
    else:
        yield from ((nothing, child) for child in ast.iter_child_nodes(node))


def _list_inner(node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> Iterator[ast.AST]:
    """Yield the parts of a comprehension that see its names."""
    yield from (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
    for number, each in enumerate(node.generators):
        yield from (each.target, *each.ifs, *((each.iter,) if number else ()))


def _list_targets(targets: Sequence[ast.expr]) -> frozenset[str]:
    return frozenset(name for target in targets for inner in ast.walk(target) for name in list_bound(inner))


def find_loose_objection(text: bytes, start: int) -> str:
    """Return why the branch at this byte of a text that Python does not parse must stay; "" if it may be removed.

    Only tree-sitter parses such a text, and little is known of its names. So only an `if` that refuses or reports may
    be removed: it raises, prints and asserts, and calls only functions that inspect or report.
    """
    from pkg.extract.parser import parse

    root = parse(text).root_node
    if root.has_error:
        return "no parser can judge the text"
    branch = root.descendant_for_byte_range(start, start + 1)
    while branch is not None and branch.parent is not None and not branch.type.endswith("_statement"):
        branch = branch.parent
    if branch is None or branch.type != "if_statement" or branch.start_byte != start:
        return "Python does not parse the text, and only a plain `if` could be judged"
    if any(map(_is_harmful, _descend(branch))):
        return "Python does not parse the text, and the branch does more than raise and print"
    if any(node.type == "raise_statement" for node in _descend(branch)) and _is_caught(branch):
        return "an error of it may be caught"
    siblings = [] if branch.parent is None else branch.parent.named_children
    return "" if any(each != branch and each.type != "comment" for each in siblings) else "nothing else would be left"


def _is_harmful(node: Node) -> bool:
    if node.type == "call":
        called = node.child_by_field_name("function")
        words = (called.text or b"").decode("utf-8", "replace") if called is not None else ""
        return not is_harmless(words.rpartition(".")[2])
    statement, mark, _ = node.type.partition("_statement")
    return node.type in _HARMFUL or node.type.endswith("_definition") or (bool(mark) and statement not in _HARMLESS)


def _is_caught(branch: Node) -> bool:
    owner = branch.parent
    while owner is not None:
        if owner.type in _CATCHING:
            return True
        owner = owner.parent
    return False


def _descend(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from _descend(child)
