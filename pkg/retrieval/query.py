"""Answer a question from a graph: the use case, step by step (P-13 to P-18, A-10)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from pkg.encode.encoder import is_additive, knows_question
from pkg.encode.registry import find_service
from pkg.errors import UsageError, count_things
from pkg.graph.audits import is_current
from pkg.model import Coverage, Label, Matches, Node, NodeFilter, Outline, QueryResult
from pkg.retrieval.context import Excerpt
from pkg.retrieval.deps.paths import list_sources
from pkg.retrieval.freshness import mark_hits
from pkg.retrieval.helpers import Completer, Completion
from pkg.retrieval.hits import HitOpener, OpenedHit, read_hits
from pkg.retrieval.long.long_question import Part
from pkg.retrieval.needed_helpers import HelperChooser
from pkg.retrieval.pack import Packed, pack_hits
from pkg.retrieval.query_options import DEFAULT_OPTIONS, QueryOptions, block_kinds, check_options, node_filter
from pkg.retrieval.question import MAX_TEXT, Question, parse_question
from pkg.retrieval.question_fit import explain_evidence, explain_misfit, fits
from pkg.retrieval.question_mix import DEPTH, StoredQuestions
from pkg.retrieval.search import (
    Found,
    check_known,
    check_paths,
    check_text,
    explain_empty,
    find_nodes,
    find_ordered,
    refuse_unknown,
)

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder, Vectors
    from pkg.graph.store import GraphStore
    from pkg.retrieval.hit_order import HitOrder


__all__ = ["QueryOptions", "run_query"]
EXTRA_MATCHES = 20  # additional matches in the first search: for few questions more of the best are leaks


def run_query(
    store: GraphStore,
    encoder: Encoder,
    text: str,
    options: QueryOptions = DEFAULT_OPTIONS,
    order: HitOrder | None = None,
) -> QueryResult:
    """Find code that helps with a question: search, prune, complete, pack.

    order: reorders the best candidates. Raises QueryError for an invalid question, and UnknownWordsError where no word
    of the question is known.
    """
    check_options(options)
    with store.snapshot():
        list_sources(store, options.source)
        excluded = read_leaks(store) if options.exclude_leaks else Exclusion()
        return mark_hits(store, _find_hits(exclude_nodes(store, excluded), encoder, text, options, excluded, order))


def _find_hits(
    store: GraphStore,
    encoder: Encoder,
    text: str,
    options: QueryOptions,
    excluded: Exclusion,
    order: HitOrder | None,
) -> QueryResult:
    if options.mode == "text":
        from pkg.retrieval.chunk_search import run_chunk_query

        return run_chunk_query(store, encoder, text, options, order)
    if options.mode == "fact":
        from pkg.retrieval.fact_search import run_fact_query

        return run_fact_query(store, encoder, text, options, order)
    (query, find), read = open_search(store, encoder, text, options, order), _note_reading(text)
    if options.mode == "file":
        return _list_files(store, text, find, (*read, *excluded.notes), options, order)
    found = find(options.top_k)
    notes = *(order.notes if order else ()), *_explain_found(store, found, options)
    is_fit, misfit = _judge_fit(found, encoder, options)
    opener = HitOpener(store, encoder, query, options)
    complete = partial(_complete_hits, _open_completer(store, encoder, query, options, excluded))
    packed = pack_hits(read_hits(store, found.ranked), opener.open, complete, options.budget)
    notes = (*read, *misfit, *notes, *packed.notes, *excluded.notes)
    coverage = Coverage(
        searched=found.searched,
        filtered=found.filtered,
        folded=found.folded,
        shown=len(packed.hits),
        over_budget=packed.over_budget,
        notes=notes,
        calls_bound=packed.bound,
        calls_possible=packed.possible,
        calls_unbound=packed.unbound,
        without_code=packed.without_code,
        same_function=sum(each.same_function for each in found.ranked),
        fits=is_fit,
    )
    ordered = *_explain_search(found), *(order.explain if order else ()), *_explain_pruning(encoder, options)
    evidence = (explain_evidence(found.evidence),) if found.evidence is not None and is_fit is False else ()
    explain = (*evidence, *ordered, *_explain_share(packed), *_explain_calls(packed), *packed.explain)
    return QueryResult(text, options.mode, packed.hits, coverage, explain)


def open_search(
    store: GraphStore, encoder: Encoder, text: str, options: QueryOptions, order: HitOrder | None = None
) -> tuple[Vectors, Callable[[int], Found]]:
    """Parse a question; return its vector, float32 [dimension], and a function that finds the k best nodes.

    order: reorders the best candidates.

    Raises QueryError for an invalid question.
    """
    question = parse_question(text)
    query, parts = _encode_text(encoder, question.text), _encode_parts(encoder, question)
    if not knows_question(encoder, question.text, query):
        check_known(store, question, encoder.name, options.ranking)
    find = partial(_find_best, store, question, query, parts, options)
    if order is None:
        return query, partial(_find_asked, store, encoder, question.text, find)
    return query, partial(find_ordered, store, encoder, question.text, find, order)


def _encode_parts(encoder: Encoder, question: Question) -> dict[Part, Vectors]:
    """Encode the parts of a long question: float32 [dimension]; another question has none."""
    if not question.parts:
        return {}
    from pkg.retrieval.long.long_search import encode_parts

    return encode_parts(encoder, question)


def _list_files(
    store: GraphStore,
    text: str,
    find: Callable[[int], Found],
    notes: Sequence[str],
    options: QueryOptions,
    order: HitOrder | None,
) -> QueryResult:
    """List files with their best functions; no code is shown, so nothing is pruned, completed or packed."""
    from pkg.retrieval.file_ranking import find_files

    hits, found = find_files(store, find, options.top_k)
    notes = *notes, *(order.notes if order else ()), *_explain_found(store, found, options)
    coverage = Coverage(
        searched=found.searched, filtered=found.filtered, folded=found.folded, shown=len(hits), notes=notes
    )
    explain = *_explain_search(found), *(order.explain if order else ())
    return QueryResult(text, options.mode, tuple(hits), coverage, explain)


def _explain_found(store: GraphStore, found: Found, options: QueryOptions) -> tuple[str, ...]:
    """Return why nothing was found; raises QueryError for paths that match no file."""
    check_paths(store, options, found)
    return explain_empty(store, found, options)


def _find_best(
    store: GraphStore,
    question: Question,
    query: Vectors,
    parts: Mapping[Part, Vectors],
    options: QueryOptions,
    k: int,
    asked: int = 0,
) -> Found:
    """Search for k nodes, or for `asked` if that is more and a model wrote questions for any candidate."""
    where, by_function = node_filter(options), block_kinds(options) is None
    choices = options.mode, k, where, options.ranking
    return find_nodes(store, question, query, *choices, parts, by_function, options.declarations, asked)


def _find_asked(store: GraphStore, encoder: Encoder, text: str, find: Callable[[int, int], Found], k: int) -> Found:
    """Search for k nodes, and reorder the best if a model wrote questions for any candidate."""
    found = find(k, DEPTH)
    if not found.has_questions:
        return found
    if find_service(encoder.name) is not None:  # it would be sent the questions again with each query
        return find(k, 0)
    return replace(found, ranked=StoredQuestions().order(store, encoder, text, found.ranked)[:k])


def _note_reading(text: str) -> tuple[str, ...]:
    """Return a note if only the beginning of a question was read."""
    if len(text) <= MAX_TEXT:
        return ()
    return (f"the question has {len(text):,} characters, of which the first {MAX_TEXT:,} were read",)


def encode_question(encoder: Encoder, text: str) -> Vectors:
    """Encode the text of a question (P-13): float32 [dimension]; raises QueryError if no word of it is known."""
    query = _encode_text(encoder, text)
    if not query.any():
        refuse_unknown(text, encoder.name, "is known to the encoder")
    return query


def _encode_text(encoder: Encoder, text: str) -> Vectors:
    """Encode a question; all zero if the encoder knows no word of it."""
    check_text(text)
    return encoder.encode_query(text.encode("utf-8", "replace").decode())


def _open_completer(
    store: GraphStore, encoder: Encoder, query: Vectors, options: QueryOptions, excluded: Exclusion
) -> Completer:
    chooser = HelperChooser(store, query) if options.helpers == "needed" else None
    hops = 0 if options.helpers == "none" else options.hops
    return Completer(store, encoder, hops, options.callers, chooser, excluded.ids)


def _complete_hits(completer: Completer, opened: Sequence[OpenedHit]) -> Sequence[Completion]:
    return completer.complete(
        [Excerpt(each.unfolded.node, (*each.hit.pruned, *each.folds), each.unfolded.links) for each in opened]
    )


def _judge_fit(found: Found, encoder: Encoder, options: QueryOptions) -> tuple[bool | None, tuple[str, ...]]:
    """Return whether anything fits, with a note if nothing does."""
    is_fit = fits(found.evidence, encoder.name) if options.floor else None
    return is_fit, (explain_misfit(found.evidence),) if found.evidence is not None and is_fit is False else ()


def _explain_search(found: Found) -> tuple[str, ...]:
    """Return a note if the dense search may have missed a hit."""
    if not found.is_approximate:
        return ()
    return ("the dense search used an approximate index; a filter such as path '*' forces the exact search",)


def _explain_pruning(encoder: Encoder, options: QueryOptions) -> tuple[str, ...]:
    """Return a note on what the papers' rule of pruning compares (P-18)."""
    if options.prune != "paper":
        return ()
    how = (
        "compares words, so a branch in other words than the question may be cut; minilm or st:NAME compare meanings"
        if is_additive(encoder)
        else "compares meanings"
    )
    return (f"pruned by cosines of {encoder.name}, which {how}",)


