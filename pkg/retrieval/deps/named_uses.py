"""Find where names are called, read or handed on in a text, by its syntax tree; a text that is damaged has one too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from tree_sitter import Node, Tree

_SILENT = ("comment", "string_content", "escape_sequence", "string_start", "string_end")
_OPENS = re.compile(rb"[ \t\f]*\(")
_NAMED = (  # what gives a name or an attribute a meaning instead of using it: type of the parent, field
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
    """The names whose uses are looked for."""

    names: frozenset[str]
    read: frozenset[str] = frozenset()  # those that are run when an attribute of the name is read
    is_member: bool = False  # whether all are attributes, so that a plain name is another thing unless it is called

    @cached_property
    def word(self) -> re.Pattern[bytes]:
        """Return a pattern that finds any of the names as a whole word."""
        return _match_words(sorted(self.names))

    def stands_in(self, text: bytes) -> bool:
        """Return whether a text holds any of the names, which most do not."""
        return any(name.encode() in text for name in self.names) and self.word.search(text) is not None


def _match_words(names: list[str]) -> re.Pattern[bytes]:
    return re.compile(rb"(?<![\w\x80-\xff])(?:%s)(?![\w\x80-\xff])" % b"|".join(re.escape(n.encode()) for n in names))


def list_uses(tree: Tree, text: bytes, wanted: Wanted) -> Iterator[Use]:
    """Yield the uses of names in a text, and of their aliases by its imports, in the order of the text."""
    aliases = sorted(set(_list_aliases(tree, text, wanted)))
    found = [use for match in wanted.word.finditer(text) if (use := _judge(tree, text, match, wanted))]
    if aliases:
        alias = Wanted(frozenset(aliases))
        found += [use for match in alias.word.finditer(text) if (use := _judge(tree, text, match, alias))]
    yield from sorted(found)


def _list_aliases(tree: Tree, text: bytes, wanted: Wanted) -> Iterator[str]:
    """Yield the aliases that imports of a text give to any of the names."""
    for match in wanted.word.finditer(text):
        node = _find_node(tree, match)
        around = node.parent.parent if node is not None and node.parent is not None else None
        if around is not None and around.type == "aliased_import" and node is not None:
            alias = around.child_by_field_name("alias")
            is_last = node.parent is not None and node.end_byte == node.parent.end_byte
            if alias is not None and alias.text is not None and is_last and alias.id != node.id:
                name = alias.text.decode("utf-8", "replace")
                yield from (name,) if name not in wanted.names else ()


def _find_node(tree: Tree, match: re.Match[bytes]) -> Node | None:
    return tree.root_node.descendant_for_byte_range(match.start(), match.end())


def _judge(tree: Tree, text: bytes, match: re.Match[bytes], wanted: Wanted) -> Use | None:
    """Return how a word uses the name that it is; None for a comment, a definition, an import or another meaning."""
    node = _find_node(tree, match)
    if node is None or node.type in _SILENT or node.type != "identifier":
        is_text = node is not None and node.type == "string_content" and node.text == match.group()
        return Use(match.start(), False) if is_text else None
    whole = _widen(node)
    is_attribute = whole.type == "attribute"
    parent = whole.parent
    if parent is None or _is_definition(node):
        return None
    if _is_called(whole) or _OPENS.match(text, match.end()):
        return Use(match.start(), True)
    if _gives_meaning(whole) or (wanted.is_member and not is_attribute):
        return None
    return Use(match.start(), is_attribute and match.group().decode("utf-8", "replace") in wanted.read)


def _widen(node: Node) -> Node:
    """Return the attribute that a name is the last part of, or the name."""
    parent = node.parent
    if parent is not None and parent.type == "attribute" and _is_field(parent, "attribute", node):
        return parent
    return node


def _is_called(node: Node) -> bool:
    """Return whether an expression is what a call calls, or a decorator."""
    parent = node.parent
    while parent is not None and (
        parent.type == "parenthesized_expression" or (parent.type == "subscript" and _is_field(parent, "value", node))
    ):
        node, parent = parent, parent.parent
    if parent is None:
        return False
    return parent.type == "decorator" or (parent.type == "call" and _is_field(parent, "function", node))


def _is_definition(node: Node) -> bool:
    parent = node.parent
    is_def = parent is not None and parent.type in ("function_definition", "class_definition")
    return is_def and parent is not None and _is_field(parent, "name", node)


def _gives_meaning(node: Node) -> bool:
    parent = node.parent
    return parent is not None and any(
        parent.type == kind and (name is None or _is_field(parent, name, node)) for kind, name in _NAMED
    )


def _is_field(parent: Node, name: str, node: Node) -> bool:
    child = parent.child_by_field_name(name)
    return child is not None and child.id == node.id
