"""Shortcuts to the pieces of extracted code, for tests."""

from __future__ import annotations

from pkg.extract.python import extract_unit
from pkg.model import Block, Class, CodeUnit, Function, Import


def extract(text: str) -> CodeUnit:
    return extract_unit(text.encode())


def cut(code: CodeUnit, piece: Class | Function | Block | Import) -> str:
    """Return the text of a piece."""
    return code.text[piece.span.start : piece.span.end].decode()


def list_functions(code: CodeUnit) -> dict[str, str]:
    """Map the qualified name of each function to its text; the last one wins."""
    return {piece.qualname: cut(code, piece) for piece in code.definitions if isinstance(piece, Function)}


def find_function(code: CodeUnit, qualname: str) -> Function:
    return next(piece for piece in code.definitions if isinstance(piece, Function) and piece.qualname == qualname)


def find_class(code: CodeUnit, qualname: str) -> Class:
    return next(piece for piece in code.definitions if isinstance(piece, Class) and piece.qualname == qualname)


def list_blocks(code: CodeUnit) -> dict[str, str]:
    """Map the path of each block to its text, for texts with one function."""
    return {block.path: cut(code, block) for block in code.blocks}


def parse_docstring(code: CodeUnit, piece: Class | Function) -> str | None:
    """Return the docstring of a definition as written, quotes included."""
    span = piece.docstring
    return None if span is None else code.text[span.start : span.end].decode()
