"""Find the facts of a text: assignments, loops, returns, calls and what else gives values to names (A-12)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, pairwise

from tree_sitter import Node

from pkg.extract.condition_facts import list_conditions
from pkg.extract.parser import Match, find_first_child
from pkg.units import Code, Fact, Question, pack_facts

_TESTED = "[(identifier) (attribute) (call) (subscript) (await) (boolean_operator) (binary_operator) (unary_operator)" \
    " (conditional_expression) (named_expression) (parenthesized_expression)]"  # fmt: skip
"""Operands whose truth a method may tell: not comparisons and constants, by far the most."""
PATTERNS = (
    ("lambda", "(lambda body: (_) @body) @whole"),
    ("comprehension", "[(list_comprehension) (set_comprehension) (dictionary_comprehension)] @whole"),
    ("comprehension", "(generator_expression) @whole"),
    ("assign", "(assignment left: (_) @target right: (_) @value)"),
    ("augment", "(augmented_assignment left: (_) @target right: (_) @value)"),
    ("walrus", "(named_expression name: (_) @target value: (_) @value)"),
    ("annotate", "(assignment left: (_) @target type: (_) @value)"),
    ("alias", "(type_alias_statement left: (_) @target right: (_) @value)"),
    ("loop", "(for_statement left: (_) @target right: (_) @value) @whole"),
    ("loop", "(for_in_clause left: (_) @target right: (_) @value) @whole"),
    ("except", "(except_clause (as_pattern (_) @value alias: (_) @target))"),
    ("return", "(return_statement (_) @value)"),
    ("yield", "(yield) @whole"),
    ("raise", "(raise_statement . (_) @value)"),
    ("read", "(attribute) @whole"),
    ("global", "(global_statement) @whole"),
    ("nonlocal", "(nonlocal_statement) @whole"),
    ("item", "(subscript value: (_) @of) @whole"),
    ("delete", "(delete_statement (_) @target)"),
    ("compare", "(comparison_operator) @whole"),
    (
        "own class",
        '((comparison_operator (attribute object: (_) @of attribute: (_) @name)) @whole (#eq? @name "__class__"))',
    ),
    ("operate", "(binary_operator left: (_) @left right: (_) @value)"),
    ("operate", "(augmented_assignment left: (_) @left right: (_) @value)"),
    ("unary", "(unary_operator argument: (_) @operand) @whole"),
    ("format", "[(interpolation expression: (_) @operand) (format_expression expression: (_) @operand)] @whole"),
    ("await", "(await (_) @operand)"),
    ("star", "(list_splat (_) @operand) @whole"),
    ("stars", "(dictionary_splat (_) @operand)"),
    ("truth", f"(_ condition: {_TESTED} @operand)"),
    ("truth", f"[(assert_statement . {_TESTED} @operand) (if_clause {_TESTED} @operand)]"),
    ("truth", f"(conditional_expression . (_) . {_TESTED} @operand)"),
    ("truth", f"[(not_operator argument: {_TESTED} @operand) (boolean_operator left: {_TESTED} @operand)]"),
)
"""What is looked for beside definitions and calls, by kind."""
_SCOPES = {"function": Code.DEFINITION, "class": Code.DEFINITION, "lambda": Code.LAMBDA}
_BINDINGS = {
    "assign": Code.ASSIGN, "augment": Code.AUGMENT, "walrus": Code.WALRUS, "annotate": Code.ANNOTATE,
    "alias": Code.ASSIGN, "loop": Code.FOR, "except": Code.EXCEPT,
}  # fmt: skip
_RESULTS = {"return": Code.RETURN, "raise": Code.RAISE}
_DECLARATIONS = {"global": Code.GLOBAL, "nonlocal": Code.NONLOCAL}
_ASSIGNED, _UPDATED, _DELETED = (Code.PUT,), (Code.ITEM, Code.PUT), (Code.DELETE,)
_READ = (Code.ITEM,)
_NO_KEY = (0, 0)
_ASYNC = {Code.FOR: Code.ASYNC_FOR, Code.WITH: Code.ASYNC_WITH}
_SEVERAL = frozenset((
    "pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern", "as_pattern_target", "expression_list",
    "tuple", "list", "list_splat", "parenthesized_expression",
))  # fmt: skip
"""Targets that are made up of others."""
_SIGNS = {"-": Question.NEGATIVE, "+": Question.POSITIVE, "~": Question.INVERT}
_CONVERSIONS = {b"!s": Question.STRING, b"!r": Question.REPRESENTATION, b"!a": Question.REPRESENTATION}
_QUESTIONS = {"await": Question.WAIT, "stars": Question.ENTRIES}
_BEHIND_STAR = frozenset((
    "call", "attribute", "subscript", "binary_operator", "boolean_operator", "comparison_operator",
    "conditional_expression",
))  # fmt: skip
"""What the parser gives a star to that stands before it, where it is not among several."""
_TEXTS = ("string", "concatenated_string")
_CONSTANTS = frozenset((*_TEXTS, "integer", "float", "none", "true", "false"))

Found = Mapping[str, list[Match]]  # by kind: definitions, calls and PATTERNS
Place = tuple[int, int]


def find_facts(found: Found) -> bytes:
    """Make facts of the matches of a text, packed as pkg.units says."""
    uses = dict(_list_targets(found))
    facts = chain(
        _list_calls(found), _list_bindings(found), _list_reads(found, uses), _list_scopes(found),
        _list_items(found, uses), _list_erased(found), _list_results(found), _list_managers(found),
        _list_matches(found), _list_operands(found), _list_questions(found), list_conditions(found),
    )  # fmt: skip
    return pack_facts(facts)


def _list_targets(found: Found) -> Iterator[tuple[Place, tuple[Code, ...]]]:
    """Give each place that gets a value or loses it, with what that does if it is an item."""
    kinds = {"assign": _ASSIGNED, "annotate": _ASSIGNED, "loop": _ASSIGNED, "augment": _UPDATED, "delete": _DELETED}
    for kind, codes in kinds.items():
        for match in found[kind]:
            (target,) = match["target"]
            for leaf in _list_leaves(target) if target.type != "identifier" else ():
                yield (leaf.start_byte, leaf.end_byte), codes
    for match in found["with"]:
        for _, alias in _list_managed(match["whole"][0]):
            for leaf in _list_leaves(alias) if alias is not None else ():
                yield (leaf.start_byte, leaf.end_byte), _ASSIGNED


def _list_leaves(target: Node) -> Iterator[Node]:
    """Give the single targets in a target."""
    if target.type not in _SEVERAL:
        yield target
        return
    for child in target.named_children:
        yield from _list_leaves(child)


def _map_stars(found: Found) -> dict[int, int]:
    """Give where what stands behind each star begins: the parser takes some stars as a part of a callee."""
    return {match["whole"][0].start_byte: match["operand"][0].start_byte for match in found["star"]}


def _list_calls(found: Found) -> Iterator[Fact]:
    stars = _map_stars(found)
    for match in found["call"]:
        (callee,), (arguments,) = match["callee"], match["arguments"]
        start = stars.get(callee.start_byte, callee.start_byte)
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
            chosen = _ASYNC[code] if code == Code.FOR and _is_async(match["whole"][0]) else code
            yield start, chosen, start, target.end_byte, value.start_byte, value.end_byte


def _is_async(node: Node) -> bool:
    first = node.child(0)
    return first is not None and first.type == "async"


def _list_reads(found: Found, uses: Mapping[Place, tuple[Code, ...]]) -> Iterator[Fact]:
    """List attributes that are neither called nor assigned to alone, nor deleted."""
    called, stars = {_place(match, "callee") for match in found["call"]}, _map_stars(found)
    for start, end in {_place(match, "whole") for match in found["read"]} - called:
        start = stars.get(start, start)
        if uses.get((start, end), _UPDATED) is _UPDATED:
            yield start, Code.READ, start, end, 0, 0


def _list_scopes(found: Found) -> Iterator[Fact]:
    """List definitions and lambdas, each at the start of its body, where its scope opens, and what else has names."""
    for kind, code in _SCOPES.items():
        for match in found[kind]:
            (start, end), (body, _) = _place(match, "whole"), _place(match, "body")
            yield body, code, start, body, body, end
    for match in found["comprehension"]:
        (node,) = match["whole"]
        start, end = node.start_byte, node.end_byte
        yield start, Code.COMPREHENSION, start, end, start, end
        clause = next((child for child in node.named_children if child.type == "for_in_clause"), None)
        first = clause.child_by_field_name("right") if clause is not None else None
        if first is not None:
            start, end = first.start_byte, first.end_byte
            yield start, Code.FIRST, start, end, start, end
    for kind, code in _DECLARATIONS.items():
        for match in found[kind]:
            start, end = _place(match, "whole")
            yield start, code, start, end, 0, 0
    for kind in ("for", "while"):
        for match in found[kind]:
            start, end = _place(match, "whole")
            yield start, Code.LOOP, start, end, 0, 0


def _list_items(found: Found, uses: Mapping[Place, tuple[Code, ...]]) -> Iterator[Fact]:
    """List the items of containers that are read, assigned to or deleted; the facts name the containers and keys."""
    stars = _map_stars(found)
    for match in found["item"]:
        start, end = _place(match, "of")
        start = stars.get(start, start)
        keys = match["whole"][0].children_by_field_name("subscript")
        key = _span_key(keys[0]) if len(keys) == 1 else _NO_KEY
        for code in uses.get(_place(match, "whole"), _READ):
            yield start, code, start, end, *key


def _span_key(key: Node) -> Place:
    """Give the span of what a container is asked for, but of constants and slices, which nothing is asked."""
    is_asked = key.type not in _CONSTANTS and key.type != "slice"
    return (key.start_byte, key.end_byte) if is_asked else _NO_KEY


def _list_erased(found: Found) -> Iterator[Fact]:
    """List names and attributes that are deleted."""
    for match in found["delete"]:
        for leaf in _list_leaves(match["target"][0]):
            if leaf.type in ("identifier", "attribute"):
                yield leaf.start_byte, Code.ERASE, leaf.start_byte, leaf.end_byte, 0, 0


def _list_results(found: Found) -> Iterator[Fact]:
    """List what functions give back, yield or raise."""
    for kind, code in _RESULTS.items():
        for match in found[kind]:
            start, end = _place(match, "value")
            yield start, code, 0, 0, start, end
    for match in found["yield"]:
        (node,) = match["whole"]
        value = find_first_child(node)
        start, end = (value.start_byte, value.end_byte) if value else (0, 0)
        is_delegating = any(child.type == "from" for child in node.children)
        yield node.start_byte, (Code.YIELD_FROM if is_delegating else Code.YIELD), 0, 0, start, end


def _list_managers(found: Found) -> Iterator[Fact]:
    for match in found["with"]:
        (node,) = match["whole"]
        code = _ASYNC[Code.WITH] if _is_async(node) else Code.WITH
        for value, target in _list_managed(node):
            place = (target.start_byte, target.end_byte) if target is not None else (0, 0)
            yield value.start_byte, code, *place, value.start_byte, value.end_byte


def _list_managed(statement: Node) -> Iterator[tuple[Node, Node | None]]:
    """Give each context manager of a with statement with its target."""
    for clause in statement.named_children:
        for item in clause.named_children if clause.type == "with_clause" else ():
            value = item.child_by_field_name("value")
            if value is not None:
                yield from _list_contexts(value)


def _list_contexts(value: Node) -> Iterator[tuple[Node, Node | None]]:
    """Give each context manager with its target; in brackets there may be several."""
    if value.type in ("tuple", "parenthesized_expression"):
        inner = [child for child in value.named_children if child.type == "as_pattern"]
        if inner:
            for child in inner:
                yield from _list_contexts(child)
            return
    if value.type != "as_pattern":
        yield value, None
        return
    alias, expression = value.child_by_field_name("alias"), find_first_child(value)
    if alias is not None and expression is not None:
        yield expression, alias


def _list_matches(found: Found) -> Iterator[Fact]:
    """List the patterns of cases, each with what is matched."""
    for match in found["match"]:
        (node,) = match["whole"]
        subjects = node.children_by_field_name("subject")
        body = node.child_by_field_name("body")
        for case in body.named_children if body is not None and subjects else ():
            patterns = [child for child in case.named_children if child.type == "case_pattern"]
            if patterns:
                start, end = patterns[0].start_byte, patterns[-1].end_byte
                yield start, Code.MATCH, start, end, subjects[0].start_byte, subjects[-1].end_byte


def _list_operands(found: Found) -> Iterator[Fact]:
    """List what operators call methods of."""
    for match in found["operate"]:
        (left,), (right,) = match["left"], match["value"]
        yield from _make_operation(left, right)
    for match in found["compare"]:
        (node,) = match["whole"]
        for left, sign, right in _list_comparisons(node):
            if sign in ("in", "not in"):
                yield right.start_byte, Code.CONTAINS, right.start_byte, right.end_byte, *_span_key(left)
            elif not sign.startswith("is"):
                yield from _make_operation(left, right)


def _list_comparisons(node: Node) -> Iterator[tuple[Node, str, Node]]:
    """Give each two neighbours of a comparison with what stands between them."""
    operands = [child for child in node.named_children if child.type not in ("comment", "not in", "is not")]
    signs = [child.type for child in node.children_by_field_name("operators")]
    if len(signs) == len(operands) - 1:
        for (left, right), sign in zip(pairwise(operands), signs, strict=True):
            yield left, sign, right


def _make_operation(left: Node, right: Node) -> Iterator[Fact]:
    """Describe an operator, but between constants, and behind a text, which answers itself."""
    kind = left.type
    if kind not in _TEXTS and not (kind in _CONSTANTS and right.type in _CONSTANTS):
        start = left.start_byte
        yield start, Code.OPERATE, start, left.end_byte, right.start_byte, right.end_byte


def _list_questions(found: Found) -> Iterator[Fact]:
    """List what Python asks objects by itself."""
    for kind, question in _QUESTIONS.items():
        for match in found[kind]:
            yield from _ask(match["operand"][0], question)
    for match in found["star"]:
        (node,) = match["whole"]
        start, end = node.start_byte, node.end_byte
        while node.parent is not None and node.parent.start_byte == start and node.parent.type in _BEHIND_STAR:
            node = node.parent
            end = node.end_byte
        start = match["operand"][0].start_byte
        yield start, Code.ASK, start, end, Question.ITEMS, 0
    for match in found["truth"]:
        for operand in _list_tested(match["operand"][0]):
            yield from _ask(operand, Question.TRUTH)
    for match in found["unary"]:
        sign = match["whole"][0].child(0)
        if sign is not None:
            yield from _ask(match["operand"][0], _SIGNS[sign.type])
    for match in found["format"]:
        conversions = (child for child in match["whole"][0].named_children if child.type == "type_conversion")
        conversion = next(conversions, None)
        text = conversion.text if conversion is not None else None
        yield from _ask(match["operand"][0], _CONVERSIONS.get(text or b"", Question.FORMAT))


def _list_tested(operand: Node) -> Iterator[Node]:
    """Give what is tested in a condition: of `and` and `or`, the left side is a condition by itself."""
    if operand.type == "boolean_operator":
        operand = operand.child_by_field_name("right") or operand
        yield from _list_tested(operand)
    elif operand.type == "parenthesized_expression":
        inner = find_first_child(operand)
        yield from _list_tested(inner) if inner is not None else ()
    elif operand.type not in ("comparison_operator", "not_operator", *_CONSTANTS):
        yield operand


def _ask(operand: Node, question: Question) -> Iterator[Fact]:
    if operand.type not in _CONSTANTS:
        yield operand.start_byte, Code.ASK, operand.start_byte, operand.end_byte, question, 0


def _place(match: Match, name: str) -> Place:
    """Give the span of one node of a match in bytes."""
    (node,) = match[name]
    return node.start_byte, node.end_byte
