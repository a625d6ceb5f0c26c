"""Rank files by their best functions: where an answer is spread over a file, that beats any single function."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from pkg.model import FunctionPlace, Hit, Label, Node
from pkg.retrieval.deps.paths import name_unit
from pkg.retrieval.heads import Head, read_heads
from pkg.retrieval.needed_imports import list_corpora
from pkg.retrieval.ranking import Ranked
from pkg.retrieval.search import Found

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

BEST_FUNCTIONS = 2
"""Number of functions whose scores add up to that of their file. Of the issues that the ranker of long questions was
trained on, each repository left out in turn, .71 have the right file first; with one function or three .69, with five
.65."""
SHOWN_FUNCTIONS = 5  # listed with their file
FUNCTIONS_PER_FILE = 5  # best functions searched for each requested file
MIN_FUNCTIONS = 50  # minimum of the search


def find_files(store: GraphStore, find: Callable[[int], Found], k: int) -> tuple[list[Hit], Found]:
    """Return the k best files, and the search result they come from; fewer only if the graph has fewer.

    find: returns the given number of best functions.
    """
    depth = max(MIN_FUNCTIONS, k * FUNCTIONS_PER_FILE)
    while True:
        found = find(depth)
        files = _group_files(store, found.ranked)
        if len(files) >= k or len(found.ranked) < depth:
            return _make_hits(store, files, k), found
        depth *= 4


def _group_files(store: GraphStore, ranked: Sequence[Ranked]) -> list[list[tuple[Ranked, Node]]]:
    """Group functions by file, best first, and sort the files by score, ties by path."""
    files: dict[tuple[str, str], list[tuple[Ranked, Node]]] = {}
    for each, node in zip(ranked, store.get([each.id for each in ranked]), strict=True):
        files.setdefault((node.source, node.path), []).append((each, node))
    ordered = sorted(files.items(), key=lambda file: (-_score(each for each, _ in file[1]), file[0]))
    return [functions[:SHOWN_FUNCTIONS] for _, functions in ordered]


def _score(functions: Iterable[Ranked]) -> float:
    """Return the sum of the best functions' scores; a negative cosine counts as 0."""
    return sum(sorted((max(each.score, 0.0) for each in functions), reverse=True)[:BEST_FUNCTIONS])


def _make_hits(store: GraphStore, files: Sequence[Sequence[tuple[Ranked, Node]]], k: int) -> list[Hit]:
    """Build the hits of the first k files, with a fixed number of store queries."""
    corpora, chosen = list_corpora(store), files[:k]
    units = store.get([_name_file(functions[0][1], corpora) for functions in chosen])
    heads = iter(read_heads(store, [node for functions in chosen for _, node in functions]))
    return [
        _make_hit(rank, unit, functions, list(islice(heads, len(functions))))
        for rank, (unit, functions) in enumerate(zip(units, chosen, strict=True), start=1)
    ]


def _name_file(function: Node, corpora: Collection[str]) -> str:
    return name_unit(function.source, function.path, Label.ROW if function.source in corpora else Label.FILE)


def _make_hit(rank: int, unit: Node, functions: Sequence[tuple[Ranked, Node]], heads: Sequence[Head]) -> Hit:
    places = tuple(
        FunctionPlace(
            id=node.id,
            qualname=node.qualname,
            start_line=node.start_line,
            end_line=node.end_line,
            score=each.score,
            signature=head.signature,
            summary=head.summary,
        )
        for (each, node), head in zip(functions, heads, strict=True)
    )
    score = _score(each for each, _ in functions)
    return Hit(
        rank=rank,
        label=unit.label.value,
        id=unit.id,
        source=unit.source,
        path=unit.path,
        qualname="",
        kind=None,
        start_line=unit.start_line,
        end_line=unit.end_line,
        score=score,
        score_pruned=score,
        content="",
        pruned_content="",
        cosine=max(each.cosine for each, _ in functions),
        has_code=False,
        functions=places,
    )
