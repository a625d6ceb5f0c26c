"""Make of what a query found the context of an answer: code and signatures for the prompt, pieces for the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pkg.generation.aligned_code import align_code
from pkg.generation.linking import Piece, explain_unusable
from pkg.generation.prompt_templates.helper_text import read_found, read_helpers
from pkg.generation.sample_writer import Context
from pkg.generation.signals import measure_signals
from pkg.model import Hit, Node, QueryResult
from pkg.retrieval.needed_imports import ModuleImports, list_corpora

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

MOST_SIGNATURES = 3
"""Shown to small models: three names with a line each mended more than they broke where whole code did the reverse."""


def read_context(store: GraphStore, code: QueryResult, functions: QueryResult) -> Context:
    """Read what the hits of a question give to its answer.

    code: hits whose code a prompt may show. functions: whole functions, of which a prompt may show signatures.
    """
    corpora = list_corpora(store)
    pieces, standing_alone = read_pieces(store, (*code.hits, *functions.hits), corpora)
    notes = dict(_list_unusable(pieces, standing_alone))
    signatures = read_helpers(store, _leave_out(functions, notes), "signature")
    return Context(
        read_helpers(store, _leave_out(code, notes)),
        signatures[:MOST_SIGNATURES],
        tuple(piece for name, piece in pieces.items() if name not in notes),
        tuple(notes.values()),
        {
            "code": measure_signals(code.text, code.hits, corpora),
            "signatures": measure_signals(functions.text, functions.hits, corpora),
        },
    )


def read_pieces(store: GraphStore, hits: Sequence[Hit], corpora: set[str]) -> tuple[dict[str, Piece], set[str]]:
    """Read the definitions that hits are or stand in, and their helpers, by the id of the hit or helper.

    What stands in a class or function is none. With them come the ids of those around which nothing stands: of corpora.
    """
    imports, opened = ModuleImports(store, corpora), read_found(store, hits)
    imports.read(each.owner for each in opened)
    ids = sorted({helper.id for hit in hits for helper in hit.helpers})
    whole = dict(zip(ids, store.get(ids), strict=True))  # of a long class the helper is but the head
    found: dict[str, Piece] = {}
    for hit, _, owner in opened:
        found[hit.id] = _make_piece(owner, imports.list_needed(owner))
        found |= {each.id: _make_piece(whole[each.id], each.imports) for each in hit.helpers if each.id not in found}
    alone = {name for hit in hits if hit.source in corpora for name in (hit.id, *(each.id for each in hit.helpers))}
    return {name: piece for name, piece in found.items() if "." not in piece.name}, alone


def _make_piece(found: Node, imports: tuple[str, ...]) -> Piece:
    return Piece(found.qualname, f"{found.path}:{found.start_line}", align_code(found.content), imports)


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
