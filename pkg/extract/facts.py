"""Find the facts of a text: assignments, loops, returns, calls and what else gives values to names (A-12)."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node, Query, QueryCursor

from pkg.extract.parser import PYTHON
from pkg.facts import Code, Fact, pack_facts

_QUERY = Query(
    PYTHON,
    """
    (function_definition body: (_) @body) @definition
    (class_definition body: (_) @body) @definition
    (lambda body: (_) @body) @lambda
    [(list_comprehension) (set_comprehension) (dictionary_comprehension) (generator_expression)] @comprehension
    (assignment left: (_) @target right: (_) @assign)
    (assignment left: (_) @target type: (_) @annotate)
    (augmented_assignment left: (_) @target right: (_) @assign)
    (named_expression name: (_) @target value: (_) @assign)
    (for_statement left: (_) @target right: (_) @for)
    (for_in_clause left: (_) @target right: (_) @for)
    (with_item value: (_) @with)
    (except_clause (as_pattern (_) @except alias: (_) @target))
    (return_statement (_) @return)
    (yield) @yield
    (raise_statement . (_) @raise)
    (call function: (_) @callee arguments: (_) @call)
    (attribute) @read
    (global_statement) @global
    (nonlocal_statement) @nonlocal
    (subscript value: (_) @of) @item
    (assignment left: (subscript) @put)
    (augmented_assignment left: (subscript) @both)
    (for_statement left: (subscript) @put)
    [(pattern_list (subscript) @put) (tuple_pattern (subscript) @put) (list_pattern (subscript) @put)]
    (delete_statement [(subscript) @delete (expression_list (subscript) @delete)])
    (comparison_operator operators: ["in" "not in"] (_) @contains .)
    (binary_operator left: [(identifier) (attribute)] @left right: (_) @operate)
    (augmented_assignment left: [(identifier) (attribute)] @left right: (_) @operate)
    (comparison_operator . [(identifier) (attribute)] @left . operators: ["==" "!=" "<" ">" "<=" ">="] . (_) @operate)
    """,
)
_SPANS = {
    "assign": Code.ASSIGN, "annotate": Code.ANNOTATE, "for": Code.FOR, "except": Code.EXCEPT, "return": Code.RETURN,
    "raise": Code.RAISE,
}  # fmt: skip
_USES = {"put": (Code.PUT,), "both": (Code.ITEM, Code.PUT), "delete": (Code.DELETE,)}
_READ = (Code.ITEM,)
_STATEMENTS = {"global": Code.GLOBAL, "nonlocal": Code.NONLOCAL}


def find_facts(root: Node) -> bytes:
    """Find the facts of a parsed text, packed as pkg.facts says."""
    return pack_facts(_list_facts(root))


def _list_facts(root: Node) -> Iterator[Fact]:
    reads: dict[tuple[int, int], None] = {}
    taken: set[tuple[int, int]] = set()  # attributes that are called or assigned to
    items: dict[tuple[int, int], tuple[int, int]] = {}  # what each is of
    uses: dict[tuple[int, int], tuple[Code, ...]] = {}  # of items that are not just read
    for _, found in QueryCursor(_QUERY).matches(root):
        if "read" in found:
            (node,) = found["read"]
            reads[node.start_byte, node.end_byte] = None
        elif "call" in found:
            (callee,), (arguments,) = found["callee"], found["call"]
            start, end = callee.start_byte, callee.end_byte
            taken.add((start, end))
            yield start, Code.CALL, start, end, arguments.start_byte, arguments.end_byte
        elif "item" in found:
            (node,), (value,) = found["item"], found["of"]
            items[node.start_byte, node.end_byte] = value.start_byte, value.end_byte
        elif "contains" in found:
            start, end = found["contains"][0].start_byte, found["contains"][0].end_byte
            yield start, Code.CONTAINS, start, end, 0, 0
        elif "operate" in found:
            (left,), (other,) = found["left"], found["operate"]
            start, end = left.start_byte, left.end_byte
            yield start, Code.OPERATE, start, end, other.start_byte, other.end_byte
        elif "body" in found:
            yield _make_scope(found)
        elif "comprehension" in found:
            start, end = found["comprehension"][0].start_byte, found["comprehension"][0].end_byte
            yield start, Code.COMPREHENSION, start, end, start, end
        elif "with" in found:
            yield from _make_with(found["with"][0])
        elif "yield" in found:
            yield from _make_yield(found["yield"][0])
        else:
            ((name, nodes),) = ((name, nodes) for name, nodes in found.items() if name != "target")
            node = nodes[0]
            if name in _USES:
                uses[node.start_byte, node.end_byte] = _USES[name]
                continue
            while node.type == "assignment" and (right := node.child_by_field_name("right")) is not None:
                node = right  # a = b = value
            if name in _STATEMENTS:
                yield node.start_byte, _STATEMENTS[name], node.start_byte, node.end_byte, 0, 0
                continue
            target = found["target"][0] if "target" in found else None
            place = (target.start_byte, target.end_byte) if target else (0, 0)
            taken.add(place)
            yield (place[0] if target else node.start_byte), _SPANS[name], *place, node.start_byte, node.end_byte
    for start, end in reads.keys() - taken:
        yield start, Code.READ, start, end, 0, 0
    for place, (start, end) in items.items():
        for code in uses.get(place, _READ):
            yield start, code, start, end, 0, 0


def _make_scope(found: dict[str, list[Node]]) -> Fact:
    """Describe a definition or lambda at the start of its body, where its scope opens."""
    (body,) = found["body"]
    is_lambda = "lambda" in found
    (node,) = found["lambda" if is_lambda else "definition"]
    code = Code.LAMBDA if is_lambda else Code.DEFINITION
    return body.start_byte, code, node.start_byte, body.start_byte, body.start_byte, node.end_byte


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


def _make_yield(node: Node) -> Iterator[Fact]:
    value = node.named_children[0] if node.named_child_count else None
    start, end = (value.start_byte, value.end_byte) if value else (0, 0)
    is_delegating = any(child.type == "from" for child in node.children)
    yield node.start_byte, (Code.YIELD_FROM if is_delegating else Code.YIELD), 0, 0, start, end
