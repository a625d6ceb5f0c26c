"""Ask a graph for what a retriever gives: texts with metadata, in the order and by the ids of `pkg query`.

The retrievers of the frameworks are thin shells around CodeRetriever, which needs none of them.
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
    """One hit as frameworks take it."""

    id: str  # of the node, as `pkg query` gives it
    text: str  # code as it was pruned, below what the code does not say of itself, then the code that it calls
    score: float
    metadata: dict[str, str | int | float | bool | None]  # flat, so that every framework and its stores can keep it


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What came of one question."""

    passages: tuple[Passage, ...]
    fits: bool | None  # whether anything fits the question; None where that was not judged
    notes: tuple[str, ...]  # what is to be said of the whole, such as why nothing fits
    stale: tuple[str, ...]  # files of the passages that are not what the graph was built from any more


class CodeRetriever:
    """Find code for a question: call it with a text. Any number of threads may, for each question opens the graph."""

    def __init__(
        self,
        store: str | None = None,
        options: QueryOptions = DEFAULT_OPTIONS,
        *,
        keep_misfits: bool = False,
        fresh: bool = False,
        **changes: Any,
    ) -> None:
        """Take a store and how to ask it; nothing is opened yet.

        store: an address such as sqlite:///graph.db; without one PKG_STORE, else the user's own store.
        options, changes: how to query, as pkg.QueryOptions; each of its fields is a keyword too, such as top_k=5.
        keep_misfits: give what is nearest where nothing fits the question, instead of nothing.
        fresh: bring the graph up to date before each question. Raises UsageError for options that cannot be meant.
        """
        self.store = store
        self.options = change_options(options, changes)
        self.keep_misfits = keep_misfits
        self.fresh = fresh

    def __call__(self, text: str, **changes: Any) -> list[Passage]:
        """Give the best passages for a question, best first; none where nothing fits. changes: as of retrieve."""
        return list(self.retrieve(text, **changes).passages)

    def retrieve(self, text: str, **changes: Any) -> Retrieval:
        """Give the passages for a question with what is to be said of them; no word of it that is known fits nothing.

        changes: fields of pkg.QueryOptions for this question alone. Raises UsageError for an unknown one, StoreError
        where there is no graph, QueryError where nothing can be asked.
        """
        options = change_options(self.options, changes)
        with open_graph(self.store) as graph:
            try:
                result = graph.query(text, fresh=self.fresh, **{name: getattr(options, name) for name in OPTION_NAMES})
            except UnknownWordsError as fault:
                return Retrieval((), False, (str(fault),), ())
        return make_retrieval(result, self.keep_misfits)


def change_options(options: QueryOptions, changes: Mapping[str, Any]) -> QueryOptions:
    """Change some fields of options; a UsageError for a name that is none, or a value that cannot be meant."""
    unknown = [name for name in changes if name not in OPTION_NAMES]
    if unknown:
        raise UsageError(f"unknown option '{unknown[0]}'; expected one of: {', '.join(OPTION_NAMES)}")
    changed = replace(options, **changes)
    check_options(changed)
    return changed


def make_retrieval(result: QueryResult, keep_misfits: bool = False) -> Retrieval:
    """Turn the answer of a query into passages: the same hits in the same order, or none where nothing fits."""
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
    """Write the text of a hit: its code, then each function that it calls under a comment with its place.

    A section of a text file is given as it stands; a file as its best functions.
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
    """Say in a line why a hit is there: its rank, score and cosine, what came along, and what speaks against it."""
    said = [f"rank {hit.rank} of {len(result.hits)}", f"score {hit.score:.3f}", f"cosine {hit.cosine:.3f}"]
    said += [f"{helper.qualname} {helper.reason}" for helper in hit.helpers]
    said += ["changed since the build"] * hit.is_stale
    said += ["nothing fits the question; this is but the nearest"] * (result.coverage.fits is False)
    return "; ".join(said)
