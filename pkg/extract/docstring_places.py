"""Find the docstring of a suite, and the beginning of its code (A-02)."""

from __future__ import annotations

import re

from tree_sitter import Node

from pkg.extract.parser import find_first_child
from pkg.model import Span

_STRING_PREFIX = re.compile(rb"[A-Za-z]*")


def make_span(first: Node, last: Node) -> Span:
    """Return the span from the start of one node to the end of another; its last line is that of its last byte."""
    end = last.end_point
    return Span(first.start_byte, last.end_byte, first.start_point.row + 1, end.row + 1 if end.column else end.row)


def split_docstring(text: bytes, body: Node) -> tuple[Node | None, Node | None]:
    """Find the docstring of a suite and the first comment or statement of the rest (A-02); None if missing.

    A rest of comments alone does not count.
    """
    docstring: Node | None = None
    rest: Node | None = None
    for index in range(body.named_child_count):
        child = body.named_child(index)
        if child is None:
            break
        if docstring is None and is_docstring(text, child):
            docstring, rest = child, None
            continue
        rest = rest or child
        if child.type != "comment":
            return docstring, rest
    return docstring, None


def find_docstring(text: bytes, body: Node) -> Node | None:
    """Find the docstring of a suite."""
    return split_docstring(text, body)[0]


def is_docstring(text: bytes, statement: Node) -> bool:
    """Return whether a statement is a plain string: f-strings and bytes, even in part, are no docstrings."""
    child = find_first_child(statement) if statement.type == "expression_statement" else None
    if child is None or child.type not in ("string", "concatenated_string"):
        return False
    parts = [child] if child.type == "string" else [part for part in child.named_children if part.type == "string"]
    return all(_is_plain(text, part) for part in parts)


def _is_plain(text: bytes, string: Node) -> bool:
    prefix = _STRING_PREFIX.match(text, string.start_byte, string.start_byte + 3)
    return prefix is not None and not set(prefix.group().lower()) & set(b"fbt")
