"""Summarise expressions: each becomes an operation of its frame (A-12)."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from tree_sitter import Node

from pkg.extract import node_fields as f
from pkg.extract.parser import find_first_child
from pkg.extract.summary import operations as o
from pkg.extract.summary.frame_operations import Environment, Frame, copy

if TYPE_CHECKING:
    from pkg.extract.summary.file_frames import Builder

MAX_DEPTH = 90  # of nested expressions
MAX_TEXT_LENGTH = 200  # characters of a stored string constant: longer ones are no attribute names or keys
_SIGNS = {"-": "negative", "+": "positive", "~": "invert"}
_CONVERSIONS = {b"!s": "string", b"!r": "representation", b"!a": "representation"}
_QUIET = frozenset((
    "abs", "bool", "bytes", "callable", "chr", "dict", "divmod", "enumerate", "float", "format", "frozenset", "getattr",
    "hasattr", "hash", "hex", "id", "int", "isinstance", "issubclass", "len", "list", "object", "ord", "pow", "print",
    "range", "repr", "reversed", "round", "set", "slice", "str", "sum", "super", "tuple", "type", "vars", "zip",
    "KeyError", "NotImplementedError", "RuntimeError", "TypeError", "ValueError",
))  # fmt: skip
"""Builtins that store nothing in objects other than their arguments, and call no function."""
_FORMATTED = frozenset(b"fFtT")  # prefixes of strings with interpolation, as first or second letter
_QUOTES = b"'", b'"'
_CONSTANTS = frozenset(("string", "concatenated_string", "integer", "float", "none", "true", "false", "ellipsis"))


def place_key(node: Node) -> str | None:
    """Return a constant key of an item as a place; None for other keys."""
    if node.type == "integer" or is_plain_text(node):
        return f"[{(node.text or b'').decode('utf-8', 'replace')}]".replace("'", '"')
    return None


def is_plain_text(node: Node) -> bool:
    """Return whether an expression is a string without interpolation, such as a docstring."""
    return node.type == "string" and _has_no_interpolation(node, node.text or b"")


def _has_no_interpolation(string: Node, text: bytes) -> bool:
    """Return whether a string has no interpolation; `text` is its source."""
    if _FORMATTED.isdisjoint(text[:2]):
        return True
    return all(child.type != "interpolation" for child in string.named_children)


class Expressions:
    """Summarise the expressions of one frame."""

    def __init__(self, builder: Builder, frame: Frame) -> None:
        self.builder = builder
        self.frame = frame
        self.walrus: list[tuple[str, int]] | None = None  # bindings of comprehensions in the frame around them

    def read(self, node: Node) -> int:
        """Summarise an expression; return the number of its operation."""
        kind = node.type
        if kind == "identifier":
            frame = self.frame
            return frame.read(frame.spell(node))
        handler = _HANDLERS.get(kind)
        if handler is None:
            return self._read_other(node)
        builder = self.builder
        builder.depth += 1
        found = handler(self, node) if builder.depth < MAX_DEPTH else self.read_deep(node)
        builder.depth -= 1
        return found

    def read_deep(self, node: Node) -> int:
        """Summarise an expression that is nested too deeply: its calls are sites with unknown callees."""
        waiting = [node]
        while waiting:
            each = waiting.pop()
            callee = each.child_by_field_id(f.FUNCTION) if each.type == "call" else None
            if callee is not None:
                site = self.site(callee, o.SITE_CALL)
                self.frame.add(o.CALL, self.frame.add(o.UNKNOWN), [], [], site)
            waiting += reversed(each.named_children)
        return self.frame.add(o.UNKNOWN)

    def _read_other(self, node: Node) -> int:
        for child in node.named_children:
            self.read(child)
        return self.frame.add(o.UNKNOWN)

    def _ignore(self, node: Node) -> int:
        return -1

    def read_calls(self, node: Node) -> None:
        """Summarise the calls in code that is no followed expression: an annotation, a syntax error."""
        waiting = [node] if b"(" in (node.text or b"") else []
        while waiting:
            each = waiting.pop()
            if each.type in ("call", "lambda"):
                self.read(each)
            else:
                waiting += reversed(each.named_children)

    def read_name(self, node: Node) -> int:
        """Read a name."""
        return self.frame.read(self.frame.spell(node))

    def _read_inner(self, node: Node) -> int:
        inner = find_first_child(node)
        return self.read(inner) if inner is not None else self.frame.add_once(o.UNKNOWN)

    # Constants and strings.

    def _read_number(self, node: Node) -> int:
        text = self.frame.source[node.start_byte : node.end_byte].replace(b"_", b"")
        value = int(text) if text.isdigit() and len(text) < 10 else None
        return self.frame.add_constant("int" if node.type == "integer" and text[-1:] not in b"jJ" else "float", value)

    def _read_none(self, node: Node) -> int:
        return self.frame.add_constant("NoneType")

    def _read_truth(self, node: Node) -> int:
        return self.frame.add_constant("bool", node.type == "true")

    def _read_ellipsis(self, node: Node) -> int:
        return self.frame.add_constant("ellipsis")

    def _read_string(self, node: Node) -> int:
        parts = self._read_parts(node)
        if len(parts) == 1:
            return parts[0]
        return self.frame.add(o.TEXT, parts) if parts else self.frame.add_constant("str", "")

    def _read_concatenated(self, node: Node) -> int:
        parts = [part for child in node.named_children if child.type == "string" for part in self._read_parts(child)]
        return self.frame.add(o.TEXT, parts)

    def _read_parts(self, node: Node) -> list[int]:
        """Read the parts of a string: constants and interpolations."""
        frame = self.frame
        text = frame.source[node.start_byte : node.end_byte]
        if node.named_child_count <= 3 and _has_no_interpolation(node, text):
            if len(text) > MAX_TEXT_LENGTH:
                return [frame.add_constant("str")]
            if text[:1] not in _QUOTES and b"b" in text.partition(text[-1:])[0].lower():
                return [frame.add_constant("bytes")]
            try:
                value = ast.literal_eval(text.decode("utf-8").lstrip("fF")) if b"\\" in text else _strip_quotes(text)
            except (ValueError, SyntaxError, UnicodeDecodeError):
                value = None
            return [frame.add_constant("str", value if isinstance(value, str) else None)]
        parts: list[int] = []
        for child in node.named_children:
            if child.type == "string_content":
                content = (child.text or b"").decode("utf-8", "replace")
                parts.append(frame.add_constant("str", content if len(content) < MAX_TEXT_LENGTH else None))
            elif child.type == "interpolation":
                parts.append(self._read_interpolation(child))
        return parts

    def _read_interpolation(self, node: Node) -> int:
        parts = node.named_children
        conversion = next((part.text or b"" for part in parts if part.type == "type_conversion"), b"")
        inner = -1
        for part in parts:
            if part.type == "format_specifier":
                for each in part.named_children:
                    self._read_interpolation(each)
            elif inner < 0 and part.type != "comment":
                inner = self.read(part)
                self.use_protocol(_CONVERSIONS.get(conversion, "format"), inner, part)
        return inner

    # Operations that ask an object.

    def site(self, node: Node, kind: int = o.SITE_OTHER) -> int:
        """Add a site for a node of the text."""
        frame = self.frame
        frame.places += (node.start_byte, node.end_byte)
        frame.site_kinds.append(kind)
        return len(frame.site_kinds) - 1

    def use_protocol(self, protocol: str, value: int, node: Node) -> None:
        """Add an implicit call of an object's protocol."""
        if node.type not in _CONSTANTS:
            self.frame.add(o.PROTOCOL, protocol, value, self.site(node))

    def _read_attribute(self, node: Node) -> int:
        base = node.child_by_field_id(f.OBJECT)
        name = node.child_by_field_id(f.ATTRIBUTE)
        if base is None or name is None:
            return self._read_other(node)
        return self.read_member(self.read(base), self.frame.spell(name), node)

    def read_member(self, value: int, attribute: str, node: Node) -> int:
        """Read an attribute; a value stored or tested there before is known."""
        environment = self.frame.environment
        known = environment.places.get((value, attribute)) if environment is not None else None
        if known is not None:
            self._note_read(known, value, attribute, node)
            return known
        found = self.frame.add(o.ATTR, value, attribute, self.site(node, o.SITE_READ))
        if environment is not None:
            environment.places[value, attribute] = found
        return found

    def _note_read(self, known: int, value: int, attribute: str, node: Node) -> None:
        """Add a read of an attribute with a known value: properties and descriptors are called all the same."""
        nodes, site, number = self.frame.nodes, self.site(node, o.SITE_READ), known
        while nodes[number][0] == o.NARROW:
            number = nodes[number][1]
        read = nodes[number]
        if read[:3] == (o.ATTR, value, attribute):
            nodes[number] = (*read, site)
        else:
            self.frame.add(o.ATTR, value, attribute, site)

    def _read_item(self, node: Node) -> int:
        base = node.child_by_field_id(f.VALUE)
        keys = node.children_by_field_id(f.SUBSCRIPT)
        if base is None:
            return self._read_other(node)
        value = self.read(base)
        return self.read_item(value, self.read_key(keys), node)

    def read_item(self, value: int, key: int, node: Node) -> int:
        """Read an item; a value stored or tested there before is known."""
        keys = node.children_by_field_id(f.SUBSCRIPT)
        place = place_key(keys[0]) if len(keys) == 1 else None
        environment = self.frame.environment
        read = self.frame.add(o.ITEM, value, key, self.site(node.named_children[0]))  # __getitem__ is called anyway
        return read if place is None or environment is None else environment.places.get((value, place), read)

    def read_key(self, keys: list[Node]) -> int:
        """Read the key of an item; of a slice its start, if known."""
        if len(keys) == 1 and keys[0].type == "slice":
            for child in keys[0].named_children:
                self.read(child)
            return self.frame.add_constant("slice", _find_start(keys[0]))
        found = [self.read(key) for key in keys]
        return found[0] if len(found) == 1 else self.frame.add(o.COLLECT, "tuple", [(0, each) for each in found], -1)

    def _read_call(self, node: Node) -> int:
        callee = node.child_by_field_id(f.FUNCTION)
        arguments = node.child_by_field_id(f.ARGUMENTS)
        if callee is None or arguments is None:
            return self._read_other(node)
        frame = self.frame
        while callee.type == "parenthesized_expression" and (inner := find_first_child(callee)) is not None:
            callee = inner
        base = callee.child_by_field_id(f.OBJECT) if callee.type == "attribute" else None
        name = callee.child_by_field_id(f.ATTRIBUTE) if base is not None else None
        if base is None or name is None:
            target, attribute = self.read(callee), ""
            is_quiet = callee.type == "identifier" and self._is_quiet(target)
        else:
            value, attribute, is_quiet = self.read(base), frame.spell(name), False
            known = frame.environment.places.get((value, attribute)) if frame.environment is not None else None
            if known is None or frame.nodes[known][:3] == (o.ATTR, value, attribute):
                target = value
            else:
                self._note_read(known, value, attribute, callee)
                target, attribute = known, ""
        placed, named = self.read_arguments(arguments)
        site = self.site(callee, o.SITE_CALL)
        if attribute:
            found = frame.add(o.CALL_ATTR, target, attribute, placed, named, site)
        else:
            found = frame.add(o.CALL, target, placed, named, site)
        if not is_quiet:
            frame.forget_places()
        return found

    def _is_quiet(self, target: int) -> bool:
        """Return whether a callee is a builtin that assigns to nothing the frame has read."""
        node = self.frame.nodes[target]
        return node[0] == o.GLOBAL and node[1] in _QUIET and node[1] not in self.builder.frames[0].versions

    def read_arguments(self, node: Node) -> tuple[list[tuple[int, int]], list[tuple[str, int]]]:
        """Read arguments: positional ones with 1 for a starred one, and keywords, "" for two stars."""
        placed: list[tuple[int, int]] = []
        named: list[tuple[str, int]] = []
        if node.type == "generator_expression":
            return [(self.read(node), 0)], []
        for child in node.named_children:
            kind = child.type
            if kind == "keyword_argument":
                name, value = child.child_by_field_id(f.NAME), child.child_by_field_id(f.VALUE)
                if name is not None and value is not None:
                    named.append((self.frame.spell(name), self.read(value)))
            elif kind == "list_splat":
                placed.append((self._read_splat(child, "items"), 1))
            elif kind == "dictionary_splat":
                named.append(("", self._read_splat(child, "entries")))
            elif kind == "ERROR":
                self.read_calls(child)
            elif kind != "comment":
                placed.append((self.read(child), 0))
        return placed, named

    def _read_splat(self, node: Node, protocol: str) -> int:
        """Read what a star unpacks by a protocol: the items of one star, the entries of two."""
        inner = find_first_child(node)
        value = self._read_inner(node)
        if inner is not None:
            self.use_protocol(protocol, value, inner)
        return value

    # Operators.

    def _read_binary(self, node: Node) -> int:
        left, right = node.child_by_field_id(f.LEFT), node.child_by_field_id(f.RIGHT)
        sign = node.child_by_field_id(f.OPERATOR)
        if left is None or right is None or sign is None:
            return self._read_other(node)
        first, second = self.read(left), self.read(right)
        is_plain = left.type in _CONSTANTS and right.type in _CONSTANTS
        return self.frame.add(o.BINARY, sign.type, first, second, -1 if is_plain else self.site(left))

    def _read_unary(self, node: Node) -> int:
        argument, sign = node.child_by_field_id(f.ARGUMENT), node.child(0)
        if argument is None or sign is None:
            return self._read_other(node)
        value = self.read(argument)
        if argument.type in _CONSTANTS:
            return self.frame.add_constant("int")
        return self.frame.add(o.UNARY, _SIGNS.get(sign.type, "negative"), value, self.site(argument))

    def _read_condition(self, node: Node) -> int:
        """Read a condition as a value; a test holds in the expressions evaluated after it."""
        frame = self.frame
        before = frame.environment
        value, holds, fails = self.builder.conditions(frame).test(node, is_value=True)
        if before is not None:
            joined = frame.join([holds, fails])
            frame.environment = joined if joined is not None else before
        return value

    def _read_choice(self, node: Node) -> int:
        parts = [child for child in node.named_children if child.type != "comment"]
        if len(parts) != 3:
            return self._read_other(node)
        frame = self.frame
        before = frame.environment
        _, holds, fails = self.builder.conditions(frame).test(parts[1])
        frame.environment = holds if holds is not None else copy(before)
        first = self.read(parts[0])
        ends = [frame.environment]
        frame.environment = fails if fails is not None else copy(before)
        second = self.read(parts[2])
        ends.append(frame.environment)
        frame.environment = frame.join(ends) if before is not None else None
        if holds is None:
            return second
        return frame.add_join((first, second)) if fails is not None else first

    def _read_await(self, node: Node) -> int:
        inner = find_first_child(node)
        if inner is None:
            return self.frame.add(o.UNKNOWN)
        found = self.frame.add(o.AWAIT, self.read(inner), self.site(inner))
        self.frame.forget_places()
        return found

    def _read_yield(self, node: Node) -> int:
        frame, inner = self.frame, find_first_child(node)
        value = self.read(inner) if inner is not None else frame.add_constant("NoneType")
        if inner is not None and any(child.type == "from" for child in node.children):
            found = frame.add(o.YIELD_FROM, value, self.site(inner))
        else:
            found = frame.add(o.YIELD, value)
        frame.forget_places()
        return found

    def _read_walrus(self, node: Node) -> int:
        name, value = node.child_by_field_id(f.NAME), node.child_by_field_id(f.VALUE)
        if name is None or value is None:
            return self._read_other(node)
        found = self.read(value)
        self.frame.bind(self.frame.spell(name), found)
        if self.walrus is not None:
            self.walrus.append((self.frame.spell(name), found))
        return found

    # Containers.

    def _read_collection(self, node: Node) -> int:
        kind = _KINDS[node.type]
        elements: list[tuple[int, ...]] = []
        for child in node.named_children:
            if child.type == "list_splat":
                elements.append((1, self._read_splat(child, "items")))
            elif child.type == "dictionary_splat":
                elements.append((2, self._read_splat(child, "entries")))
            elif child.type == "pair":
                key, value = child.child_by_field_id(f.KEY), child.child_by_field_id(f.VALUE)
                if key is not None and value is not None:
                    first = self.read(key)
                    elements.append((0, self.read(value), first))
            elif child.type == "ERROR":
                self.read_calls(child)
            elif child.type != "comment":
                value_number = self.read(child)
                is_starred = _begins_with_star(child)
                if is_starred:
                    self.use_protocol("items", value_number, child)
                elements.append((int(is_starred), value_number))
        return self.frame.add(o.COLLECT, kind, elements, self.site(node))

    def _read_comprehension(self, node: Node) -> int:
        frame, targets = self.frame, self.builder.targets(self.frame)
        before, outer_walrus = frame.environment, self.walrus
        self.walrus = []
        frame.environment = copy(before)
        bound: list[str] = []
        for clause in node.named_children:
            if clause.type == "for_in_clause":
                left, right = clause.child_by_field_id(f.LEFT), clause.child_by_field_id(f.RIGHT)
                if left is None or right is None:
                    continue
                is_async = clause.child_count > 0 and clause.children[0].type == "async"
                item = frame.add(o.ITER, self.read(right), int(is_async), self.site(right))
                if frame.kind == o.CLASS_BODY and not bound and frame.environment is not None:
                    frame.environment = Environment()  # the rest does not see the names of the class
                targets.assign_hidden(left, item, bound)
            elif clause.type == "if_clause":
                test = find_first_child(clause)
                if test is not None:
                    _, holds, _ = self.builder.conditions(frame).test(test)
                    if holds is not None:
                        frame.environment = holds
            elif clause.type == "ERROR":
                self.read_calls(clause)
        body = node.child_by_field_id(f.BODY)
        element: tuple[int, ...] = (0, -1)
        if body is not None and body.type == "pair":
            key, value = body.child_by_field_id(f.KEY), body.child_by_field_id(f.VALUE)
            if key is not None and value is not None:
                first = self.read(key)
                element = (0, self.read(value), first)
        elif body is not None:
            element = (0, self.read(body))
        found = frame.add(o.COLLECT, _KINDS[node.type], [(3, *element[1:])], self.site(node))
        frame.environment = before
        for name, value_node in self.walrus:
            frame.bind(name, value_node)
        if outer_walrus is not None:
            outer_walrus += self.walrus
        self.walrus = outer_walrus
        if before is not None:
            before.places = {}
        return found

    def _read_lambda(self, node: Node) -> int:
        return self.builder.open_lambda(self.frame, node)


