"""Show a class in few lines: whole where it is short, else what comes before its first method."""

from __future__ import annotations

import ast
from dataclasses import replace

from pkg.model import Label, Node
from pkg.retrieval.syntax import find_indent, parse_piece

SHORT_CLASS = 30  # lines that are shown whole, about what a method of the same budget takes


def show_head(node: Node) -> Node:
    """Cut a long class down to its header, docstring and attributes; give any other node as it is."""
    lines = node.content.split("\n")
    if node.label is not Label.CLASS or len(lines) <= SHORT_CLASS:
        return node
    kept = min(_find_first_method(node), len(lines))
    while kept > 1 and not lines[kept - 1].strip():
        kept -= 1
    return replace(node, content="\n".join(lines[:kept]), end_line=node.start_line + kept - 1)


def _find_first_method(node: Node) -> int:
    """Count the lines before the first method or inner class; SHORT_CLASS where the text does not parse."""
    content = node.content.encode("utf-8", "replace")
    indent = find_indent(content, node.start_col)
    tree = parse_piece(content, indent)
    if tree is None:
        return SHORT_CLASS
    found = next((each for each in ast.walk(tree) if isinstance(each, ast.ClassDef)), None)
    owned = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    inner = [each for each in found.body if isinstance(each, owned)] if found else []
    starts = [part.lineno for each in inner for part in (each, *each.decorator_list)]
    before = 2 if indent else 1  # an indented piece stands below a line that opens its suite
    return min(starts, default=SHORT_CLASS + before) - before
