"""Tell whether a piece of Python that was cut from its surroundings is syntactically right."""

from __future__ import annotations

import ast
import warnings


def is_python(text: bytes, indent: bytes = b"") -> bool:
    """Tell whether the running Python parses a text whose first line stood behind the given white space."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes in analysed code are not ours to report
        try:
            ast.parse(_as_module(text, indent))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


def is_python_like(text: bytes, indent: bytes = b"") -> bool:
    """Tell whether tree-sitter finds no fault: takes Python 2 and newer syntax, but empty suites as well."""
    from pkg.extract.parser import parses

    return parses(_as_module(text, indent).encode("utf-8", "replace"))


def find_indent(content: bytes, column: int) -> bytes:
    """Guess the white space before the first line of a content that stood at this byte column.

    The lines below tell tabs from spaces; without such a line spaces will do.
    """
    if column == 0:
        return b""
    for line in content.split(b"\n")[1:]:
        head = line[:column]
        if len(head) == column and not head.strip(b" \t") and line.strip():
            return head
    return b" " * column


def _as_module(text: bytes, indent: bytes) -> str:
    """Give the text as a module of its own; as text, so that a coding comment inside it has no effect."""
    code = text.decode("utf-8", "replace")
    return f"if 1:\n{indent.decode('ascii', 'replace')}{code}" if indent else code
