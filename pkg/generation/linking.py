"""Put the helpers that an answer calls into it, with what they stand on, so that it runs by itself.

A model that is shown a helper often calls it, though it was asked not to; the right code then fails for a name.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pkg.extract.syntax import is_string_statement, parse_code
from pkg.rerank.undefined_names import find_undefined


@dataclass(frozen=True, slots=True)
class Piece:
    """A top-level function or class that may be put into an answer: its name, its code, the imports it stands on."""

    name: str
    place: str  # path:line, for the reader
    code: str
    imports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Linked:
    """An answer with the pieces that it needs, and the names that are still bound nowhere."""

    code: str
    added: tuple[Piece, ...] = ()
    missing: tuple[str, ...] = ()


def link_pieces(code: str, pieces: Sequence[Piece]) -> Linked:
    """Add to code each piece that it names and does not define, and what these name in turn.

    Pieces of one name: the first is taken. Code that Python does not parse stays as it is.
    """
    known = {each.name: each for each in reversed(pieces)}
    added: dict[str, Piece] = {}
    linked = code
    while wanted := [name for name in list_missing(linked) if name in known and name not in added]:
        added |= {name: known[name] for name in wanted}
        linked = _insert(code, list(added.values()))
    return Linked(linked, tuple(added.values()), tuple(list_missing(linked)))


def list_missing(code: str) -> list[str]:
    """List the names that code reads and nothing binds, in the order of their first use."""
    tree = parse_code(code)
    return [] if tree is None else [name for name, _ in find_undefined(code, tree)]


def explain_unusable(piece: Piece, others: Sequence[Piece], needs_all: bool = True) -> str:
    """Say why a piece is of no use to an answer; "" if it is of use.

    needs_all: whether each name that it reads must come from it, its imports or the other pieces.
    """
    if parse_code(piece.code) is None:
        return "Python 3 does not take it"
    if not needs_all:
        return ""
    names = {each.name: each for each in others if each is not piece}
    linked = link_pieces("\n".join((*piece.imports, piece.code)), list(names.values()))
    return f"nothing gives {', '.join(linked.missing)}" if linked.missing else ""


def _insert(code: str, pieces: Sequence[Piece]) -> str:
    """Put imports and pieces behind the imports at the head of code: what runs at once may need them."""
    lines = code.split("\n")
    end = _find_head(code)
    head, rest = lines[:end], lines[end:]
    imports = [each for each in _list_imports(pieces) if each not in head]
    blocks = ["\n".join((*head, *imports)), *(each.code for each in reversed(pieces)), "\n".join(rest)]
    return "\n\n\n".join(block.strip("\n") for block in blocks if block.strip())


def _list_imports(pieces: Sequence[Piece]) -> list[str]:
    """List the imports of pieces, each once; those of __future__ are left out, which may stand at the top alone."""
    found: Mapping[str, None] = dict.fromkeys(each for piece in pieces for each in piece.imports)
    return [each for each in found if not each.startswith("from __future__")]


def _find_head(code: str) -> int:
    """Count the lines up to the last import at the head of code, behind a docstring of the module."""
    tree = parse_code(code)
    end = 0
    for statement in tree.body if tree is not None else ():
        if not (isinstance(statement, ast.Import | ast.ImportFrom) or (not end and is_string_statement(statement))):
            break
        end = statement.end_lineno or end
    return end
