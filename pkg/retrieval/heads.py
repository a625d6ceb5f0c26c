"""Show a class in few lines: whole where it is short, else what comes before its first method."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from pkg.model import Label, Node
from pkg.retrieval.syntax import find_indent, parse_piece

SHORT_CLASS = 30  # lines that are shown whole, about what a method of the same budget takes

_MEMBER = re.compile(r"\s+(?=@|def\b|class\b|async\s+def\b)")


def show_head(node: Node) -> Node:
    """Cut a long class down to its header, docstring and attributes; give any other node as it is."""
    lines = node.content.split("\n")
    if node.label is not Label.CLASS or len(lines) <= SHORT_CLASS:
        return node
    kept = _find_first_member(lines, find_indent(node.content.encode("utf-8", "replace"), node.start_col))
    while kept > 1 and not lines[kept - 1].strip():
        kept -= 1
    return replace(node, content="\n".join(lines[:kept]), end_line=node.start_line + kept - 1)


def _find_first_member(lines: list[str], indent: bytes) -> int:
    """Count the lines before the first method or inner class; SHORT_CLASS where none is found.

    Only what comes before a line that may begin one is parsed: a class may be a thousand lines.
    """
    for number, line in enumerate(lines):
        found = _MEMBER.match(line)
        if number and found and _begins_member(lines[:number], found[0], indent):
            return number
    return SHORT_CLASS


def _begins_member(above: list[str], margin: str, indent: bytes) -> bool:
    """Tell whether a statement at this margin would stand in the body of the class, after the lines above it."""
    tree = parse_piece("\n".join((*above, f"{margin}pass")).encode("utf-8", "replace"), indent)
    if tree is None:
        return False  # inside of a string or of brackets
    found = next((each for each in ast.walk(tree) if isinstance(each, ast.ClassDef)), None)
    return found is not None and isinstance(found.body[-1], ast.Pass)  # else it is inside of `if` or the like
