"""Insert the helpers that an answer calls, with their own helpers and imports, so that it runs by itself.

A model often calls a shown helper, even if asked not to; the right code then fails with a NameError.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pkg.extract.syntax import is_string_statement, parse_code
from pkg.generation.known_imports import find_imports
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
    imports: tuple[str, ...] = ()  # added ones, without those of the pieces


_POSTPONED = "from __future__ import annotations"
"""Keeps names of annotations that are not defined from failing."""


def link_pieces(code: str, pieces: Sequence[Piece]) -> Linked:
    """Insert each piece that code uses and does not define, the pieces that these use, and missing imports.

    The first of several pieces with the same name is taken. Imports are those of the standard library, of the pieces,
    and of installed libraries. Where names remain undefined in annotations alone, annotations are postponed. Code with
    a syntax error is unchanged.
    """
    known = {each.name: each for each in reversed(pieces)}
    added: dict[str, Piece] = {}
    linked = code
    while wanted := [name for name in list_missing(linked) if name in known and name not in added]:
        added |= {name: known[name] for name in wanted}
        linked = _insert(code, list(added.values()))
    imports = find_imports(linked, dict.fromkeys(list_missing(linked), _list_imports(pieces)))
    linked = _insert(linked, (), imports)
    missing = list_missing(linked)
    if missing and (left := list_missing(postponed := _insert(linked, (), (_POSTPONED,)))) != missing:
        linked, missing = postponed, left
    return Linked(linked, tuple(added.values()), tuple(missing), tuple(imports))


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


def _insert(code: str, pieces: Sequence[Piece], more: Sequence[str] = ()) -> str:
    """Insert imports and pieces after the leading imports of code, because top-level statements may need them.

    more: imports, of which one of __future__ comes before all others.
    """
    if not pieces and not more:
        return code
    lines = code.split("\n")
    end, first = _find_head(code)
    head, rest = lines[:end], lines[end:]
    imports = [each for each in (*_list_imports(pieces), *more) if each not in head]
    if _POSTPONED in imports:
        imports.remove(_POSTPONED)
        head.insert(first, _POSTPONED)
    blocks = ["\n".join((*head, *imports)), *(each.code for each in reversed(pieces)), "\n".join(rest)]
    return "\n\n\n".join(block.strip("\n") for block in blocks if block.strip())


def _list_imports(pieces: Sequence[Piece]) -> list[str]:
    """List the imports of pieces, each once, without those of __future__, which must come first in a file."""
    found: Mapping[str, None] = dict.fromkeys(each for piece in pieces for each in piece.imports)
    return [each for each in found if not each.startswith("from __future__")]


def _find_head(code: str) -> tuple[int, int]:
    """Count the lines up to the last leading import of code, and those of the module docstring."""
    tree = parse_code(code)
    end = first = 0
    for statement in tree.body if tree is not None else ():
        if not (isinstance(statement, ast.Import | ast.ImportFrom) or (not end and is_string_statement(statement))):
            break
        end = statement.end_lineno or end
        if is_string_statement(statement):
            first = end
    return end, first