def _begins_with_star(node: Node) -> bool:
    """Return whether a star precedes an element: the parser makes it part of the first name."""
    first: Node | None = node
    while first is not None and (field := _FIRST.get(first.type)) is not None:
        first = first.child_by_field_name(field)
    return first is not None and first.type == "list_splat"


_FIRST = {"call": "function", "attribute": "object", "subscript": "value"}


def _find_start(node: Node) -> int | None:
    """Return the start of a slice without a step."""
    first = node.child(0)
    if first is None or sum(child.type == ":" for child in node.children) > 1:
        return None
    text = first.text or b""
    return 0 if first.type == ":" else int(text) if text.isdigit() else None


def _strip_quotes(text: bytes) -> str:
    """Return the content of a string without escapes."""
    start = text.find(text[-1:])
    width = 3 if text.endswith((b'"""', b"'''")) and len(text) >= start + 6 else 1
    return text[start + width : len(text) - width].decode("utf-8")


_KINDS = {
    "list": "list", "tuple": "tuple", "set": "set", "dictionary": "dict", "expression_list": "tuple",
    "list_comprehension": "list", "set_comprehension": "set", "dictionary_comprehension": "dict",
    "generator_expression": "generator",
}  # fmt: skip
_HANDLERS: dict[str, Callable[[Expressions, Node], int]] = {
    "identifier": Expressions.read_name,
    "keyword_identifier": Expressions.read_name,
    "attribute": Expressions._read_attribute,
    "call": Expressions._read_call,
    "string": Expressions._read_string,
    "concatenated_string": Expressions._read_concatenated,
    "integer": Expressions._read_number,
    "float": Expressions._read_number,
    "none": Expressions._read_none,
    "true": Expressions._read_truth,
    "false": Expressions._read_truth,
    "ellipsis": Expressions._read_ellipsis,
    "subscript": Expressions._read_item,
    "parenthesized_expression": Expressions._read_inner,
    "binary_operator": Expressions._read_binary,
    "unary_operator": Expressions._read_unary,
    "comparison_operator": Expressions._read_condition,
    "not_operator": Expressions._read_condition,
    "boolean_operator": Expressions._read_condition,
    "conditional_expression": Expressions._read_choice,
    "await": Expressions._read_await,
    "yield": Expressions._read_yield,
    "named_expression": Expressions._read_walrus,
    "list": Expressions._read_collection,
    "tuple": Expressions._read_collection,
    "set": Expressions._read_collection,
    "dictionary": Expressions._read_collection,
    "expression_list": Expressions._read_collection,
    "list_comprehension": Expressions._read_comprehension,
    "set_comprehension": Expressions._read_comprehension,
    "dictionary_comprehension": Expressions._read_comprehension,
    "generator_expression": Expressions._read_comprehension,
    "lambda": Expressions._read_lambda,
    "list_splat": Expressions._read_inner,
    "comment": Expressions._ignore,
    "type": Expressions._read_inner,
}
