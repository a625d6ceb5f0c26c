"""Find where names are called, read or passed on in a text, by its syntax tree, also if the text is damaged.

Finding the parent of a tree node is a search from the root, so each use in deep code would cost its depth. One cursor
walks the tree instead and keeps its ancestors: all uses together cost one walk.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from tree_sitter import Node, Tree

_OPENS = re.compile(rb"[ \t\f]*\(")
_NAMED = (  # positions that bind a name or an attribute instead of using it: type of the parent, field
    ("function_definition", "name"), ("class_definition", "name"), ("keyword_argument", "name"),
    ("default_parameter", "name"), ("typed_default_parameter", "name"), ("assignment", "left"),
    ("augmented_assignment", "left"), ("for_statement", "left"), ("for_in_clause", "left"),
    ("named_expression", "name"), ("as_pattern", "alias"), ("parameters", None), ("lambda_parameters", None),
    ("typed_parameter", None), ("list_splat_pattern", None), ("dictionary_splat_pattern", None),
    ("pattern_list", None), ("tuple_pattern", None), ("list_pattern", None), ("as_pattern_target", None),
    ("global_statement", None), ("nonlocal_statement", None), ("delete_statement", None), ("dotted_name", None),
    ("aliased_import", None),
)  # fmt: skip


class Use(NamedTuple):
    """One use of a name: its first byte, and whether it is called there."""

    start: int
    is_call: bool


@dataclass(frozen=True)
class Wanted:
    """The names to look for."""

    names: frozenset[str]
    read: frozenset[str] = frozenset()  # names that run when an attribute is read
    is_member: bool = False  # whether all are attributes, so that a plain name is something else unless it is called

    @cached_property
    def word(self) -> re.Pattern[bytes]:
        """Return a pattern that finds any of the names as a whole word."""
        return _match_words(sorted(self.names))

    def stands_in(self, text: bytes) -> bool:
        """Return whether a text has any of the names, which most do not."""
        return any(name.encode() in text for name in self.names) and self.word.search(text) is not None


def _match_words(names: list[str]) -> re.Pattern[bytes]:
    return re.compile(rb"(?<![\w\x80-\xff])(?:%s)(?![\w\x80-\xff])" % b"|".join(re.escape(n.encode()) for n in names))


def list_uses(tree: Tree, text: bytes, wanted: Wanted) -> Iterator[Use]:
    """Yield the uses of names in a text, and of their aliases by its imports, in order."""
    aliases = Wanted(frozenset(_list_aliases(tree, text, wanted)))
    walk = _Walk(tree)
    for match in _match_words(sorted(wanted.names | aliases.names)).finditer(text):
        here = walk.reach(match.start(), match.end())
        if here is not None:
            is_own = match.group().decode("utf-8", "replace") in wanted.names
            use = _judge(here, walk.around, text, match, wanted if is_own else aliases)
            if use is not None:
                yield use


class _Spot(NamedTuple):
    """A node, and its field in its parent."""

    node: Node
    field: str | None


class _Walk:
    """One walk through a tree, from its start to its end."""

    def __init__(self, tree: Tree) -> None:
        self._cursor = tree.walk()
        self._here = self._read()
        self.around: list[_Spot] = []  # ancestors of the cursor, from the root

    def reach(self, start: int, end: int) -> _Spot | None:
        """Advance to the leaf that contains some bytes; return None if they lie between nodes."""
        while True:
            if self._here.node.end_byte < end:
                if self._cursor.goto_next_sibling():
                    self._here = self._read()
                elif not self.around or self.around[-1].node.end_byte >= end:
                    return None
                else:
                    self._cursor.goto_parent()
                    self._here = self.around.pop()
            elif self._here.node.start_byte > start:
                return None
            elif self._cursor.goto_first_child():
                self.around.append(self._here)
                self._here = self._read()
            else:
                return self._here

    def _read(self) -> _Spot:
        node = self._cursor.node
        assert node is not None
        return _Spot(node, self._cursor.field_name)


def _list_aliases(tree: Tree, text: bytes, wanted: Wanted) -> Iterator[str]:
    """Yield the aliases that imports of a text give to any of the names."""
    walk = _Walk(tree)
    for match in wanted.word.finditer(text):
        here = walk.reach(match.start(), match.end())
        if here is None or len(walk.around) < 2:
            continue
        outer, dotted = (each.node for each in walk.around[-2:])
        alias = outer.child_by_field_name("alias") if outer.type == "aliased_import" else None
        if alias is not None and here.node.end_byte == dotted.end_byte:  # the last name of a dotted one
            name = text[alias.start_byte : alias.end_byte].decode("utf-8", "replace")
            yield from (name,) if name not in wanted.names else ()


def _judge(here: _Spot, around: Sequence[_Spot], text: bytes, match: re.Match[bytes], wanted: Wanted) -> Use | None:
    """Return how a word uses its name; None for a comment, a definition, an import or another meaning."""
    if here.node.type != "identifier":
        is_text = here.node.type == "string_content" and (here.node.start_byte, here.node.end_byte) == match.span()
        return Use(match.start(), False) if is_text else None
    if not around or _is_definition(here, around[-1]):
        return None
    is_attribute = around[-1].node.type == "attribute" and here.field == "attribute"
    depth = len(around) - is_attribute  # of the attribute that ends with the name, or of the name
    whole = around[depth] if is_attribute else here
    if _is_called(whole, around, depth) or _OPENS.match(text, match.end()):
        return Use(match.start(), True)
    if _gives_meaning(whole, around[depth - 1]) or (wanted.is_member and not is_attribute):
        return None
    return Use(match.start(), is_attribute and match.group().decode("utf-8", "replace") in wanted.read)


def _is_called(spot: _Spot, around: Sequence[_Spot], depth: int) -> bool:
    """Return whether an expression at a depth is called, or a decorator."""
    for parent in (around[each] for each in range(depth - 1, -1, -1)):
        kind = parent.node.type
        if kind != "parenthesized_expression" and not (kind == "subscript" and spot.field == "value"):
            return kind == "decorator" or (kind == "call" and spot.field == "function")
        spot = parent
    return False


def _is_definition(spot: _Spot, parent: _Spot) -> bool:
    return parent.node.type in ("function_definition", "class_definition") and spot.field == "name"


def _gives_meaning(spot: _Spot, parent: _Spot) -> bool:
    return any(parent.node.type == kind and name in (None, spot.field) for kind, name in _NAMED)
