"""Summarise conditions: the values of names and places where a test passes, and where it fails (A-12)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from tree_sitter import Node

from pkg.extract import node_fields as f
from pkg.extract.parser import find_first_child
from pkg.extract.summary import operations as o
from pkg.extract.summary.expression_operations import MAX_DEPTH, place_key
from pkg.extract.summary.frame_operations import SHARED, Environment, Frame, Place, copy, read_identifier

if TYPE_CHECKING:
    from pkg.extract.summary.expression_operations import Expressions

Tested = tuple[int, "Environment | None", "Environment | None"]
"""The operation of a condition, and the environments where it passes and where it fails; None where it never does."""

_VERSION = (b"sys.version_info", b"sys.version_info[0]", b"sys.version_info.major")
_UNASKED = frozenset((
    "string", "concatenated_string", "integer", "float", "none", "true", "false", "lambda", "ellipsis",
))  # fmt: skip
_FUNCTIONS = {"isinstance": "instance", "issubclass": "subclass", "callable": "callable"}


def is_checking(node: Node) -> bool:
    """Return whether a condition is true only for type checkers."""
    text = node.text or b""
    return text == b"TYPE_CHECKING" or text.endswith(b".TYPE_CHECKING")


def decide(node: Node) -> bool | None:
    """Return whether a condition is always true or always false; None if unknown."""
    kind = node.type
    if kind == "parenthesized_expression":
        inner = find_first_child(node)
        return decide(inner) if inner is not None else None
    if kind in ("true", "false"):
        return kind == "true"
    if kind == "integer":
        return (node.text or b"").strip(b"0") != b""
    if kind == "not_operator":
        argument = node.child_by_field_id(f.ARGUMENT)
        known = decide(argument) if argument is not None else None
        return None if known is None else not known
    if kind == "comparison_operator":
        return _decide_version(node)
    text = node.text or b""
    if text.endswith((b".PY3", b".PY2")) or text in (b"PY3", b"PY2"):
        return text.endswith(b"PY3")
    return False if is_checking(node) else None


def _decide_version(node: Node) -> bool | None:
    """Evaluate a comparison of the version of Python with the major version that is read."""
    if not (node.text or b"").startswith(_VERSION[0]):
        return None
    parts = [child for child in node.named_children if child.type != "comment"]
    signs = node.children_by_field_id(f.OPERATORS)
    if len(parts) != 2 or len(signs) != 1 or (parts[0].text or b"") not in _VERSION:
        return None
    numbers = [child.text or b"" for child in parts[1].named_children] or [parts[1].text or b""]
    if not numbers[0].isdigit() or not all(each.isdigit() for each in numbers):
        return None
    wanted, own = int(numbers[0]), sys.version_info.major
    sign = signs[0].type
    if wanted == own:
        is_whole = len(numbers) > 1 and any(each.strip(b"0") for each in numbers[1:])
        if is_whole:
            return None  # the minor version is unknown
        return {">=": True, "<": False, "==": True, "!=": False}.get(sign) if parts[1].type == "integer" else {
            ">=": True, "<": False, ">": True
        }.get(sign)  # fmt: skip
    return {">=": own > wanted, ">": own > wanted, "<": own < wanted, "<=": own < wanted, "==": False, "!=": True}.get(
        sign
    )


class Conditions:
    """Summarise the conditions of one frame."""

    def __init__(self, expressions: Expressions, frame: Frame) -> None:
        self._expressions = expressions
        self._frame = frame

    def test(self, node: Node, is_value: bool = False) -> Tested:
        """Summarise a tested condition; if it is used as a value, the truth of its last part is not tested."""
        builder = self._expressions.builder
        builder.depth += 1
        found = self._test(node, is_value) if builder.depth < MAX_DEPTH else self._test_deep(node)
        builder.depth -= 1
        return found

    def _test_deep(self, node: Node) -> Tested:
        value, environment = self._expressions.read_deep(node), self._frame.environment
        return value, environment, copy(environment)

    def _test(self, node: Node, is_value: bool) -> Tested:
        kind = node.type
        if kind == "parenthesized_expression":
            inner = find_first_child(node)
            if inner is not None:
                return self.test(inner, is_value)
        if kind == "not_operator":
            argument = node.child_by_field_id(f.ARGUMENT)
            if argument is not None:
                _, holds, fails = self.test(argument)
                return self._frame.add_constant("bool"), fails, holds
        if kind == "boolean_operator":
            return self._test_both(node, is_value)
        if kind == "comparison_operator":
            return self._compare(node)
        value = self._expressions.read(node)
        environment = self._frame.environment
        if kind not in _UNASKED and not is_value:
            self._expressions.use_protocol("truth", value, node)
        if environment is None:
            return value, None, None
        holds, fails = environment, environment.copy()
        if kind == "call":
            self._narrow_by_call(node, value, holds, fails)
        elif kind == "named_expression":
            name = node.child_by_field_id(f.NAME)
            if name is not None:
                self._narrow(name, ("true",), holds, fails)
        else:
            self._narrow(node, ("true",), holds, fails)
        known = decide(node)
        return value, (holds if known is not False else None), (fails if known is not True else None)

    def _test_both(self, node: Node, is_value: bool) -> Tested:
        left, right = node.child_by_field_id(f.LEFT), node.child_by_field_id(f.RIGHT)
        sign = node.child_by_field_id(f.OPERATOR)
        frame = self._frame
        if left is None or right is None:
            return self._expressions._read_other(node), frame.environment, copy(frame.environment)
        is_and = sign is not None and sign.type == "and"
        first, holds, fails = self.test(left)
        before = frame.environment
        frame.environment = holds if is_and else fails
        if frame.environment is None:  # the right side never runs, but is summarised
            frame.environment = copy(before)
            second, _, _ = self.test(right, is_value)
            return first, holds, fails
        kept = copy(frame.environment)
        second, other_holds, other_fails = self.test(right, is_value)
        if is_and:
            holds, fails = other_holds, frame.join([fails, other_fails])
        else:
            holds, fails = frame.join([holds, other_holds]), other_fails
        frame.environment = holds if holds is not None else fails if fails is not None else kept
        value = frame.add(o.NARROW, first, ("true",), int(not is_and))
        return frame.add_join((value, second)), holds, fails

    def _compare(self, node: Node) -> Tested:
        parts = [child for child in node.named_children if child.type not in ("comment", "ERROR")]
        signs = [child.type for child in node.children_by_field_id(f.OPERATORS)]
        frame = self._frame
        values = [self._expressions.read(part) for part in parts]
        value = frame.add_constant("bool")
        for place, sign in enumerate(signs[: len(parts) - 1]):
            if sign not in ("is", "is not"):
                site = self._expressions.site(parts[place if "in" not in sign.split() else place + 1])
                value = frame.add(o.COMPARE, sign, values[place], values[place + 1], site)
        environment = frame.environment
        if environment is None:
            return value, None, None
        holds, fails = environment, environment.copy()
        if len(parts) == 2 and len(signs) == 1:
            self._narrow_by_comparison(parts, values, " ".join(signs[0].split()), holds, fails)
        known = decide(node)
        return value, (holds if known is not False else None), (fails if known is not True else None)

    def _narrow_by_comparison(
        self, parts: list[Node], values: list[int], sign: str, holds: Environment, fails: Environment
    ) -> None:
        left, right = parts
        if sign in ("is not", "!="):
            holds, fails = fails, holds
        elif sign not in ("is", "=="):
            return
        if right.type == "none":
            self._narrow(left, ("none",), holds, fails)
        elif left.type == "none":
            self._narrow(right, ("none",), holds, fails)
        elif left.type == "call" and self._name_callee(left) == "type":
            subject = self._find_arguments(left)
            if len(subject) == 1:
                self._narrow(subject[0], ("exact", values[1]), holds, fails)
        elif left.type == "attribute" and (left.text or b"").endswith(b".__class__"):
            subject_node = left.child_by_field_id(f.OBJECT)
            if subject_node is not None:
                self._narrow(subject_node, ("exact", values[1]), holds, fails)
        elif sign in ("is", "is not"):
            self._narrow(left, ("same", values[1]), holds, None)

    def _narrow_by_call(self, node: Node, value: int, holds: Environment, fails: Environment) -> None:
        name = self._name_callee(node)
        kind = _FUNCTIONS.get(name)
        arguments = self._find_arguments(node)
        if kind is None or not arguments:
            return
        if kind == "callable":
            self._narrow(arguments[0], ("callable",), holds, fails)
            return
        call = self._frame.nodes[value]
        if len(arguments) == 2 and call[0] == o.CALL and len(call[2]) == 2:
            self._narrow(arguments[0], (kind, call[2][1][0]), holds, fails)

    def _name_callee(self, node: Node) -> str:
        callee = node.child_by_field_id(f.FUNCTION)
        return read_identifier(callee) if callee is not None and callee.type == "identifier" else ""

    def _find_arguments(self, node: Node) -> list[Node]:
        arguments = node.child_by_field_id(f.ARGUMENTS)
        found = arguments.named_children if arguments is not None else []
        found = [each for each in found if each.type != "comment"]
        return [] if any(each.type in ("list_splat", "keyword_argument") for each in found) else found

    def _narrow(self, subject: Node, test: tuple[Any, ...], holds: Environment, fails: Environment | None) -> None:
        """Record the values of a tested name or place where a test passes, and where it fails."""
        if subject.type == "named_expression":
            name = subject.child_by_field_id(f.NAME)
            subject = name if name is not None else subject
        while subject.type == "parenthesized_expression" and (inner := find_first_child(subject)) is not None:
            subject = inner
        frame = self._frame
        if subject.type == "identifier":
            name_text = frame.spell(subject)
            if name_text in frame.shared:
                self._narrow_place((SHARED, name_text), frame.read(name_text), test, holds, fails)
                return
            node = frame.look_up(holds, name_text)
            node = frame.read(name_text) if node is None else node
            for environment, is_held in ((holds, 1), (fails, 0)):
                if environment is not None:
                    environment.bind(name_text, frame.add(o.NARROW, node, test, is_held))
            return
        place = self.find_place(subject, holds)
        if place is None:
            return
        known = holds.places.get(place)
        if known is not None:
            self._narrow_place(place, known, test, holds, fails)

    def _narrow_place(
        self, place: Place, known: int, test: tuple[Any, ...], holds: Environment, fails: Environment | None
    ) -> None:
        for environment, is_held in ((holds, 1), (fails, 0)):
            if environment is not None:
                environment.places[place] = self._frame.add(o.NARROW, known, test, is_held)

    def find_place(self, subject: Node, environment: Environment) -> Place | None:
        """Return the place of an attribute or item, if its owner was read before."""
        if subject.type == "attribute":
            base, name = subject.child_by_field_id(f.OBJECT), subject.child_by_field_id(f.ATTRIBUTE)
            key = self._frame.spell(name) if name is not None else None
        elif subject.type == "subscript":
            base = subject.child_by_field_id(f.VALUE)
            keys = subject.children_by_field_id(f.SUBSCRIPT)
            key = place_key(keys[0]) if len(keys) == 1 else None
        else:
            return None
        value = self._find_value(base, environment) if base is not None else None
        return (value, key) if value is not None and key is not None else None

    def _find_value(self, node: Node, environment: Environment) -> int | None:
        if node.type == "identifier":
            name = self._frame.spell(node)
            found = self._frame.look_up(environment, name) if name not in self._frame.shared else None
            return found if found is not None else self._frame.read(name)
        place = self.find_place(node, environment)
        return environment.places.get(place) if place is not None else None
