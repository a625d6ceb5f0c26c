"""Make of what a query found the pieces that an answer may stand on: whole definitions with their imports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pkg.generation.linking import Piece, explain_unusable
from pkg.generation.prompt import align_code
from pkg.model import Node, QueryResult
from pkg.retrieval.needed_imports import ModuleImports
from pkg.units import find_owner

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore


def read_pieces(store: GraphStore, result: QueryResult) -> dict[str, Piece]:
    """Read the definitions that hits are or stand in, and their helpers, by the id of the hit or helper.

    Only what stands at the top level of a file or row can be put into an answer; the rest is left out.
    """
    shown = store.get([hit.id for hit in result.hits])
    owners = {node.id: find_owner(node.id, node.label, node.name) for node in shown}
    nodes = {node.id: node for node in store.get(sorted({*owners.values()}))}
    imports = ModuleImports(store, {source.name for source in store.sources() if source.kind == "corpus"})
    imports.read(nodes.values())
    found: dict[str, Piece] = {}
    for hit in result.hits:
        node = nodes[owners[hit.id]]
        found[hit.id] = _make_piece(node, imports.list_needed(node))
        for each in hit.helpers:
            place = f"{each.path}:{each.start_line}"
            found.setdefault(each.id, Piece(each.qualname, place, align_code(each.content), each.imports))
    return {name: piece for name, piece in found.items() if "." not in piece.name}


def split_usable(pieces: Sequence[Piece]) -> tuple[list[Piece], list[str]]:
    """Give the pieces that run when all others are there, and why each of the rest does not."""
    reasons = [explain_unusable(each, pieces) for each in pieces]
    usable = [each for each, reason in zip(pieces, reasons, strict=True) if not reason]
    return usable, list(_explain(pieces, reasons))


def _explain(pieces: Sequence[Piece], reasons: Sequence[str]) -> Iterator[str]:
    for piece, reason in zip(pieces, reasons, strict=True):
        if reason:
            yield f"{piece.name} at {piece.place} is not handed out: {reason}"


def _make_piece(node: Node, imports: tuple[str, ...]) -> Piece:
    return Piece(node.qualname, f"{node.path}:{node.start_line}", align_code(node.content), imports)
