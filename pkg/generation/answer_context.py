"""Make of what a query found the context of an answer: code and signatures for the prompt, pieces for the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pkg.generation.aligned_code import align_code
from pkg.generation.forms.helper_text import read_helpers
from pkg.generation.linking import Piece, explain_unusable
from pkg.generation.sample_writer import Context
from pkg.model import Hit, Node, QueryResult
from pkg.retrieval.needed_imports import ModuleImports
from pkg.units import find_owner

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

MOST_SIGNATURES = 3
"""Shown to small models: three names with a line each mended more than they broke where whole code did the reverse."""


def read_context(store: GraphStore, code: QueryResult, functions: QueryResult) -> Context:
    """Read what the hits of a question give to its answer.

    code: hits whose code a prompt may show. functions: whole functions, of which a prompt may show signatures.
    """
    corpora = {source.name for source in store.sources() if source.kind == "corpus"}
    reader = _PieceReader(store, corpora)
    pieces = reader.read((*code.hits, *functions.hits))
    notes = dict(_list_unusable(pieces, reader.standing_alone))
    shown = [hit for hit in functions.hits if hit.id not in notes][:MOST_SIGNATURES]
    return Context(
        read_helpers(store, _leave_out(code, notes)),
        read_helpers(store, replace(functions, hits=tuple(shown)), "signature"),
        tuple(piece for name, piece in pieces.items() if name not in notes),
        tuple(notes.values()),
    )


class _PieceReader:
    """Reads the definitions that hits are or stand in, and their helpers."""

    def __init__(self, store: GraphStore, corpora: set[str]) -> None:
        self._store, self._corpora = store, corpora
        self._imports = ModuleImports(store, corpora)
        self.standing_alone: set[str] = set()  # ids of pieces of corpora: nothing stands around them

    def read(self, hits: Sequence[Hit]) -> dict[str, Piece]:
        """Give the pieces by the id of the hit or helper; what stands in a class or function is none."""
        shown = self._store.get(list(dict.fromkeys(hit.id for hit in hits)))
        owners = {node.id: find_owner(node.id, node.label, node.name) for node in shown}
        nodes = {node.id: node for node in self._store.get(sorted({*owners.values()}))}
        self._imports.read(nodes.values())
        found: dict[str, Piece] = {}
        for hit in hits:
            found[hit.id] = self._make_piece(nodes[owners[hit.id]])
            found |= {
                each.id: Piece(each.qualname, f"{each.path}:{each.start_line}", align_code(each.content), each.imports)
                for each in hit.helpers
                if each.id not in found
            }
            if hit.source in self._corpora:
                self.standing_alone |= {hit.id, *(each.id for each in hit.helpers)}
        return {name: piece for name, piece in found.items() if "." not in piece.name}

    def _make_piece(self, node: Node) -> Piece:
        place = f"{node.path}:{node.start_line}"
        return Piece(node.qualname, place, align_code(node.content), self._imports.list_needed(node))


def _list_unusable(pieces: Mapping[str, Piece], standing_alone: set[str]) -> Iterator[tuple[str, str]]:
    """Give the ids of pieces that run nowhere, each with the reason.

    In a repository, a name that no piece gives may be one of the module around it.
    """
    others = list(pieces.values())
    for name, piece in pieces.items():
        reason = explain_unusable(piece, others, needs_all=name in standing_alone)
        if reason:
            yield name, f"{piece.name} at {piece.place} is not handed out: {reason}"


def _leave_out(result: QueryResult, ids: Mapping[str, str]) -> QueryResult:
    """Leave hits and helpers out of a result."""
    hits = (
        replace(hit, helpers=tuple(each for each in hit.helpers if each.id not in ids))
        for hit in result.hits
        if hit.id not in ids
    )
    return replace(result, hits=tuple(hits))
