"""Find where conditions hold that tell what kind of object something is, and where they do not (A-12).

What follows a branch that is left early, or binds the name anew, is such a place as well: only who failed the test
comes there with the value from before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tree_sitter import Node

from pkg.extract.parser import Match
from pkg.units import Code, Fact

_TESTS = frozenset((b"isinstance", b"issubclass", b"callable"))
_TYPE = b"type"  # which is compared
_LENGTHS = frozenset(map(len, (*_TESTS, _TYPE)))
_TOLD = frozenset(("identifier", "attribute", "subscript", "named_expression", "parenthesized_expression"))
"""What such a test may tell something of."""
_BLOCKS = ("block", "module")
_LEAVING = frozenset(("return_statement", "raise_statement", "break_statement", "continue_statement"))
_ENDING = frozenset((b"sys.exit", b"os._exit", b"exit", b"quit"))
_OWN_LOOPS = frozenset(("for_statement", "while_statement", "function_definition", "class_definition", "lambda"))


@dataclass(slots=True)
class Condition:
    """The whole of a condition, and the names that it tests."""

    node: Node
    subjects: set[bytes] = field(default_factory=set)


def list_conditions(found: Mapping[str, list[Match]]) -> Iterator[Fact]:
    """List where the conditions of a text hold or fail that a test of a class is a part of, and where cases fit."""
    conditions: dict[int, Condition] = {}  # by the id of the whole, and of what stands on the left of `and` and `or`
    for test, subject in _list_tests(found["call"]):
        for node in _list_wholes(test):
            conditions.setdefault(node.id, Condition(node)).subjects.add(subject)
    for condition in conditions.values():
        parent = condition.node.parent
        if parent is not None and parent.type in _PLACES:
            yield from _PLACES[parent.type](parent, condition)
    for match in found["match"]:
        yield from _list_cases(match["whole"][0])


def _list_tests(calls: list[Match]) -> Iterator[tuple[Node, bytes]]:
    """Give the tests of what something is, each with the text of that."""
    for match in calls:
        (callee,) = match["callee"]
        if callee.end_byte - callee.start_byte not in _LENGTHS:
            continue
        name, test = callee.text or b"", callee.parent
        if test is not None and name == _TYPE:
            test = test.parent if test.parent is not None and test.parent.type == "comparison_operator" else None
        elif name not in _TESTS:
            continue
        subject = match["arguments"][0].named_child(0)
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


def _make_fact(code: Code, region: tuple[int, int], condition: Condition, since: int = -1) -> Iterator[Fact]:
    """Say where a condition holds or fails; what is bound from `since` on was not tested, else from there on."""
    start, end = region
    if start < end:
        yield start if since < 0 else since, code, start, end, condition.node.start_byte, condition.node.end_byte


def _span(node: Node) -> tuple[int, int]:
    return node.start_byte, node.end_byte


def _list_right(parent: Node, condition: Condition) -> Iterator[Fact]:
    """List what stands on the right of `and` and `or`."""
    right, sign = parent.child_by_field_name("right"), parent.child_by_field_name("operator")
    if right is not None and sign is not None and right.id != condition.node.id:
        yield from _make_fact(Code.HOLDS if sign.type == "and" else Code.FAILS, _span(right), condition)


def _list_conditional(parent: Node, condition: Condition) -> Iterator[Fact]:
    """List the two sides of a conditional expression."""
    parts = [child for child in parent.named_children if child.type != "comment"]
    if len(parts) == len(("body", "condition", "other")) and parts[1].id == condition.node.id:
        yield from _make_fact(Code.HOLDS, _span(parts[0]), condition)
        yield from _make_fact(Code.FAILS, _span(parts[2]), condition)


def _list_clause(parent: Node, condition: Condition) -> Iterator[Fact]:
    """List what a condition of a comprehension, or of a case, is for."""
    whole = parent.parent
    if whole is None:
        return
    body = whole.child_by_field_name("consequence" if whole.type == "case_clause" else "body")
    if body is not None:
        yield from _make_fact(Code.HOLDS, _span(body), condition)
        if body.start_byte < parent.start_byte:
            yield from _make_fact(Code.HOLDS, (parent.end_byte, whole.end_byte), condition)


def _list_asserted(parent: Node, condition: Condition) -> Iterator[Fact]:
    """List what follows an assertion in its block."""
    if parent.named_child(0) == condition.node:
        yield from _make_fact(Code.HOLDS, _find_rest(parent), condition)


def _find_rest(statement: Node) -> tuple[int, int]:
    """Find what follows a statement in its block."""
    block = statement.parent
    return (statement.end_byte, block.end_byte) if block is not None and block.type in _BLOCKS else (0, 0)


def _list_looped(parent: Node, condition: Condition) -> Iterator[Fact]:
    """List the body of a loop, and what follows when its condition has failed."""
    body, other = parent.child_by_field_name("body"), parent.child_by_field_name("alternative")
    if body is None or not _is_field(parent, "condition", condition.node):
        return
    yield from _make_fact(Code.HOLDS, _span(body), condition)
    if other is not None:
        yield from _make_fact(Code.FAILS, _span(other), condition)
    if not _breaks(body):
        yield from _make_fact(Code.FAILS, _find_rest(parent), condition)


def _breaks(node: Node) -> bool:
    """Tell whether a loop is left from inside of a part of it."""
    return node.type == "break_statement" or any(
        _breaks(child) for child in node.named_children if child.type not in _OWN_LOOPS
    )  # fmt: skip


def _list_branches(parent: Node, condition: Condition) -> Iterator[Fact]:
    """List the branches of an if statement, and what follows it."""
    statement = parent.parent if parent.type == "elif_clause" else parent
    if statement is None or not _is_field(parent, "condition", condition.node):
        return
    clauses = [statement, *statement.children_by_field_name("alternative")]
    place = next(i for i, clause in enumerate(clauses) if clause.id == parent.id)
    bodies = [clause.child_by_field_name("body" if clause.type == "else_clause" else "consequence") for clause in clauses]
    body = bodies[place]
    if body is not None:
        yield from _make_fact(Code.HOLDS, _span(body), condition)
    if place + 1 < len(clauses):
        yield from _make_fact(Code.FAILS, (clauses[place + 1].start_byte, statement.end_byte), condition)
    ends = [each is not None and (_leaves(each) or _binds(each, condition.subjects)) for each in bodies]
    if all(ends[: place + 1]):
        yield from _make_fact(Code.FAILS, _find_rest(statement), condition, condition.node.end_byte)
    elif clauses[-1].type == "else_clause" and all(ends[:place] + ends[place + 1 :]):
        yield from _make_fact(Code.HOLDS, _find_rest(statement), condition, condition.node.end_byte)


def _leaves(block: Node) -> bool:
    """Tell whether what follows a block is never reached from its end."""
    return any(map(_is_end, block.named_children))


def _is_end(statement: Node) -> bool:
    if statement.type in _LEAVING:
        return True
    if statement.type == "expression_statement":
        call = statement.named_child(0)
        callee = call.child_by_field_name("function") if call is not None and call.type == "call" else None
        return callee is not None and callee.text in _ENDING
    if statement.type != "if_statement":
        return False
    clauses = statement.children_by_field_name("alternative")
    bodies = [statement.child_by_field_name("consequence")]
    bodies += [clause.child_by_field_name("consequence") or clause.child_by_field_name("body") for clause in clauses]
    has_other = bool(clauses) and clauses[-1].type == "else_clause"
    return has_other and all(body is not None and _leaves(body) for body in bodies)


def _binds(block: Node, names: set[bytes]) -> bool:
    """Tell whether a block gives names new values, whatever happens in it."""
    bound = set()
    for statement in block.named_children:
        inner = statement.named_child(0) if statement.type == "expression_statement" else None
        target = inner.child_by_field_name("left") if inner is not None and inner.type == "assignment" else None
        if target is not None and inner is not None and inner.child_by_field_name("right") is not None:
            bound.add(target.text or b"")
    return names <= bound


def _list_cases(statement: Node) -> Iterator[Fact]:
    """List the bodies of cases, and where what is matched has fitted none of those before."""
    subjects, body = statement.children_by_field_name("subject"), statement.child_by_field_name("body")
    if body is None or len(subjects) != 1 or subjects[0].type not in ("identifier", "attribute"):
        return
    subject, end, is_left = _span(subjects[0]), statement.end_byte, True
    rest = _find_rest(statement)
    for case in body.named_children:
        patterns = [child for child in case.named_children if child.type == "case_pattern"]
        inner = case.child_by_field_name("consequence")
        if not patterns or inner is None:
            continue
        start, guard = patterns[0].start_byte, case.child_by_field_name("guard")
        yield start, Code.FITS, guard.start_byte if guard is not None else inner.start_byte, case.end_byte, *subject
        is_left = is_left and guard is None and _leaves(inner)
        if guard is None and case.end_byte < end:
            yield start, Code.MISSES, case.end_byte, end, *subject
        if is_left and rest[0] < rest[1]:
            yield start, Code.MISSES, *rest, *subject


_PLACES = {
    "boolean_operator": _list_right,
    "conditional_expression": _list_conditional,
    "if_clause": _list_clause,
    "assert_statement": _list_asserted,
    "while_statement": _list_looped,
    "if_statement": _list_branches,
    "elif_clause": _list_branches,
}
