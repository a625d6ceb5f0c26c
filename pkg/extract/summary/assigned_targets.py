"""Summarise assignments and deletions of names, attributes and items (A-12)."""

from __future__ import annotations

from tree_sitter import Node

from pkg.extract import node_fields as f
from pkg.extract.parser import find_first_child
from pkg.extract.summary import operations as o
from pkg.extract.summary.expression_operations import Expressions, place_key
from pkg.extract.summary.frame_operations import SHARED, Frame
from pkg.extract.summary.operations import UNBOUND

_SEVERAL = ("pattern_list", "tuple_pattern", "list_pattern", "tuple", "list", "expression_list")
_SPLATS = ("list_splat_pattern", "list_splat")


class Targets:
    """Summarise the targets of one frame."""

    def __init__(self, frame: Frame, expressions: Expressions) -> None:
        self._frame = frame
        self._expressions = expressions

    def assign(self, target: Node, value: int, source: Node | None = None) -> None:
        """Bind a target to the value of an operation."""
        frame, kind = self._frame, target.type
        if kind in ("identifier", "keyword_identifier"):
            frame.bind(frame.spell(target), value)
        elif kind in ("attribute", "subscript"):
            place = self.open_place(target)
            if place is not None:
                self.assign_place(target, place, value)
        elif kind in _SEVERAL:
            self._unpack(target, value, source)
        elif kind in _SPLATS or kind in ("parenthesized_expression", "as_pattern_target"):
            inner = find_first_child(target)
            if inner is not None:
                self.assign(inner, value)
        else:
            self._expressions.read_calls(target)

    def open_place(self, target: Node) -> tuple[int, int | str] | None:
        """Read the owner of an assigned attribute or item, and its name or key."""
        if target.type == "attribute":
            base, name = target.child_by_field_id(f.OBJECT), target.child_by_field_id(f.ATTRIBUTE)
            if base is None or name is None:
                return None
            return self._expressions.read(base), self._frame.spell(name)
        base = target.child_by_field_id(f.VALUE)
        if base is None:
            return None
        owner = self._expressions.read(base)
        return owner, self._expressions.read_key(target.children_by_field_id(f.SUBSCRIPT))

    def assign_place(self, target: Node, place: tuple[int, int | str], value: int) -> None:
        """Assign to an attribute or item."""
        owner, key = place
        if isinstance(key, str):
            self._frame.add(o.SET_ATTR, owner, key, value, self._expressions.site(target))
            self._store(owner, key, value)
            return
        self._frame.add(o.SET_ITEM, owner, key, value, self._expressions.site(target.named_children[0]))
        keys = target.children_by_field_id(f.SUBSCRIPT)
        written = place_key(keys[0]) if len(keys) == 1 else None
        if written is not None:
            self._store(owner, written, value)
        elif self._frame.environment is not None:
            places = self._frame.environment.places
            self._frame.environment.places = {each: places[each] for each in places if each[1][:1] != "["}

    def _store(self, owner: int, place: str, value: int) -> None:
        """Record the value stored at a place, and forget equally named places, which may be the same."""
        environment = self._frame.environment
        if environment is not None:
            for other in [each for each in environment.places if each[1] == place and each[0] != owner]:
                del environment.places[other]
            environment.places[owner, place] = value

    def _unpack(self, target: Node, value: int, source: Node | None) -> None:
        targets = [child for child in target.named_children if child.type != "comment"]
        starred = next((place for place, each in enumerate(targets) if each.type in _SPLATS), -1)
        sources = _list_sources(source)
        if sources is not None and starred < 0 and len(sources) == len(targets):
            operation = self._frame.nodes[value]
            if operation[0] == o.COLLECT and len(operation[2]) == len(targets):
                for each, element, origin in zip(targets, operation[2], sources, strict=True):
                    self.assign(each, element[1], origin)
                return
        site = self._expressions.site(target)
        for place, each in enumerate(targets):
            self.assign(each, self._frame.add(o.UNPACK, value, place, len(targets), starred, site if not place else -1))

    def assign_hidden(self, target: Node, value: int, bound: list[str]) -> None:
        """Bind a target of a comprehension, which is no name of the frame."""
        frame = self._frame
        versions, frame.versions = frame.versions, {}
        self.assign(target, value)
        for name, nodes in frame.versions.items():
            frame.hidden.setdefault(name, []).extend(nodes)
            bound.append(name)
        frame.versions = versions

    def delete(self, node: Node) -> None:
        """Delete a target, or several."""
        frame = self._frame
        if node.type == "identifier":
            name = frame.spell(node)
            frame.versions.setdefault(name, [])
            if frame.environment is not None:
                frame.environment.bind(name, UNBOUND)
                frame.environment.places.pop((SHARED, name), None)
        elif node.type == "attribute":
            base, name_node = node.child_by_field_id(f.OBJECT), node.child_by_field_id(f.ATTRIBUTE)
            if base is not None and name_node is not None:
                owner, attribute = self._expressions.read(base), frame.spell(name_node)
                frame.add(o.DEL_ATTR, owner, attribute, self._expressions.site(node))
                frame.forget_places()
        elif node.type == "subscript":
            base = node.child_by_field_id(f.VALUE)
            if base is not None:
                owner = self._expressions.read(base)
                key = self._expressions.read_key(node.children_by_field_id(f.SUBSCRIPT))
                frame.add(o.DEL_ITEM, owner, key, self._expressions.site(base))
                frame.forget_places()
        else:
            for child in node.named_children:
                self.delete(child)


def _list_sources(node: Node | None) -> list[Node] | None:
    """List the right sides of the targets of an unpacking, if they are written out."""
    if node is None or node.type not in ("expression_list", "tuple", "list"):
        return None
    found = [child for child in node.named_children if child.type != "comment"]
    return None if any(child.type in _SPLATS for child in found) else found
