"""Parse texts with the running Python, and list the names that they use; nothing is run."""

from __future__ import annotations

import ast
import re
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import symtable


_ONE_AT_A_TIME = threading.RLock()
"""Warning filters are shared by all threads. So is, in Python 3.11, the depth counter of the parser: if garbage
collection lets another thread parse meanwhile, it raises SystemError."""


@contextmanager
def silence_warnings() -> Iterator[None]:
    """Suppress warnings in the block."""
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def parse_tree(text: str | bytes, mode: Literal["exec", "eval"] = "exec", name: str = "<text>") -> ast.AST:
    """Parse a text as ast.parse does, safely in several threads; raises what compile raises."""
    with _ONE_AT_A_TIME:
        return compile(text, name, mode, ast.PyCF_ONLY_AST, dont_inherit=True)


def read_literal(text: str) -> object:
    """Evaluate a literal as ast.literal_eval does, safely in several threads; raises what that raises."""
    return ast.literal_eval(parse_tree(text.lstrip(" \t"), "eval"))


_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")


def is_python(text: bytes, indent: bytes = b"") -> bool:
    """Return whether the running Python parses a text whose first line had the given indentation."""
    return parse_piece(text, indent) is not None


def is_noop(text: bytes, indent: bytes = b"") -> bool:
    """Return whether a text does nothing: headers and docstrings with `pass` below them, and no other statement."""
    tree = parse_piece(text, indent)
    if tree is None:
        return False
    simple = (node for node in ast.walk(tree) if isinstance(node, ast.stmt) and not hasattr(node, "body"))
    return all(isinstance(node, ast.Pass) or is_string_statement(node) for node in simple)


def is_string_statement(statement: ast.stmt) -> bool:
    """Return whether a statement is only a string: a docstring, or a string used as a comment."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


@lru_cache(maxsize=2)  # callers check a text, then look at its tree
def parse_piece(text: bytes, indent: bytes = b"") -> ast.Module | None:
    """Parse a text whose first line had the given indentation; None if the running Python does not parse it."""
    with silence_warnings():
        try:
            tree = parse_tree(_as_module(text, indent))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    return tree if isinstance(tree, ast.Module) else None


def parse_statements(text: bytes, indent: bytes = b"") -> list[ast.stmt]:
    """Return the statements of a text, without the wrapper of parse_piece; none if it does not parse.

    Lines of an indented text count from 2.
    """
    tree = parse_piece(text, indent)
    body = tree.body if tree else []
    return body[0].body if indent and body and isinstance(body[0], ast.If) else body


@lru_cache(maxsize=1000)  # helpers recur from question to question
def find_global_names(text: bytes, indent: bytes = b"") -> frozenset[str]:
    """List the names that a text uses and does not bind; without a parse, every word that is no attribute."""
    import symtable

    with silence_warnings():
        try:
            table = symtable.symtable(_as_module(text, indent), "", "exec")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return frozenset(_WORD.findall(text.decode("utf-8", "replace")))
    return list_read_globals(table)


def list_read_globals(table: symtable.SymbolTable) -> frozenset[str]:
    """List the global names that the code of a module reads, including nested scopes."""
    return frozenset(
        each.get_name()
        for inner in walk_tables(table)
        for each in inner.get_symbols()
        if each.is_referenced() and (each.is_global() or inner is table)
    )


def walk_tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    """Iterate over a symbol table and all nested ones."""
    waiting = [table]
    while waiting:
        current = waiting.pop()
        yield current
        waiting += current.get_children()


def find_indent(content: bytes, column: int) -> bytes:
    """Guess the indentation of the first line of a content at a byte column.

    The following lines distinguish tabs from spaces; without such a line spaces are assumed.
    """
    if column == 0:
        return b""
    for line in content.split(b"\n")[1:]:
        head = line[:column]
        if len(head) == column and not head.strip(b" \t") and line.strip():
            return head
    return b" " * column


def _as_module(text: bytes, indent: bytes) -> str:
    """Return the text as a module; decoded, so that a coding comment inside it has no effect."""
    code = text.decode("utf-8", "replace")
    return f"if 1:\n{indent.decode('ascii', 'replace')}{code}" if indent else code


MAX_CODE = 200_000  # characters; the compiler's memory grows with the text

_MAX_CUTS = 100  # attempts to find the break; a truncated answer needs one for each open block
_MAX_COMPILED = 2_000_000  # characters, in all attempts together

_REFUSED = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)


@lru_cache(maxsize=64)
def find_syntax_error(code: str) -> tuple[str, int] | None:
    """Return the syntax error of a text and its line; None if there is none (P-23).

    Cached, because several stages check the same code.
    """
    if len(code) > MAX_CODE:
        return f"{len(code):,} characters; an answer may have {MAX_CODE:,}", 1
    try:
        with silence_warnings():  # an invalid escape is no error
            compile(code, "<candidate>", "exec", dont_inherit=True)
    except _REFUSED as fault:
        line = getattr(fault, "lineno", None) or 1
        return f"{type(fault).__name__}: {getattr(fault, 'msg', fault)}", int(line)
    return None


def parse_code(code: str) -> ast.Module | None:
    """Parse code; None if it has a syntax error."""
    if find_syntax_error(code) is not None:
        return None
    with silence_warnings():
        tree = parse_tree(code)
    return tree if isinstance(tree, ast.Module) else None


def cut_tail(code: str) -> str:
    """Return the longest prefix of lines that parses, such as of a truncated answer; possibly empty."""
    lines = code[:MAX_CODE].split("\n")
    count, left = len(lines), _MAX_COMPILED
    while left > 0:
        kept = "\n".join(lines[:count])
        fault = find_syntax_error(kept)
        if fault is None:
            return kept
        left -= len(kept) + _MAX_COMPILED // _MAX_CUTS
        count = min(count - 1, max(fault[1] - 1, 0))
    return ""
