"""Insert the helpers that an answer calls, with their own helpers and imports, so that it runs by itself.

A model often calls a shown helper, even if asked not to; the right code then fails with a NameError.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pkg.extract.syntax import is_string_statement, parse_code
from pkg.rerank.undefined_names import find_undefined


@dataclass(frozen=True, slots=True)
class Piece:
    """A top-level function or class that may be inserted into an answer, with the imports it needs."""

    name: str
    place: str  # path:line, for the reader
    code: str
    imports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Linked:
    """An answer with the inserted pieces, and the names that remain undefined."""

    code: str
    added: tuple[Piece, ...] = ()
    missing: tuple[str, ...] = ()


def link_pieces(code: str, pieces: Sequence[Piece]) -> Linked:
    """Insert each piece that code uses and does not define, and the pieces that these use.

    The first of several pieces with the same name is taken. Code with a syntax error is unchanged.
    """
    known = {each.name: each for each in reversed(pieces)}
    added: dict[str, Piece] = {}
    linked = code
    while wanted := [name for name in list_missing(linked) if name in known and name not in added]:
        added |= {name: known[name] for name in wanted}
        linked = _insert(code, list(added.values()))
    return Linked(linked, tuple(added.values()), tuple(list_missing(linked)))


def list_missing(code: str) -> list[str]:
    """List the undefined names of code, in the order of their first use."""
    tree = parse_code(code)
    return [] if tree is None else [name for name, _ in find_undefined(code, tree)]


def explain_unusable(piece: Piece, others: Sequence[Piece], needs_all: bool = True) -> str:
    """Return the reason why an answer cannot use a piece; "" if it can.

    needs_all: whether the piece, its imports and the other pieces must define each name that it reads.
    """
    if parse_code(piece.code) is None:
        return "it has a syntax error in Python 3"
    if not needs_all:
        return ""
    names = {each.name: each for each in others if each is not piece}
    linked = link_pieces("\n".join((*piece.imports, piece.code)), list(names.values()))
    return f"undefined: {', '.join(linked.missing)}" if linked.missing else ""


def _insert(code: str, pieces: Sequence[Piece]) -> str:
    """Insert imports and pieces after the leading imports of code, because top-level statements may need them."""
    lines = code.split("\n")
    end = _find_head(code)
    head, rest = lines[:end], lines[end:]
    imports = [each for each in _list_imports(pieces) if each not in head]
    blocks = ["\n".join((*head, *imports)), *(each.code for each in reversed(pieces)), "\n".join(rest)]
    return "\n\n\n".join(block.strip("\n") for block in blocks if block.strip())


def _list_imports(pieces: Sequence[Piece]) -> list[str]:
    """List the imports of pieces, each once, without those of __future__, which must come first in a file."""
    found: Mapping[str, None] = dict.fromkeys(each for piece in pieces for each in piece.imports)
    return [each for each in found if not each.startswith("from __future__")]


def _find_head(code: str) -> int:
    """Count the lines up to the last leading import of code, after a module docstring."""
    tree = parse_code(code)
    end = 0
    for statement in tree.body if tree is not None else ():
        if not (isinstance(statement, ast.Import | ast.ImportFrom) or (not end and is_string_statement(statement))):
            break
        end = statement.end_lineno or end
    return end
