"""Search the nodes of a label by weighted terms, the same way for every store.

Functions, imports and declarations are indexed; function names and blocks are reached through their functions, so that
a block costs no room in the index: it scores its function's score times the share of the terms, by weight, that it
holds itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from heapq import heappush, heappushpop
from typing import TYPE_CHECKING, Protocol

from pkg.model import DECLARATION_LABELS, Label, Match, Matches, Node, NodeFilter, leave_out
from pkg.terms.impacts import TERM_LABELS
from pkg.units import format_id, hash_key

if TYPE_CHECKING:
    from pkg.terms.index_segment import TextSegment

BLOCK_FUNCTIONS = 1000  # functions whose blocks are looked at, best first: more would take seconds on a large graph
AT_ONCE = 50  # functions that are fetched together

Terms = Mapping[str, float]


class TextIndex(Protocol):
    """What a store tells of the terms of its nodes."""

    def open_terms(self, label: Label) -> TextSegment:
        """Give the terms of the group of a label, in the generation that is read now."""

    def find_fragments(self, where: NodeFilter) -> Collection[int]:
        """Give the numbers of the fragments of the files and rows whose path passes a filter."""

    def read_nodes(self, ids: list[str]) -> list[Node]:
        """Read nodes in the order of their ids."""

    def read_inside(self, node: Node) -> list[Node]:
        """Read what lies inside a node."""


def search_text(index: TextIndex, label: Label, terms: Terms, k: int, where: NodeFilter | None) -> Matches:
    """Find the k best nodes of a label that hold any of the terms, equal content folded, ties by id."""
    where = where or NodeFilter()
    indexed = label if label in TERM_LABELS else Label.FUNCTION
    is_empty = label is not Label.BLOCK and where.kinds is not None  # kinds are of blocks
    if label is Label.FUNCTION_NAME:
        is_empty = is_empty or where.narrows_paths  # a name stands in no file
    segment = index.open_terms(indexed)
    fragments = [] if is_empty else index.find_fragments(where) if where.narrows_paths else None
    keep = segment.filter(where.source, fragments, label if label in DECLARATION_LABELS else None)
    if label in DECLARATION_LABELS:
        return leave_out(segment.search(terms, k, keep), len(segment) - segment.count(label))
    if label is indexed:
        return segment.search(terms, k, keep)
    if label is Label.FUNCTION_NAME:
        return _find_names(_read_functions(index, segment.list_best(terms, len(segment), keep)), k)
    found = _read_functions(index, segment.list_best(terms, BLOCK_FUNCTIONS, keep))
    rarities = zip(terms.items(), segment.index.weigh(terms), strict=True)
    rarity = {term: weight * rare for (term, weight), rare in rarities}
    return _find_blocks(index, found, rarity, k, where.kinds)


def search_functions(index: TextIndex, terms: Terms, k: int, where: NodeFilter | None) -> Matches:
    """Find the k best functions for a ranking that also knows vectors: kinds are of blocks and do not narrow them."""
    if not terms:
        return Matches((), 0, 0, 0)
    return search_text(index, Label.FUNCTION, terms, k, None if where is None else replace(where, kinds=None))


def search_declarations(index: TextIndex, terms: Terms, k: int, where: NodeFilter | None) -> Matches:
    """Find the k best classes, constants and modules, all in one order; kinds of blocks do not narrow them."""
    where = where or NodeFilter()
    if not terms:
        return Matches((), 0, 0, 0)
    segment = index.open_terms(DECLARATION_LABELS[0])
    fragments = index.find_fragments(where) if where.narrows_paths else None
    return segment.search(terms, k, segment.filter(where.source, fragments))


def _read_functions(index: TextIndex, best: list[tuple[str, float]]) -> Iterator[tuple[Node, float]]:
    """Read functions, best first, some at a time, with their scores."""
    for start in range(0, len(best), AT_ONCE):
        some = best[start : start + AT_ONCE]
        nodes = index.read_nodes([each for each, _ in some])
        yield from zip(nodes, (score for _, score in some), strict=True)


def _find_names(functions: Iterator[tuple[Node, float]], k: int) -> Matches:
    """Find the names of the best functions; a name scores as its best function does, equal names of sources fold."""
    best: dict[str, Match] = {}
    seen: set[str] = set()
    floor = 0.0  # score of the k-th name
    for function, score in functions:
        name = format_id(hash_key(function.source, Label.FUNCTION_NAME.value, function.name))
        if k < 1 or score < floor:
            break
        if name not in seen:
            seen.add(name)
            known = best.get(function.name)
            best[function.name] = Match(name, score) if known is None else _choose(known, Match(name, score))
            floor = score if len(best) == k else floor
    matches = tuple(sorted(best.values(), key=_order)[: max(k, 0)])
    return Matches(matches, len(seen), 0, sum(match.same_content for match in matches))


def _find_blocks(
    index: TextIndex, functions: Iterator[tuple[Node, float]], rarity: Terms, k: int, kinds: Collection[str] | None
) -> Matches:
    """Find the best blocks of the best functions, until no function that follows can have a better one."""
    best: dict[str, Match] = {}
    floor: list[float] = []  # heap of k scores that are reached already
    searched = filtered = 0
    for function, bound in functions:
        if k < 1 or (len(floor) == k and bound < floor[0]):
            break
        for block in index.read_inside(function):
            share = _find_share(block, rarity)
            searched += share > 0
            if share and kinds is not None and block.kind not in kinds:
                filtered += 1
            elif share and _fold(best, block, bound * share):
                (heappush if len(floor) < k else heappushpop)(floor, bound * share)
    matches = tuple(sorted(best.values(), key=_order)[: max(k, 0)])
    return Matches(matches, searched, filtered, sum(match.same_content for match in matches))


def _find_share(block: Node, rarity: Terms) -> float:
    """Give the share of the terms, by weight, that a block holds; 0 for what is no block.

    A term is a stem, which begins its words but for a last y.
    """
    if block.label is not Label.BLOCK:
        return 0.0
    text = block.content.lower()
    held = (weight for term, weight in rarity.items() if term in text or (term[-1] == "i" and term[:-1] + "y" in text))
    return sum(held) / (sum(rarity.values()) or 1)


def _fold(best: dict[str, Match], node: Node, score: float) -> bool:
    """Keep the best node of each content, counting the others; tell whether the content is new."""
    known = best.get(node.content_hash)
    best[node.content_hash] = Match(node.id, score) if known is None else _choose(known, Match(node.id, score))
    return known is None


def _choose(known: Match, other: Match) -> Match:
    """Let the better of two matches of equal content stand for both."""
    return min(known, other, key=_order)._replace(same_content=known.same_content + 1)


def _order(match: Match) -> tuple[float, str]:
    return -match.score, match.id
