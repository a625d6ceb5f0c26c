"""Read corrections that show a part of the code alone: a few methods of a class, a method, the body of a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import NamedTuple

from pkg.extract.syntax import find_fault, parse_code
from pkg.rerank.pieces import Piece, count_hollow, find_binding, leave_lines
from pkg.rerank.wanted import Definition


class Extended(NamedTuple):
    """Code that was put together of a whole definition and a part that is shown anew."""

    code: str
    is_sure: bool = True  # the part is no line that is quoted to be explained


def drop_hollow(pieces: Sequence[Piece]) -> list[Piece]:
    """Leave out of each piece what still has to be written, where another piece has written it."""
    written = {each.name for piece in pieces for each in _list_definitions(piece) if not _is_hollow(each)}
    return [_drop_hollow(piece, written) for piece in pieces]


def _drop_hollow(piece: Piece, written: set[str]) -> Piece:
    hollow = [each for each in _list_definitions(piece) if _is_hollow(each) and each.name in written]
    if not hollow:
        return piece
    code = leave_lines(piece.code, hollow)
    return replace(piece, code=code, tree=parse_code(code))


def _list_definitions(piece: Piece) -> list[Definition]:
    return [each for each in piece.tree.body if isinstance(each, Definition)] if piece.tree is not None else []


def _is_hollow(definition: Definition) -> bool:
    functions = sum(isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) for each in ast.walk(definition))
    return count_hollow(definition) == max(1, functions)


def list_extended(pieces: Sequence[Piece], main: int, entry: str) -> Iterator[Extended]:
    """Give the code of a piece that defines what is wanted with the parts that other pieces show anew."""
    tree = pieces[main].tree
    found = find_binding(tree, entry) if tree is not None else None
    if isinstance(found, ast.ClassDef):
        yield from _add_methods(pieces, main, found)
        yield from _derive(pieces, main, found)
    elif isinstance(found, ast.FunctionDef):
        yield from _replace_body(pieces, main, found)


def _add_methods(pieces: Sequence[Piece], main: int, found: ast.ClassDef) -> Iterator[Extended]:
    """Give the class with the methods that later pieces show without it."""
    patches = [each for each in pieces[main + 1 :] if _list_methods(each)]
    lines = [f"{found.name}.{name} = {name}" for each in patches for name in _list_methods(each)]
    if patches:
        yield Extended("\n".join((pieces[main].code, *(f"\n{each.code}\n" for each in patches), *lines)))


def _list_methods(piece: Piece) -> list[str]:
    functions = [each for each in _list_definitions(piece) if isinstance(each, ast.FunctionDef)]
    return [each.name for each in functions if each.args.args[:1] and each.args.args[0].arg == "self"]


def _derive(pieces: Sequence[Piece], main: int, found: ast.ClassDef) -> Iterator[Extended]:
    """Give a class of few methods derived from an earlier one of the same name that has these and more."""
    for earlier in reversed(pieces[:main]):
        whole = find_binding(earlier.tree, found.name) if earlier.tree is not None else None
        if isinstance(whole, ast.ClassDef) and not found.bases and _name_written(found) < _name_written(whole):
            yield Extended(f"{earlier.code}\n\n{_write_derived(pieces[main].tree, found)}")
            return


def _name_written(definition: ast.ClassDef) -> set[str]:
    """Name the methods of a class that are written."""
    methods = [each for each in definition.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {each.name for each in methods if not count_hollow(each)}


def _write_derived(tree: ast.Module | None, definition: ast.ClassDef) -> str:
    derived = copy(definition)
    derived.body = [each for each in definition.body if not isinstance(each, ast.FunctionDef) or not count_hollow(each)]
    derived.bases = [ast.Name(definition.name, ast.Load())]
    return "\n\n".join(ast.unparse(derived if each is definition else each) for each in tree.body) if tree else ""


def _replace_body(pieces: Sequence[Piece], main: int, found: ast.FunctionDef) -> Iterator[Extended]:
    """Give the function with the body that the last later piece shows alone; it may be a line that is explained."""
    for piece in reversed(pieces[main + 1 :]):
        fault = find_fault(piece.text)
        if piece.tree is None and fault is not None and "outside function" in fault[0]:
            lines = pieces[main].code.split("\n")
            head = lines[: found.body[0].lineno - 1]
            below = lines[found.end_lineno or len(lines) :]
            indent = " " * found.body[0].col_offset
            yield Extended(
                "\n".join((*head, *(indent + line for line in piece.text.split("\n")), *below)), is_sure=False
            )
            return
