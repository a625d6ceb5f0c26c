"""Find where conditions hold that tell what kind of object something is, and where they do not (A-12).

What follows a branch that is left early, or binds the name anew, is such a place as well: only who failed the test
comes there with the value from before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tree_sitter import Node

from pkg.extract.parser import Match, find_first_child
from pkg.units import Code, Fact

_TESTS = frozenset((b"isinstance", b"issubclass", b"callable"))
_TYPE = b"type"  # which is compared
_LENGTHS = frozenset(map(len, (*_TESTS, _TYPE)))
_TOLD = frozenset(("identifier", "attribute", "subscript", "named_expression", "parenthesized_expression"))
"""What such a test may tell something of."""
_BLOCKS = ("block", "module")
_LEAVING = frozenset(("return_statement", "raise_statement", "break_statement", "continue_statement"))
_ENDING = frozenset((b"sys.exit", b"os._exit"))
MAX_BRANCHES = 30  # inside one another, up to which it is looked whether all of them are left
_HOLDING = frozenset((
    "block", "break_statement", "if_statement", "elif_clause", "else_clause", "try_statement", "except_clause",
    "except_group_clause", "finally_clause", "with_statement", "match_statement", "case_clause",
))  # fmt: skip
"""Where a break may stand that leaves a loop around it."""


@dataclass(slots=True)
class Condition:
    """The whole of a condition, and the names that it tests."""

    node: Node
    subjects: set[bytes] = field(default_factory=set)


def list_conditions(found: Mapping[str, list[Match]]) -> Iterator[Fact]:
    """List where the conditions of a text hold or fail that a test of a class is a part of, and where cases fit."""
    conditions: dict[int, Condition] = {}  # by the id of the whole, and of what stands on the left of `and` and `or`
    statements: dict[int, tuple[Node, set[bytes]]] = {}
    for test, subject in _list_tests(found):
        for node in _list_wholes(test):
            subjects = conditions.setdefault(node.id, Condition(node)).subjects
            if subject in subjects:  # and in all that this is a part of
                break
            subjects.add(subject)
    for condition in conditions.values():
        parent = condition.node.parent
        if parent is not None and parent.type in _PLACES:
            yield from _PLACES[parent.type](parent, condition)
            statement = parent.parent if parent.type == "elif_clause" else parent
            if statement is not None and statement.type == "if_statement":
                statements.setdefault(statement.id, (statement, set()))[1].update(condition.subjects)
    for statement, subjects in statements.values():
        yield from _list_behind(statement, subjects)
    for match in found["match"]:
        yield from _list_cases(match["whole"][0])


def _list_tests(found: Mapping[str, list[Match]]) -> Iterator[tuple[Node, bytes]]:
    """Give the tests of what something is, each with the text of that."""
    for match in found["own class"]:
        yield match["whole"][0], match["of"][0].text or b""
    for match in found["call"]:
        (callee,) = match["callee"]
        if callee.end_byte - callee.start_byte not in _LENGTHS:
            continue
        name, test = callee.text or b"", callee.parent
        if test is not None and name == _TYPE:
            test = test.parent if test.parent is not None and test.parent.type == "comparison_operator" else None
        elif name not in _TESTS:
            continue
        subject = find_first_child(match["arguments"][0])
        if test is not None and subject is not None and subject.type in _TOLD:
            yield test, subject.text or b""


def _list_wholes(test: Node) -> Iterator[Node]:
    """Give the condition that a test is a part of, and its parts that decide whether what follows is looked at."""
    node = test
    while node.parent is not None:
        parent = node.parent
        if parent.type == "boolean_operator":
            if _is_field(parent, "left", node):
                yield node
        elif parent.type not in ("not_operator", "parenthesized_expression"):
            break
        node = parent
    yield node


def _is_field(parent: Node, name: str, node: Node) -> bool:
    """Tell whether a node stands in a field of another."""
    child = parent.child_by_field_name(name)
    return child is not None and child.id == node.id


def _make_fact(code: Code, region: tuple[int, int], test: Node) -> Iterator[Fact]:
    """Say where a condition holds or fails."""
    start, end = region
    if start < end:
        yield start, code, start, end, test.start_byte, test.end_byte


def _span(node: Node) -> tuple[int, int]:
    return node.start_byte, node.end_byte


def _list_right(parent: Node, condition: Condition) -> Iterator[Fact]:
    """List what stands on the right of `and` and `or`."""
    right, sign = parent.child_by_field_name("right"), parent.child_by_field_name("operator")
    if right is not None and sign is not None and right.id != condition.node.id:
        yield from _make_fact(Code.HOLDS if sign.type == "and" else Code.FAILS, _span(right), condition.node)


def _list_conditional(parent: Node, condition: Condition) -> Iterator[Fact]:
    """List the two sides of a conditional expression."""
    parts = [child for child in parent.named_children if child.type != "comment"]
    if len(parts) == len(("body", "condition", "other")) and parts[1].id == condition.node.id:
        yield from _make_fact(Code.HOLDS, _span(parts[0]), condition.node)
        yield from _make_fact(Code.FAILS, _span(parts[2]), condition.node)


def _list_clause(parent: Node, condition: Condition) -> Iterator[Fact]:
    """List what a condition of a comprehension, or of a case, is for."""
    whole = parent.parent
    if whole is None:
        return
    body = whole.child_by_field_name("consequence" if whole.type == "case_clause" else "body")
    if body is not None:
        yield from _make_fact(Code.HOLDS, _span(body), condition.node)
        if body.start_byte < parent.start_byte:
            yield from _make_fact(Code.HOLDS, (parent.end_byte, whole.end_byte), condition.node)


def _list_asserted(parent: Node, condition: Condition) -> Iterator[Fact]:
    """List what follows an assertion in its block."""
    if find_first_child(parent) == condition.node:
        yield from _make_fact(Code.HOLDS, _find_rest(parent), condition.node)


def _find_rest(statement: Node) -> tuple[int, int]:
    """Find what follows a statement in its block."""
    block = statement.parent
    return (statement.end_byte, block.end_byte) if block is not None and block.type in _BLOCKS else (0, 0)


def _list_looped(parent: Node, condition: Condition) -> Iterator[Fact]:
    """List the body of a loop, and what follows when its condition has failed."""
    body, other = parent.child_by_field_name("body"), parent.child_by_field_name("alternative")
    if body is None or not _is_field(parent, "condition", condition.node):
        return
    yield from _make_fact(Code.HOLDS, _span(body), condition.node)
    if other is not None:
        yield from _make_fact(Code.FAILS, _span(other), condition.node)
    if not _breaks(body):
        yield from _make_fact(Code.FAILS, _find_rest(parent), condition.node)


def _breaks(body: Node) -> bool:
    """Tell whether a loop is left from inside of its body; a stack, since code may be nested deeply."""
    waiting = [body]
    while waiting:
        node = waiting.pop()
        if node.type == "break_statement":
            return True
        waiting += [child for child in node.named_children if child.type in _HOLDING]
    return False


def _list_branches(parent: Node, condition: Condition) -> Iterator[Fact]:
    """List the branches of an if statement."""
    statement = parent.parent if parent.type == "elif_clause" else parent
    if statement is None or not _is_field(parent, "condition", condition.node):
        return
    body = parent.child_by_field_name("consequence")
    if body is not None:
        yield from _make_fact(Code.HOLDS, _span(body), condition.node)
    others = [each for each in statement.children_by_field_name("alternative") if each.start_byte >= parent.end_byte]
    others = others if parent is not statement else statement.children_by_field_name("alternative")
    if others:
        yield from _make_fact(Code.FAILS, (others[0].start_byte, statement.end_byte), condition.node)


def _list_behind(statement: Node, subjects: set[bytes]) -> Iterator[Fact]:
    """List the branches of an if statement for what follows it: who comes there has gone through one of them."""
    clauses = [statement, *statement.children_by_field_name("alternative")]
    bodies = [each.child_by_field_name("consequence") or each.child_by_field_name("body") for each in clauses]
    tests = [each.child_by_field_name("condition") for each in clauses]
    yield from _make_chain(_find_rest(statement), list(zip(tests, bodies, strict=True)), subjects)


def _make_chain(
    region: tuple[int, int], branches: Sequence[tuple[Node | None, Node | None]], subjects: set[bytes]
) -> Iterator[Fact]:  # fmt: skip
    """Say of what follows branches which of them lead there with the values from before; what they bind was not tested.

    The last branch of an if statement may have no condition.
    """
    ends = [body is not None and (_leaves(body) or _binds(body, subjects)) for _, body in branches]
    first = branches[0][0]
    if first is None or not any(ends) or region[0] >= region[1]:
        return
    for (test, _), is_end in zip(branches, ends, strict=True):
        span = _span(test) if test is not None else (0, 0)
        yield first.end_byte, Code.LEAVES if is_end else Code.STAYS, *region, *span


def _leaves(block: Node, depth: int = 0) -> bool:
    """Tell whether what follows a block is never reached from its end."""
    return depth < MAX_BRANCHES and any(_is_end(each, depth + 1) for each in block.named_children)


def _is_end(statement: Node, depth: int) -> bool:
    if statement.type in _LEAVING:
        return True
    if statement.type == "expression_statement":
        call = find_first_child(statement)
        callee = call.child_by_field_name("function") if call is not None and call.type == "call" else None
        return callee is not None and callee.text in _ENDING
    if statement.type != "if_statement":
        return False
    clauses = statement.children_by_field_name("alternative")
    bodies = [statement.child_by_field_name("consequence")]
    bodies += [clause.child_by_field_name("consequence") or clause.child_by_field_name("body") for clause in clauses]
    has_other = bool(clauses) and clauses[-1].type == "else_clause"
    return has_other and all(body is not None and _leaves(body, depth) for body in bodies)


def _binds(block: Node, names: set[bytes]) -> bool:
    """Tell whether a block gives names new values, whatever happens in it."""
    bound = set()
    for statement in block.named_children:
        inner = find_first_child(statement) if statement.type == "expression_statement" else None
        target = inner.child_by_field_name("left") if inner is not None and inner.type == "assignment" else None
        if target is not None and inner is not None and inner.child_by_field_name("right") is not None:
            bound.add(target.text or b"")
    return names <= bound


def _list_cases(statement: Node) -> Iterator[Fact]:
    """List the bodies of cases, and where what is matched has fitted none of those before."""
    subjects, body = statement.children_by_field_name("subject"), statement.child_by_field_name("body")
    if body is None or len(subjects) != 1 or subjects[0].type not in ("identifier", "attribute"):
        return
    branches: list[tuple[Node | None, Node | None]] = []
    for case in body.named_children:
        patterns = [child for child in case.named_children if child.type == "case_pattern"]
        inner, guard = case.child_by_field_name("consequence"), case.child_by_field_name("guard")
        if len(patterns) != 1 or inner is None:
            return
        yield from _make_fact(Code.HOLDS, ((guard or inner).start_byte, case.end_byte), patterns[0])
        if guard is None:
            yield from _make_fact(Code.FAILS, (case.end_byte, statement.end_byte), patterns[0])
        branches.append((patterns[0], inner if guard is None else None))
    yield from _make_chain(_find_rest(statement), branches, {subjects[0].text or b""}) if branches else ()


_PLACES = {
    "boolean_operator": _list_right,
    "conditional_expression": _list_conditional,
    "if_clause": _list_clause,
    "assert_statement": _list_asserted,
    "while_statement": _list_looped,
    "if_statement": _list_branches,
    "elif_clause": _list_branches,
}
