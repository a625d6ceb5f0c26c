"""Answer a question from a graph: the use case, step by step (P-13 to P-18, A-10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pkg.errors import QueryError, shorten
from pkg.model import Coverage, Label, QueryResult
from pkg.retrieval.context import Excerpt
from pkg.retrieval.floor import explain_misfit, fits
from pkg.retrieval.helpers import Completer, Completion
from pkg.retrieval.hits import HitOpener, OpenedHit, read_hits
from pkg.retrieval.pack import Packed, pack_hits
from pkg.retrieval.query_options import DEFAULT_OPTIONS, QueryOptions, block_kinds, check_options, node_filter
from pkg.retrieval.question import Question, parse_question
from pkg.retrieval.ranking import RERANK_DEPTH, rerank_hits
from pkg.retrieval.search import LABELS_OF_MODE, Found, find_nodes

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder, Vectors
    from pkg.graph.store import GraphStore

__all__ = ["QueryOptions", "run_query"]

SHOWN_TEXT = 60  # characters of a question that an error message quotes


def run_query(store: GraphStore, encoder: Encoder, text: str, options: QueryOptions = DEFAULT_OPTIONS) -> QueryResult:
    """Find what helps with a question: search, prune, complete, pack; a QueryError where nothing can be asked."""
    check_options(options)
    query, question = encode_question(encoder, text), parse_question(text)
    with store.snapshot():
        found = _find_best(store, question, query, text, options)
        notes = _check_found(store, found, options)
        is_fit, misfit = _judge_fit(found, encoder, options)
        opener = HitOpener(store, encoder, query, options)
        complete = partial(_complete_hits, Completer(store, encoder, options.hops, options.callers))
        packed = pack_hits(read_hits(store, found.ranked), opener.open, complete, options.budget)
    counts = found.searched, found.filtered, found.folded, len(packed.hits), packed.over_budget
    calls = packed.bound, packed.possible, packed.unbound
    same_function = sum(each.same_function for each in found.ranked)
    notes = (*misfit, *notes, *packed.notes)
    coverage = Coverage(*counts, notes, *calls, packed.without_code, same_function, is_fit)
    order = *_explain_search(found), *_explain_order(options)
    explain = (*order, *_explain_share(packed), *_explain_calls(packed), *packed.explain)
    return QueryResult(text, options.mode, packed.hits, coverage, explain)


def _find_best(store: GraphStore, question: Question, query: Vectors, text: str, options: QueryOptions) -> Found:
    """Search, and let a model order the best anew where one is named."""
    k = options.top_k
    depth = k if options.rerank_hits is None else max(k, RERANK_DEPTH)
    where, by_function = node_filter(options), block_kinds(options) is None
    found = find_nodes(store, question, query, options.mode, depth, where, options.ranking, by_function)
    if options.rerank_hits is None:
        return found
    from pkg.encode.cross_encoder import load_pair_model

    model = load_pair_model(options.rerank_hits)
    return replace(found, ranked=rerank_hits(store, model, text, found.ranked, k))


def encode_question(encoder: Encoder, text: str) -> Vectors:
    """Encode the text of a question (P-13): float32 [dimension]; a QueryError when no word of it is known."""
    if not text.strip():
        raise QueryError("the question is empty; expected a few words on what the code does, or a piece of code")
    query = encoder.encode_query(text.encode("utf-8", "replace").decode())
    if not query.any():
        shown = shorten(text, SHOWN_TEXT)
        raise QueryError(
            f"no word of the question {shown!r} is known to the encoder '{encoder.name}';"
            " ask with names or words that the code itself may use"
        )
    return query


def _complete_hits(completer: Completer, opened: Sequence[OpenedHit]) -> Sequence[Completion]:
    return completer.complete(
        [Excerpt(each.unfolded.node, (*each.hit.pruned, *each.folds), each.unfolded.links) for each in opened]
    )


def _check_found(store: GraphStore, found: Found, options: QueryOptions) -> tuple[str, ...]:
    """Say why a search found nothing; an unknown source is a QueryError. Costs nothing when there are matches."""
    if found.ranked:
        return ()
    known = [source.name for source in store.sources()]
    if options.source is not None and options.source not in known:
        listed = ", ".join(f"'{name}'" for name in known) or "none"
        raise QueryError(f"no source '{options.source}' in the graph (found: {listed}); name one of these, or build it")
    labels = " or ".join(label.value for label in LABELS_OF_MODE[options.mode])
    if not found.searched:
        return (f"the graph holds no {labels} nodes; run: pkg build PATH",)
    return (f"none of the {found.searched} {labels} nodes passes the filter; widen source, path, kind or blocks",)


def _judge_fit(found: Found, encoder: Encoder, options: QueryOptions) -> tuple[bool | None, tuple[str, ...]]:
    """Tell whether anything fits, and say so where nothing does."""
    is_fit = fits(found.evidence, encoder.name) if options.floor else None
    return is_fit, (explain_misfit(found.evidence),) if found.evidence is not None and is_fit is False else ()


def _explain_search(found: Found) -> tuple[str, ...]:
    """Tell when a hit of the dense search may have been missed."""
    if not found.is_approximate:
        return ()
    return (
        "the dense search asked an approximate index; a filter that lets all pass, such as path '*', asks all nodes",
    )


def _explain_order(options: QueryOptions) -> tuple[str, ...]:
    """Tell which model has ordered the hits."""
    if options.rerank_hits is None:
        return ()
    return (f"the best {max(options.top_k, RERANK_DEPTH)} candidates were ordered by the model {options.rerank_hits}",)


def _explain_share(packed: Packed) -> tuple[str, ...]:
    """Tell how many block hits are whole bodies (A-02)."""
    blocks = [hit for hit in packed.hits if hit.label == Label.BLOCK.value]
    bodies = sum(hit.kind == "body" for hit in blocks)
    return (f"whole bodies among the block hits: {bodies} of {len(blocks)}",) if blocks else ()


def _explain_calls(packed: Packed) -> tuple[str, ...]:
    """Tell how sure the calls of the hits are."""
    counts = packed.bound, packed.possible, packed.unbound
    if not any(counts):
        return ()
    return (f"calls of the hits: {counts[0]} bound, {counts[1]} possible, {counts[2]} not bound",)
