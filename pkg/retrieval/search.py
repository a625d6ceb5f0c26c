"""Find the nodes nearest to a question: one label and one index a search, merged where both are asked (A-01)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pkg.model import Label, Match, Matches, NodeFilter

if TYPE_CHECKING:
    from pkg.encode.encoder import Vectors
    from pkg.graph.store import GraphStore

LABELS_OF_MODE = {
    "block": (Label.BLOCK,),
    "function": (Label.FUNCTION,),
    "both": (Label.BLOCK, Label.FUNCTION),
}
SAME_SCORE = 1e-7  # equal texts have equal vectors, whose cosines in one store differ in the last bits at most


def search_nodes(store: GraphStore, query: Vectors, mode: str, k: int, where: NodeFilter) -> Matches:
    """Find the k nodes of a mode nearest to the query vector [d], ties by id, equal content folded (P-14 to P-17).

    Mode ``both`` takes the best k of each label and keeps the best k of all; block kinds narrow blocks alone.
    """
    found = [_search_label(store, query, label, k, where) for label in LABELS_OF_MODE[mode]]
    if len(found) == 1:
        return found[0]
    ranked = sorted((match for each in found for match in each.matches), key=lambda match: (-match.score, match.id))
    merged = _fold_equal(store, ranked, {match.id for match in found[0].matches})
    return Matches(
        tuple(merged[:k]),
        sum(each.searched for each in found),
        sum(each.filtered for each in found),
        sum(each.folded for each in found) + len(ranked) - len(merged),
    )


def _search_label(store: GraphStore, query: Vectors, label: Label, k: int, where: NodeFilter) -> Matches:
    narrowed = where if label is Label.BLOCK else replace(where, kinds=None)
    return store.vector_search(label, query, k, narrowed)


def _fold_equal(store: GraphStore, ranked: Sequence[Match], first_label: set[str]) -> list[Match]:
    """Fold a block and a function of equal content: the first stands for both.

    Equal content means equal score, so only neighbours of one score that are of both labels are fetched and compared.
    """
    kept: list[Match] = []
    for group in _group_scores(ranked):
        is_mixed = len({match.id in first_label for match in group}) > 1
        kept += _fold_group(store, group) if is_mixed else group
    return kept


def _group_scores(ranked: Sequence[Match]) -> Iterator[list[Match]]:
    group: list[Match] = []
    for match in ranked:
        if group and group[-1].score - match.score > SAME_SCORE:
            yield group
            group = []
        group.append(match)
    if group:
        yield group


def _fold_group(store: GraphStore, group: list[Match]) -> list[Match]:
    firsts: dict[str, Match] = {}
    for match, node in zip(group, store.get([match.id for match in group]), strict=True):
        first = firsts.get(node.content_hash)
        same = match.same_content + 1 + first.same_content if first else match.same_content
        firsts[node.content_hash] = replace(first or match, same_content=same)
    return list(firsts.values())
