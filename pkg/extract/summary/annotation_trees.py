"""Annotations as nested lists, stored without the text (A-12).

| list | what it is |
|---|---|
| `["n", "a.b"]` | a name, dotted or not |
| `["s", base, [arguments]]` | a subscription such as `list[int]` |
| `["o", [alternatives]]` | `a | b` |
| `["l", [items]]` | a list of types, as Callable takes |
| `["k", text]` | a text inside of Literal, or anything else that names no type |
"""

from __future__ import annotations

from typing import Any
from unicodedata import normalize

from tree_sitter import Node

from pkg.extract.parser import parse

Annotation = list[Any]
OTHER: Annotation = ["k", ""]
_MAX_DEPTH = 20
_INSIDE = ("type", "parenthesized_expression", "module", "expression_statement")


def read_annotation(node: Node, depth: int = 0) -> Annotation:
    """Parse the syntax tree of an annotation; whatever is no type is unknown."""
    kind = node.type
    if depth > _MAX_DEPTH:
        return OTHER
    if kind in _INSIDE:
        inner = next((child for child in node.named_children if child.type != "comment"), None)
        return read_annotation(inner, depth + 1) if inner is not None else OTHER
    if kind in ("identifier", "attribute", "member_type"):
        return _read_name(node)
    if kind in ("generic_type", "subscript"):
        first, *rest = node.named_children
        if kind == "generic_type":
            rest = [each for parameter in rest for each in parameter.named_children]
        return ["s", read_annotation(first, depth + 1), [read_annotation(each, depth + 1) for each in rest]]
    if kind in ("union_type", "binary_operator"):
        return ["o", [read_annotation(each, depth + 1) for each in node.named_children]]
    if kind in ("list", "tuple", "constrained_type"):
        return ["l", [read_annotation(each, depth + 1) for each in node.named_children]]
    if kind == "none":
        return ["n", "None"]
    if kind == "string":
        return _read_text(node, depth)
    return OTHER


def _read_name(node: Node) -> Annotation:
    text = (node.text or b"").decode("utf-8", "replace")
    name = "".join(text.split())
    if not name.replace(".", "").isidentifier():
        return OTHER
    return ["n", name if name.isascii() else normalize("NFKC", name)]


def _read_text(node: Node, depth: int) -> Annotation:
    """Parse a type that is written as a string."""
    content = [child.text or b"" for child in node.named_children if child.type == "string_content"]
    text = content[0].strip() if len(content) == 1 else b""
    if not text or len(text) > 500:
        return OTHER
    root = parse(text).root_node
    if root.has_error or root.named_child_count != 1:
        return ["k", text.decode("utf-8", "replace")]
    return read_annotation(root, depth + 1)


def is_named(annotation: Any, name: str) -> bool:
    """Return whether a name occurs in an annotation."""
    if isinstance(annotation, str):
        return annotation.rpartition(".")[2] == name
    return isinstance(annotation, list | tuple) and any(is_named(each, name) for each in annotation)
