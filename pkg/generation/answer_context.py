"""Make the context of an answer from query results: code and signatures for the prompt, pieces to insert."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pkg.generation.aligned_code import align_code
from pkg.generation.gate import measure_signals
from pkg.generation.known_imports import find_imports
from pkg.generation.linking import Piece, explain_unusable, list_missing
from pkg.generation.prompt_templates.helper_text import read_found, read_helpers
from pkg.generation.row_imports import RowImports
from pkg.generation.sample_writer import Context
from pkg.model import Hit, Node, QueryResult
from pkg.retrieval.needed_imports import ModuleImports, list_corpora

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

MOST_SIGNATURES = 3
"""Number of signatures in a prompt; for small models three repaired more answers than they broke, unlike whole code."""


def read_context(store: GraphStore, code: QueryResult, functions: QueryResult) -> Context:
    """Read the context of an answer from the hits of its question.

    code: hits whose code a prompt may show. functions: functions whose signatures a prompt may show.
    """
    corpora = list_corpora(store)
    pieces, standalone = read_pieces(store, (*code.hits, *functions.hits), corpora)
    notes = dict(_list_unusable(pieces, standalone))
    signatures = read_helpers(store, _drop(functions, notes), "signature")
    return Context(
        read_helpers(store, _drop(code, notes)),
        signatures[:MOST_SIGNATURES],
        tuple(piece for name, piece in pieces.items() if name not in notes),
        tuple(notes.values()),
        {
            "code": measure_signals(code.text, code.hits, corpora),
            "signatures": measure_signals(functions.text, functions.hits, corpora),
        },
    )


def read_pieces(store: GraphStore, hits: Sequence[Hit], corpora: set[str]) -> tuple[dict[str, Piece], set[str]]:
    """Read the top-level definitions of hits and of their helpers, by the id of the hit or helper.

    Also returns the ids of standalone hits and helpers, whose corpus has no module around them; these get an import
    for each name that they do not define, where one is known.
    """
    imports, opened = ModuleImports(store, corpora), read_found(store, hits)
    imports.read(each.owner for each in opened)
    ids = sorted({helper.id for hit in hits for helper in hit.helpers})
    whole = dict(zip(ids, store.get(ids), strict=True))  # the helper of a long class is only its head
    found: dict[str, Piece] = {}
    for hit, _, owner in opened:
        found[hit.id] = _make_piece(owner, imports.list_needed(owner))
        found |= {each.id: _make_piece(whole[each.id], each.imports) for each in hit.helpers if each.id not in found}
    of_rows = {id_: hit.source for hit in hits if hit.source in corpora for id_ in _list_ids(hit)}
    found = {id_: piece for id_, piece in found.items() if "." not in piece.name}
    return found | dict(_add_imports(store, found, of_rows)), set(of_rows)


def _list_ids(hit: Hit) -> tuple[str, ...]:
    return hit.id, *(each.id for each in hit.helpers)


def _add_imports(
    store: GraphStore, pieces: Mapping[str, Piece], sources: Mapping[str, str]
) -> Iterator[tuple[str, Piece]]:
    """Yield the pieces of rows, each with imports for the names that neither its row nor any piece defines."""
    reader, defined = RowImports(store), {piece.name for piece in pieces.values()}
    for id_ in sorted(pieces.keys() & sources.keys()):
        piece = pieces[id_]
        code = "\n".join((*piece.imports, piece.code))
        known = {name: reader.find(sources[id_], name) for name in list_missing(code) if name not in defined}
        yield id_, replace(piece, imports=(*piece.imports, *find_imports(code, known)))


def _make_piece(found: Node, imports: tuple[str, ...]) -> Piece:
    return Piece(found.qualname, f"{found.path}:{found.start_line}", align_code(found.content), imports)


def _list_unusable(pieces: Mapping[str, Piece], standalone: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the ids of pieces that cannot run, each with the reason.

    In a repository, a name that no piece defines may belong to the surrounding module.
    """
    others = list(pieces.values())
    for id_, piece in pieces.items():
        reason = explain_unusable(piece, others, needs_all=id_ in standalone)
        if reason:
            yield id_, f"{piece.name} at {piece.place} is not used: {reason}"


def _drop(result: QueryResult, ids: Mapping[str, str]) -> QueryResult:
    """Remove hits and helpers from a result."""
    hits = (
        replace(hit, helpers=tuple(each for each in hit.helpers if each.id not in ids))
        for hit in result.hits
        if hit.id not in ids
    )
    return replace(result, hits=tuple(hits))