def _explain_share(packed: Packed) -> tuple[str, ...]:
    """Return the share of whole bodies among the block hits (A-02)."""
    blocks = [hit for hit in packed.hits if hit.label == Label.BLOCK.value]
    bodies = sum(hit.kind == "body" for hit in blocks)
    return (f"whole bodies among the block hits: {bodies} of {len(blocks)}",) if blocks else ()


def _explain_calls(packed: Packed) -> tuple[str, ...]:
    """Return the number of the hits' calls by confidence."""
    counts = packed.bound, packed.possible, packed.unbound
    if not any(counts):
        return ()
    return (f"calls of the hits: {counts[0]} bound, {counts[1]} possible, {counts[2]} not bound",)


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Nodes of a graph that a question must not see."""

    ids: Collection[str] = frozenset()
    notes: tuple[str, ...] = ()


def read_leaks(store: GraphStore) -> Exclusion:
    """Read the marks of audits; raises UsageError for a graph without an audit."""
    audits = store.audits()
    if not audits:
        raise UsageError(
            f"{store.address} was never compared with a benchmark, so that nothing is known of leaks;"
            " run: pkg audit --against humaneval,mbpp --data FOLDER"
        )
    ids = frozenset(identity for identity, _ in store.leaks())
    audited = ", ".join(f"{count_things(each.functions, 'function')} for {each.benchmark}" for each in audits)
    notes = [f"excluded as leaked solutions: {audited}; {len(ids):,} nodes in all"]
    old = [each.benchmark for each in audits if not is_current(store, each)]
    if old:
        notes.append(f"the audit against {', '.join(old)} is older than the graph; run pkg audit again")
    return Exclusion(ids, tuple(notes))


class _FilteredStore:
    """A store whose searches skip excluded nodes; everything else is delegated."""

    def __init__(self, store: GraphStore, excluded: Collection[str]) -> None:
        self._store, self._excluded = store, excluded

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def vector_search(
        self, label: Label, vector: Vectors, k: int, where: NodeFilter | None = None, threshold: float = -1.0
    ) -> Matches:
        return self._search(lambda look: (self._store.vector_search(label, vector, look, where, threshold),), k)[0]

    def text_search(self, label: Label, terms: Mapping[str, float], k: int, where: NodeFilter | None = None) -> Matches:
        return self._search(lambda look: (self._store.text_search(label, terms, look, where),), k)[0]

    def hybrid_search(
        self, label: Label, vector: Vectors, terms: Mapping[str, float], k: int, where: NodeFilter | None = None
    ) -> tuple[Matches, ...]:
        return self._search(lambda look: self._store.hybrid_search(label, vector, terms, look, where), k)

    def search_declarations(
        self, vector: Vectors, terms: Mapping[str, float], k: int, where: NodeFilter | None = None
    ) -> tuple[Matches, ...]:
        return self._search(lambda look: self._store.search_declarations(vector, terms, look, where), k)

    def find_name(self, name: str, source: str | None = None) -> list[Node]:
        return self._drop(self._store.find_name(name, source))

    def find_names(self, names: Sequence[str], source: str | None = None) -> list[Node]:
        return self._drop(self._store.find_names(names, source))

    def outlines(self, ids: Sequence[str], vector: Vectors, blocks_of: Sequence[str] = ()) -> dict[str, Outline]:
        found = self._store.outlines(ids, vector, blocks_of)
        return {identity: each for identity, each in found.items() if identity not in self._excluded}

    def _drop(self, nodes: list[Node]) -> list[Node]:
        return [node for node in nodes if node.id not in self._excluded]

    def _search(self, find: Callable[[int], tuple[Matches, ...]], k: int) -> tuple[Matches, ...]:
        """Search for more until k matches of each search remain, or there are no more."""
        look = k + EXTRA_MATCHES
        while True:
            found = find(look)
            kept = tuple(self._keep(each, k) for each in found)
            if all(len(some.matches) == k or len(all_.matches) < look for some, all_ in zip(kept, found, strict=True)):
                return kept
            look *= 2

    def _keep(self, found: Matches, k: int) -> Matches:
        matches = tuple(match for match in found.matches if match.id not in self._excluded)[:k]
        return replace(found, matches=matches, folded=sum(match.same_content for match in matches))


def exclude_nodes(store: GraphStore, excluded: Exclusion) -> GraphStore:
    """Return a store whose searches skip the excluded nodes (A-16)."""
    return cast("GraphStore", _FilteredStore(store, excluded.ids)) if excluded.ids else store
