"""Find the facts of a text: assignments, loops, returns, calls and what else gives values to names (A-12)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from tree_sitter import Node

from pkg.extract.parser import Match
from pkg.units import Code, Fact, pack_facts

PATTERNS = (
    ("lambda", "(lambda body: (_) @body) @whole"),
    ("comprehension", "[(list_comprehension) (set_comprehension) (dictionary_comprehension)] @whole"),
    ("comprehension", "(generator_expression) @whole"),
    ("assign", "(assignment left: (_) @target right: (_) @value)"),
    ("assign", "(augmented_assignment left: (_) @target right: (_) @value)"),
    ("assign", "(named_expression name: (_) @target value: (_) @value)"),
    ("annotate", "(assignment left: (_) @target type: (_) @value)"),
    ("loop", "(for_statement left: (_) @target right: (_) @value)"),
    ("loop", "(for_in_clause left: (_) @target right: (_) @value)"),
    ("except", "(except_clause (as_pattern (_) @value alias: (_) @target))"),
    ("manager", "(with_item value: (_) @value)"),
    ("return", "(return_statement (_) @value)"),
    ("yield", "(yield) @whole"),
    ("raise", "(raise_statement . (_) @value)"),
    ("read", "(attribute) @whole"),
    ("global", "(global_statement) @whole"),
    ("nonlocal", "(nonlocal_statement) @whole"),
    ("item", "(subscript value: (_) @of) @whole"),
    ("put", "(assignment left: (subscript) @whole)"),
    ("put", "(for_statement left: (subscript) @whole)"),
    ("put", "[(pattern_list (subscript) @whole) (tuple_pattern (subscript) @whole) (list_pattern (subscript) @whole)]"),
    ("update", "(augmented_assignment left: (subscript) @whole)"),
    ("delete", "(delete_statement [(subscript) @whole (expression_list (subscript) @whole)])"),
    ("contains", '(comparison_operator operators: ["in" "not in"] (_) @value .)'),
    ("operate", "(binary_operator left: [(identifier) (attribute)] @left right: (_) @value)"),
    ("operate", "(augmented_assignment left: [(identifier) (attribute)] @left right: (_) @value)"),
    (
        "operate",
        """
        (comparison_operator
          . [(identifier) (attribute)] @left . operators: ["==" "!=" "<" ">" "<=" ">="] . (_) @value)
        """,
    ),
)
"""What is looked for beside definitions and calls, by kind."""
_SCOPES = {"function": Code.DEFINITION, "class": Code.DEFINITION, "lambda": Code.LAMBDA}
_BINDINGS = {"assign": Code.ASSIGN, "annotate": Code.ANNOTATE, "loop": Code.FOR, "except": Code.EXCEPT}
_RESULTS = {"return": Code.RETURN, "raise": Code.RAISE}
_DECLARATIONS = {"global": Code.GLOBAL, "nonlocal": Code.NONLOCAL}
_USES = {"put": (Code.PUT,), "update": (Code.ITEM, Code.PUT), "delete": (Code.DELETE,)}
_READ = (Code.ITEM,)

Found = Mapping[str, list[Match]]  # by kind: definitions, calls and PATTERNS


def find_facts(found: Found) -> bytes:
    """Make facts of the matches of a text, packed as pkg.units says."""
    calls, bindings = list(_list_calls(found)), list(_list_bindings(found))
    taken = {(start, end) for _, _, start, end, _, _ in chain(calls, bindings)}
    facts = chain(calls, bindings, _list_reads(found, taken), _list_scopes(found), _list_items(found))
    return pack_facts(chain(facts, _list_results(found), _list_managers(found), _list_operands(found)))


def _list_calls(found: Found) -> Iterator[Fact]:
    for match in found["call"]:
        (callee,), (arguments,) = match["callee"], match["arguments"]
        start = callee.start_byte
        yield start, Code.CALL, start, callee.end_byte, arguments.start_byte, arguments.end_byte


def _list_bindings(found: Found) -> Iterator[Fact]:
    """List what gives values to names and attributes."""
    for kind, code in _BINDINGS.items():
        for match in found[kind]:
            (target,), (value,) = match["target"], match["value"]
            if kind == "assign":
                while value.type == "assignment" and (right := value.child_by_field_name("right")) is not None:
                    value = right  # a = b = value
            start = target.start_byte
            yield start, code, start, target.end_byte, value.start_byte, value.end_byte


def _list_reads(found: Found, taken: set[tuple[int, int]]) -> Iterator[Fact]:
    """List attributes that are neither called nor assigned to."""
    for start, end in {_place(match, "whole") for match in found["read"]} - taken:
        yield start, Code.READ, start, end, 0, 0


def _list_scopes(found: Found) -> Iterator[Fact]:
    """List definitions and lambdas, each at the start of its body, where its scope opens, and what else has names."""
    for kind, code in _SCOPES.items():
        for match in found[kind]:
            (start, end), (body, _) = _place(match, "whole"), _place(match, "body")
            yield body, code, start, body, body, end
    for match in found["comprehension"]:
        start, end = _place(match, "whole")
        yield start, Code.COMPREHENSION, start, end, start, end
    for kind, code in _DECLARATIONS.items():
        for match in found[kind]:
            start, end = _place(match, "whole")
            yield start, code, start, end, 0, 0


def _list_items(found: Found) -> Iterator[Fact]:
    """List the items of containers that are read, assigned to or deleted; the facts name the containers."""
    uses = {_place(match, "whole"): codes for kind, codes in _USES.items() for match in found[kind]}
    items = {_place(match, "whole"): _place(match, "of") for match in found["item"]}
    for place, (start, end) in items.items():
        for code in uses.get(place, _READ):
            yield start, code, start, end, 0, 0


def _list_results(found: Found) -> Iterator[Fact]:
    """List what functions give back, yield or raise."""
    for kind, code in _RESULTS.items():
        for match in found[kind]:
            start, end = _place(match, "value")
            yield start, code, 0, 0, start, end
    for match in found["yield"]:
        (node,) = match["whole"]
        value = node.named_children[0] if node.named_child_count else None
        start, end = (value.start_byte, value.end_byte) if value else (0, 0)
        is_delegating = any(child.type == "from" for child in node.children)
        yield node.start_byte, (Code.YIELD_FROM if is_delegating else Code.YIELD), 0, 0, start, end


def _list_managers(found: Found) -> Iterator[Fact]:
    for match in found["manager"]:
        yield from _make_with(match["value"][0])


def _list_operands(found: Found) -> Iterator[Fact]:
    """List what operators call methods of."""
    for match in found["contains"]:
        start, end = _place(match, "value")
        yield start, Code.CONTAINS, start, end, 0, 0
    for match in found["operate"]:
        start, end = _place(match, "left")
        yield start, Code.OPERATE, start, end, *_place(match, "value")


def _place(match: Match, name: str) -> tuple[int, int]:
    """Give the span of one node of a match in bytes."""
    (node,) = match[name]
    return node.start_byte, node.end_byte


def _make_with(value: Node) -> Iterator[Fact]:
    """Describe one context manager; in brackets there may be several."""
    if value.type in ("tuple", "parenthesized_expression"):
        inner = [child for child in value.named_children if child.type == "as_pattern"]
        if inner:
            for child in inner:
                yield from _make_with(child)
            return
    target = (0, 0)
    if value.type == "as_pattern":
        alias = value.child_by_field_name("alias")
        expression = value.named_child(0)
        if alias is None or expression is None:
            return
        target, value = (alias.start_byte, alias.end_byte), expression
    yield value.start_byte, Code.WITH, *target, value.start_byte, value.end_byte
