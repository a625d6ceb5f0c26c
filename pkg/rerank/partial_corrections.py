"""Apply corrections that show only a part of the code: some methods of a class, or the body of a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import NamedTuple

from pkg.extract.syntax import find_syntax_error, parse_code
from pkg.rerank.parsed_question import Definition
from pkg.rerank.pieces import Piece, count_stubs, find_binding, remove_statements


class PatchedCode(NamedTuple):
    """Code assembled from a complete definition and a correction of a part of it."""

    code: str
    is_certain: bool = True  # the correction is not just a quoted line


def drop_stubs(pieces: Sequence[Piece]) -> list[Piece]:
    """Remove from each piece the stubs of definitions that another piece implements."""
    written = {each.name for piece in pieces for each in _list_definitions(piece) if not _is_unwritten(each)}
    return [_drop_stubs(piece, written) for piece in pieces]


def _drop_stubs(piece: Piece, written: set[str]) -> Piece:
    stubs = [each for each in _list_definitions(piece) if _is_unwritten(each) and each.name in written]
    if not stubs:
        return piece
    code = remove_statements(piece.code, stubs)
    return replace(piece, code=code, tree=parse_code(code))


def _list_definitions(piece: Piece) -> list[Definition]:
    return [each for each in piece.tree.body if isinstance(each, Definition)] if piece.tree is not None else []


def _is_unwritten(definition: Definition) -> bool:
    functions = sum(isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) for each in ast.walk(definition))
    return count_stubs(definition) == max(1, functions)


def list_patched(pieces: Sequence[Piece], main: int, entry: str) -> Iterator[PatchedCode]:
    """Yield the code of the piece that defines the entry point, patched with partial corrections of other pieces."""
    tree = pieces[main].tree
    found = find_binding(tree, entry) if tree is not None else None
    if isinstance(found, ast.ClassDef):
        yield from _add_methods(pieces, main, found)
        yield from _derive(pieces, main, found)
    elif isinstance(found, ast.FunctionDef):
        yield from _replace_body(pieces, main, found)


def _add_methods(pieces: Sequence[Piece], main: int, found: ast.ClassDef) -> Iterator[PatchedCode]:
    """Yield the class with the methods that later pieces define outside it."""
    patches = [each for each in pieces[main + 1 :] if _list_methods(each)]
    lines = [f"{found.name}.{name} = {name}" for each in patches for name in _list_methods(each)]
    if patches:
        yield PatchedCode("\n".join((pieces[main].code, *(f"\n{each.code}\n" for each in patches), *lines)))


def _list_methods(piece: Piece) -> list[str]:
    functions = [each for each in _list_definitions(piece) if isinstance(each, ast.FunctionDef)]
    return [each.name for each in functions if each.args.args[:1] and each.args.args[0].arg == "self"]


def _derive(pieces: Sequence[Piece], main: int, found: ast.ClassDef) -> Iterator[PatchedCode]:
    """Yield a class derived from an earlier one of the same name that has its methods and more."""
    for earlier in reversed(pieces[:main]):
        whole = find_binding(earlier.tree, found.name) if earlier.tree is not None else None
        if isinstance(whole, ast.ClassDef) and not found.bases and _list_implemented(found) < _list_implemented(whole):
            yield PatchedCode(f"{earlier.code}\n\n{_write_derived(pieces[main].tree, found)}")
            return


def _list_implemented(definition: ast.ClassDef) -> set[str]:
    """Return the names of the methods of a class that are not stubs."""
    methods = [each for each in definition.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {each.name for each in methods if not count_stubs(each)}


def _write_derived(tree: ast.Module | None, definition: ast.ClassDef) -> str:
    derived = copy(definition)
    derived.body = [each for each in definition.body if not isinstance(each, ast.FunctionDef) or not count_stubs(each)]
    derived.bases = [ast.Name(definition.name, ast.Load())]
    return "\n\n".join(ast.unparse(derived if each is definition else each) for each in tree.body) if tree else ""


def _replace_body(pieces: Sequence[Piece], main: int, found: ast.FunctionDef) -> Iterator[PatchedCode]:
    """Yield the function with the body that a later piece shows alone, which may just be a quoted line."""
    for piece in reversed(pieces[main + 1 :]):
        fault = find_syntax_error(piece.text)
        if piece.tree is None and fault is not None and "outside function" in fault[0]:
            lines = pieces[main].code.split("\n")
            head = lines[: found.body[0].lineno - 1]
            tail = lines[found.end_lineno or len(lines) :]
            indent = " " * found.body[0].col_offset
            yield PatchedCode(
                "\n".join((*head, *(indent + line for line in piece.text.split("\n")), *tail)), is_certain=False
            )
            return
