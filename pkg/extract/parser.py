"""The tree-sitter parser of the process, named patterns found in one pass over a tree, and checks of trees.

The parser accepts more than Python: a header without a body, a `return` after a function that lost its indentation.
And prose may parse by accident: `Sure` is a name and `Note: this` an annotation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import tree_sitter_python
from tree_sitter import Language, Node, Parser, Query, QueryCursor, Tree

PYTHON = Language(tree_sitter_python.language())

_LONG_RUN = 500  # lines of comment, of a backslash alone, or blank
_RUN = re.compile(rb"^(?:[ \t\f]*(?:#[^\n]*|\\)?\r?\n){2,}", re.MULTILINE)
# A line that looks like a comment may lie in a string, whose end must stay.
_BLANK_LINE = re.compile(rb"^(?![^\n]*(?:\"\"\"|'''|#[^\n]*\\\r?\n))[^\r\n]+", re.MULTILINE)


@lru_cache(maxsize=1)
def _parser() -> Parser:
    return Parser(PYTHON)


def parse(code: bytes) -> Tree:
    """Parse Python source; a broken text still yields a tree, with ERROR nodes."""
    return _parser().parse(_blank_long_runs(code))


def find_first_child(node: Node) -> Node | None:
    """Return the first named child that is no comment; None if there is none, as in empty brackets."""
    first = node.named_child(0) if node.named_child_count else None  # avoids a list of all children in most cases
    if first is None or first.type != "comment":
        return first
    return next((child for child in node.named_children if child.type != "comment"), None)


def is_python_like(text: bytes, indent: bytes = b"") -> bool:
    """Return whether tree-sitter finds no fault in a text whose first line had the given indentation.

    That accepts Python 2 and newer syntax, but empty suites as well.
    """
    code = b"if 1:\n" + indent + text if indent else text
    return not parse(code.decode("utf-8", "replace").encode()).root_node.has_error


def _blank_long_runs(code: bytes) -> bytes:
    """Blank thousands of comment lines in a row, for which the parser takes quadratic time."""
    return code if code.count(b"#") + code.count(b"\\") < _LONG_RUN else _RUN.sub(_blank_run, code)


def _blank_run(found: re.Match[bytes]) -> bytes:
    run = found.group()
    return run if run.count(b"\n") < _LONG_RUN else _BLANK_LINE.sub(lambda line: b" " * len(line.group()), run)


class Patterns:
    """Tree-sitter queries by kind, each of which captures one node as its kind; a kind may have several."""

    def __init__(self, patterns: Sequence[tuple[str, str]]) -> None:
        self._kinds = dict.fromkeys(kind for kind, _ in patterns)
        self._query = Query(PYTHON, "\n".join(pattern for _, pattern in patterns))

    def find(self, root: Node) -> dict[str, list[Node]]:
        """Return the nodes of every kind, in no particular order."""
        captured = QueryCursor(self._query).captures(root)
        return {kind: captured.get(kind, []) for kind in self._kinds}


# A header that ends its line without a deeper line after it; most of these are words in a docstring.
_BODILESS = re.compile(
    rb"^([ \t]*)(?:async[ \t]+)?(?:def|class|if|elif|else|for|while|with|try|except|finally|match|case)\b"
    rb"[^\n]{0,500}(?=:[ \t]*(?:\#[^\n]*)?\r?(?:\n(?:[ \t]*\r?\n)*(?!\1[ \t])[ \t]*(?:\S|\Z)|\Z))",
    re.MULTILINE,
)

_CODE_STATEMENTS = frozenset((
    "function_definition", "class_definition", "decorated_definition", "import_statement", "import_from_statement",
    "future_import_statement", "if_statement", "for_statement", "while_statement", "with_statement", "try_statement",
    "match_statement", "print_statement", "exec_statement",
))  # fmt: skip


def is_sound(tree: Tree, code: bytes, is_body: bool = False) -> bool:
    """Return whether the text parses and keeps its bodies under their headers; the body of a function may return."""
    root = tree.root_node
    return not (root.has_error or (not is_body and _returns_outside(root)) or _has_empty_body(root, code))


def holds_code(tree: Tree) -> bool:
    """Return whether a text has a definition, import, assignment, call or compound statement, and so is no prose."""
    return any(
        child.type in _CODE_STATEMENTS or (bool(child.children) and _is_code(child))
        for child in tree.root_node.children
    )


def _is_code(statement: Node) -> bool:
    """Return whether a simple statement is code: `return value` and `Thanks (all)` may be prose."""
    if statement.type == "return_statement":
        return statement.children[-1].type not in ("return", "identifier")
    inner = statement.children[0]
    if inner.type == "await" and inner.child_count > 1:
        inner = inner.children[1]
    if inner.type == "call":
        return b" " not in (inner.text or b"")[: inner.children[0].end_byte - inner.start_byte + 1]
    return inner.type == "augmented_assignment" or (
        inner.type == "assignment" and inner.child_by_field_name("right") is not None
    )


def _returns_outside(root: Node) -> bool:
    """Return whether the module has a `return` after a function, which has lost it."""
    kinds = [child.type for child in root.children]
    return "return_statement" in kinds and "function_definition" in kinds[: kinds.index("return_statement")]


def _has_empty_body(root: Node, code: bytes) -> bool:
    for header in _BODILESS.finditer(code):
        colon = root.descendant_for_byte_range(header.end(), header.end() + 1)
        if colon is not None and colon.type == ":" and colon.parent is not None:
            owner = colon.parent
            if any(child.type == "block" and child.child_count == 0 for child in owner.children):
                return True
    return False
