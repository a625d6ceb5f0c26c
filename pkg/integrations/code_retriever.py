"""Retrieve code from a graph as texts with metadata, with the order and ids of `pkg query`.

The retrievers of the frameworks are thin wrappers of CodeRetriever, which needs none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from pkg.api import open_graph
from pkg.errors import UnknownWordsError, UsageError
from pkg.generation.prompt_templates.helper_text import list_texts
from pkg.generation.prompt_templates.template_lines import comment
from pkg.model import FunctionPlace, Hit, Label, QueryResult
from pkg.retrieval.query_options import DEFAULT_OPTIONS, QueryOptions, check_options

OPTION_NAMES = tuple(each.name for each in fields(QueryOptions))


@dataclass(frozen=True, slots=True)
class Passage:
    """One hit as a text with metadata."""

    id: str  # of the node, as in `pkg query`
    text: str  # the pruned code below its class headers, then the code of its helpers
    score: float
    metadata: dict[str, str | int | float | bool | None]  # flat, as the stores of some frameworks require


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The result of one question."""

    passages: tuple[Passage, ...]
    fits: bool | None  # whether anything fits the question; None if that was not judged
    notes: tuple[str, ...]  # such as the reason why nothing fits
    stale: tuple[str, ...]  # files of the passages that have changed since the build


class CodeRetriever:
    """A callable that finds code for a question; safe to use from threads, as each call opens the graph."""

    def __init__(
        self,
        store: str | None = None,
        options: QueryOptions = DEFAULT_OPTIONS,
        *,
        keep_misfits: bool = False,
        fresh: bool = False,
        **changes: Any,
    ) -> None:
        """Configure the retriever without opening the store.

        store: an address such as sqlite:///graph.db; default: PKG_STORE, else the user's own store.
        options, changes: pkg.QueryOptions; each of its fields is a keyword too, such as top_k=5.
        keep_misfits: return the nearest passages, instead of none, if nothing fits the question.
        fresh: update the graph before each question. Raises UsageError for invalid options.
        """
        self.store = store
        self.options = change_options(options, changes)
        self.keep_misfits = keep_misfits
        self.fresh = fresh

    def __call__(self, text: str, **changes: Any) -> list[Passage]:
        """Return the passages for a question, best first; none if nothing fits. changes: as in retrieve."""
        return list(self.retrieve(text, **changes).passages)

    def retrieve(self, text: str, **changes: Any) -> Retrieval:
        """Return the passages for a question with notes; nothing fits a question without a known word.

        changes: fields of pkg.QueryOptions for this question only. Raises UsageError for an unknown one, StoreError
        without a graph, QueryError for an invalid question.
        """
        options = change_options(self.options, changes)
        with open_graph(self.store) as graph:
            try:
                result = graph.query(text, fresh=self.fresh, **{name: getattr(options, name) for name in OPTION_NAMES})
            except UnknownWordsError as fault:
                return Retrieval((), False, (str(fault),), ())
        return make_retrieval(result, self.keep_misfits)


def change_options(options: QueryOptions, changes: Mapping[str, Any]) -> QueryOptions:
    """Return the options with some fields changed; raises UsageError for an unknown field or an invalid value."""
    unknown = [name for name in changes if name not in OPTION_NAMES]
    if unknown:
        raise UsageError(f"unknown option '{unknown[0]}'; expected one of: {', '.join(OPTION_NAMES)}")
    changed = replace(options, **changes)
    check_options(changed)
    return changed


def make_retrieval(result: QueryResult, keep_misfits: bool = False) -> Retrieval:
    """Convert the result of a query to passages: its hits in their order, or none if nothing fits."""
    coverage = result.coverage
    is_shown = keep_misfits or coverage.fits is not False
    passages = [_make_passage(result, hit) for hit in result.hits] if is_shown else []
    stale = [f"{each.path or each.root} ({each.state})" for each in coverage.stale]
    return Retrieval(tuple(passages), coverage.fits, coverage.notes, tuple(stale))


def _make_passage(result: QueryResult, hit: Hit) -> Passage:
    metadata: dict[str, str | int | float | bool | None] = {
        "id": hit.id,
        "source": hit.source,
        "path": hit.path,
        "lines": f"{hit.start_line}-{hit.end_line}",
        "qualname": hit.qualname,
        "label": hit.label,
        "kind": hit.kind,
        "rank": hit.rank,
        "score": hit.score,
        "why": explain_hit(result, hit),
        "fits": result.coverage.fits,
        "stale": hit.is_stale or any(helper.is_stale for helper in hit.helpers),
        "has_code": hit.has_code,
    }
    return Passage(hit.id, write_hit(hit), hit.score, metadata)


def write_hit(hit: Hit) -> str:
    """Return the text of a hit: its code, then each helper below a comment with its place.

    A section of a text file is returned unchanged, a file as the list of its best functions.
    """
    if hit.label == Label.CHUNK.value:
        return hit.pruned_content
    if hit.functions:
        return "\n".join(map(_write_place, hit.functions))
    own, *helpers = list_texts(hit)
    return "\n\n".join((own.code, *(f"{comment(each.place, '# ')}\n{each.code}" for each in helpers)))


def _write_place(place: FunctionPlace) -> str:
    summary = f"  # {place.summary}" if place.summary else ""
    return f"{place.start_line}-{place.end_line}  {place.signature or place.qualname}{summary}"


def explain_hit(result: QueryResult, hit: Hit) -> str:
    """Explain a hit in one line: its rank, score, cosine, helpers and caveats."""
    reasons = [f"rank {hit.rank} of {len(result.hits)}", f"score {hit.score:.3f}", f"cosine {hit.cosine:.3f}"]
    reasons += [f"{helper.qualname} {helper.reason}" for helper in hit.helpers]
    reasons += ["changed since the build"] * hit.is_stale
    reasons += ["nothing fits the question; this is only the nearest code"] * (result.coverage.fits is False)
    return "; ".join(reasons)
