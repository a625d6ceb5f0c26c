"""Tell whether a piece of Python that was cut from its surroundings is syntactically right."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from pkg.quiet import silence_warnings

if TYPE_CHECKING:
    import symtable

_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")


def is_python(text: bytes, indent: bytes = b"") -> bool:
    """Tell whether the running Python parses a text whose first line stood behind the given white space."""
    return parse_piece(text, indent) is not None


def is_hollow(text: bytes, indent: bytes = b"") -> bool:
    """Tell whether a text does nothing: headers and docstrings with `pass` below them, and no other statement."""
    tree = parse_piece(text, indent)
    if tree is None:
        return False
    simple = (node for node in ast.walk(tree) if isinstance(node, ast.stmt) and not hasattr(node, "body"))
    return all(isinstance(node, ast.Pass) or is_string_statement(node) for node in simple)


def is_string_statement(statement: ast.stmt) -> bool:
    """Tell whether a statement is a string alone: a docstring, or a comment in its clothes."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


@lru_cache(maxsize=2)  # who asks whether a text is right goes on to ask what it does
def parse_piece(text: bytes, indent: bytes = b"") -> ast.Module | None:
    """Parse a text whose first line stood behind the given white space; None where the running Python does not."""
    with silence_warnings():
        try:
            return ast.parse(_as_module(text, indent))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


@lru_cache(maxsize=1000)  # helpers come again from question to question
def find_global_names(text: bytes, indent: bytes = b"") -> frozenset[str]:
    """List the names that a text uses and does not bind itself; without a parse, every word that is no attribute."""
    import symtable

    with silence_warnings():
        try:
            table = symtable.symtable(_as_module(text, indent), "", "exec")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return frozenset(_WORD.findall(text.decode("utf-8", "replace")))
    return list_read_globals(table)


def list_read_globals(table: symtable.SymbolTable) -> frozenset[str]:
    """List the global names that the code of a module reads, in itself and in all that it defines."""
    return frozenset(
        each.get_name()
        for inner in walk_tables(table)
        for each in inner.get_symbols()
        if each.is_referenced() and (each.is_global() or inner is table)
    )


def walk_tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    """Give a symbol table and all inside it."""
    waiting = [table]
    while waiting:
        current = waiting.pop()
        yield current
        waiting += current.get_children()


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
