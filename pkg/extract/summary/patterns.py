"""Summarise the patterns of match statements: their bindings, and the tests of the subject (A-12)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tree_sitter import Node

from pkg.extract import node_fields as f
from pkg.extract.parser import find_first_child
from pkg.extract.summary import operations as o
from pkg.extract.summary.frame_operations import Environment, Frame

if TYPE_CHECKING:
    from pkg.extract.summary.file_frames import Builder

_MAX_DEPTH = 60  # of nested patterns


class Patterns:
    """Summarise the patterns of one match statement."""

    def __init__(self, builder: Builder, frame: Frame) -> None:
        self._frame = frame
        self._depth = 0
        self._expressions = builder.expressions(frame)

    def enter(self, case: Node, value: int, subject: Node | None) -> tuple[Environment | None, int]:
        """Enter a case; return the environment and the subject of the following cases.

        The environment is None if none of them is ever tried.
        """
        frame = self._frame
        before = frame.environment
        if before is None:
            return None, value
        rest: Environment | None = before.copy()
        patterns = [child for child in case.named_children if child.type == "case_pattern"]
        if len(patterns) != 1:
            for place, each in enumerate(patterns):
                self._match(each, frame.add(o.UNPACK, value, place, len(patterns), -1, -1))
            return rest, value
        kind, classes = self._find_class(patterns[0])
        name = frame.spell(subject) if subject is not None and subject.type == "identifier" else ""
        passed = remaining = value
        if classes is not None:
            passed = frame.add(o.NARROW, value, ("instance", classes), 1)
            if kind == "all":
                remaining = frame.add(o.NARROW, value, ("instance", classes), 0)
            if name:
                before.bind(name, passed)
                if rest is not None:
                    rest.bind(name, remaining)
        self._match(patterns[0], passed)
        if _takes_all(patterns[0]) and case.child_by_field_id(f.GUARD) is None:
            return None, value
        return rest, remaining

    def _find_class(self, node: Node) -> tuple[str, int | None]:
        """Return the classes that a pattern tests for, and whether it matches all of their instances."""
        inner = find_first_child(node)
        if inner is None:
            return "", None
        if inner.type == "as_pattern":
            return self._find_class(inner)
        if inner.type == "class_pattern":
            name = find_first_child(inner)
            kind = "all" if inner.named_child_count == 1 else "some"
            return (kind, self._read_dotted(name)) if name is not None else ("", None)
        if inner.type == "union_pattern":
            found = [self._find_class_of(each) for each in inner.named_children]
            classes = [each for each in found if each is not None]
            if classes and len(classes) == len(found):
                return "some", self._frame.add(o.COLLECT, "tuple", [(0, each) for each in classes], -1)
        return "", None

    def _find_class_of(self, node: Node) -> int | None:
        if node.type == "class_pattern":
            name = find_first_child(node)
            return self._read_dotted(name) if name is not None else None
        return self._find_class(node)[1] if node.type == "case_pattern" else None

    def _read_dotted(self, node: Node) -> int:
        names = [child for child in node.named_children if child.type == "identifier"] or [node]
        value = self._frame.read(self._frame.spell(names[0]))
        for child in names[1:]:
            value = self._expressions.read_member(value, self._frame.spell(child), child)
        return value

    def _match(self, node: Node, value: int) -> None:
        """Bind the names that a pattern captures; nothing if it is nested too deeply."""
        if self._depth < _MAX_DEPTH:
            self._depth += 1
            self._match_one(node, value)
            self._depth -= 1

    def _match_one(self, node: Node, value: int) -> None:
        frame, kind = self._frame, node.type
        if kind == "case_pattern":
            inner = find_first_child(node)
            if inner is not None:
                self._match(inner, value)
        elif kind == "dotted_name":
            if node.named_child_count == 1:
                frame.bind(frame.spell(node.named_children[0]), value)
            else:
                self._read_dotted(node)
        elif kind == "as_pattern":
            first, *rest = node.named_children
            classes = self._find_class(first)[1] if first.type == "case_pattern" else None
            passed = frame.add(o.NARROW, value, ("instance", classes), 1) if classes is not None else value
            self._match(first, passed)
            for each in rest:
                if each.type == "identifier":
                    frame.bind(frame.spell(each), passed)
        elif kind == "class_pattern":
            self._match_class(node, value)
        elif kind in ("list_pattern", "tuple_pattern"):
            self._match_items([child for child in node.named_children if child.type == "case_pattern"], value)
        elif kind == "dict_pattern":
            self._match_mapping(node, value)
        elif kind == "splat_pattern":
            for child in node.named_children:
                if child.type == "identifier":
                    frame.bind(frame.spell(child), value)
        elif kind == "union_pattern":
            for child in node.named_children:
                if child.type not in ("dotted_name",):
                    self._match(child, value)

    def _match_class(self, node: Node, value: int) -> None:
        name, *parts = node.named_children
        passed = self._frame.add(o.NARROW, value, ("instance", self._read_dotted(name)), 1)
        for part in parts:
            inner = find_first_child(part)
            if inner is None:
                continue
            if inner.type == "keyword_pattern":
                key, *rest = inner.named_children
                found = self._expressions.read_member(passed, self._frame.spell(key), inner)
                for each in rest:
                    self._match(each, found)
            else:
                self._match(inner, self._frame.add(o.UNKNOWN))

    def _match_items(self, parts: list[Node], value: int) -> None:
        starred = next((i for i, each in enumerate(parts) if _is_splat(each)), -1)
        for place, each in enumerate(parts):
            self._match(each, self._frame.add(o.UNPACK, value, place, len(parts), starred, -1))

    def _match_mapping(self, node: Node, value: int) -> None:
        keys = node.children_by_field_id(f.KEY)
        values = node.children_by_field_id(f.VALUE)
        for key, each in zip(keys, values, strict=False):
            self._match(each, self._frame.add(o.ITEM, value, self._expressions.read(key), -1))
        for child in node.named_children:
            if child.type == "splat_pattern":
                for name in child.named_children:
                    if name.type == "identifier":
                        rest = self._frame.add(o.COLLECT, "dict", [(2, value)], -1)
                        self._frame.bind(self._frame.spell(name), rest)


def _is_splat(node: Node) -> bool:
    inner = find_first_child(node)
    return inner is not None and inner.type == "splat_pattern"


def _takes_all(node: Node) -> bool:
    """Return whether a pattern is irrefutable."""
    inner = find_first_child(node)
    if inner is None:
        return True
    return inner.type == "dotted_name" and inner.named_child_count == 1
