"""Ask Python whether it takes a text as code, and what names the text uses; nothing is run."""

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
"""The filters of warnings are one for all threads. So is in Python 3.11 the count of how deep a tree goes: where
collecting garbage lets another thread make one meanwhile, a SystemError comes of it."""


@contextmanager
def silence_warnings() -> Iterator[None]:
    """Let nothing be warned of in the block."""
    with _ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def parse_tree(text: str | bytes, mode: Literal["exec", "eval"] = "exec", name: str = "<text>") -> ast.AST:
    """Make the tree of a text as ast.parse does, safely beside other threads; raises what compile raises."""
    with _ONE_AT_A_TIME:
        return compile(text, name, mode, ast.PyCF_ONLY_AST, dont_inherit=True)


def read_literal(text: str) -> object:
    """Give the value of a literal as ast.literal_eval does, safely beside other threads; raises what that raises."""
    return ast.literal_eval(parse_tree(text.lstrip(" \t"), "eval"))


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
            tree = parse_tree(_as_module(text, indent))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
    return tree if isinstance(tree, ast.Module) else None


def parse_statements(text: bytes, indent: bytes = b"") -> list[ast.stmt]:
    """Give the statements of a text that parse_piece parses, without what that puts around it; else none.

    Behind white space their lines count from 2 on.
    """
    tree = parse_piece(text, indent)
    body = tree.body if tree else []
    return body[0].body if indent and body and isinstance(body[0], ast.If) else body


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


MAX_CODE = 200_000  # characters; a longer answer is no answer, and the compiler's memory grows with it

_MOST_CUTS = 100  # tries to find the break; an answer that was cut off needs one for each open block, a few in all
_MOST_COMPILED = 2_000_000  # characters, in all tries together

_REFUSED = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)


@lru_cache(maxsize=64)
def find_fault(code: str) -> tuple[str, int] | None:
    """Say why Python does not take a text, and on which line; None when it does (P-23).

    Remembered for a while: several stages ask of the same code.
    """
    if len(code) > MAX_CODE:
        return f"{len(code):,} characters; an answer may have {MAX_CODE:,}", 1
    try:
        with silence_warnings():  # an escape that Python dislikes is no fault
            compile(code, "<candidate>", "exec", dont_inherit=True)
    except _REFUSED as fault:
        line = getattr(fault, "lineno", None) or 1
        return f"{type(fault).__name__}: {getattr(fault, 'msg', fault)}", int(line)
    return None


def parse_code(code: str) -> ast.Module | None:
    """Parse code; None where Python does not take it."""
    if find_fault(code) is not None:
        return None
    with silence_warnings():
        tree = parse_tree(code)
    return tree if isinstance(tree, ast.Module) else None


def cut_tail(code: str) -> str:
    """Give the longest run of lines from the start that Python takes, as of an answer that was cut off; maybe none."""
    lines = code[:MAX_CODE].split("\n")
    count, left = len(lines), _MOST_COMPILED
    while left > 0:
        kept = "\n".join(lines[:count])
        fault = find_fault(kept)
        if fault is None:
            return kept
        left -= len(kept) + _MOST_COMPILED // _MOST_CUTS
        count = min(count - 1, max(fault[1] - 1, 0))
    return ""
