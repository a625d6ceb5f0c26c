"""Search the nodes of a label by weighted terms, the same way for every store.

Functions, imports and declarations are indexed; function names and blocks are found through their functions, so that a
block takes no space in the index: its score is that of its function times the share of the terms, by weight, that the
block itself holds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from heapq import heappush, heappushpop
from typing import TYPE_CHECKING, Protocol

from pkg.model import DECLARATION_LABELS, Label, Match, Matches, Node, NodeFilter, leave_out
from pkg.terms.packed_terms import TERM_LABELS
from pkg.units import format_id, hash_key

if TYPE_CHECKING:
    from pkg.terms.index_segment import TextSegment
    from pkg.terms.text_parts import TextParts

BLOCK_FUNCTIONS = 1000  # functions whose blocks are scored, best first: more would take seconds on a large graph
BATCH = 50  # functions that are fetched together

Terms = Mapping[str, float]


class TextIndex(Protocol):
    """Access of lexical search to the terms and nodes of a store."""

    def open_terms(self, label: Label) -> TextSegment | TextParts:
        """Return the terms of the group of a label, in the current generation."""

    def find_fragments(self, where: NodeFilter) -> Collection[int]:
        """Return the numbers of the fragments of files and rows whose path passes a filter."""

    def read_nodes(self, ids: list[str]) -> list[Node]:
        """Read nodes in the order of their ids."""

    def read_inside(self, node: Node) -> list[Node]:
        """Read the nodes inside a node."""


def search_text(index: TextIndex, label: Label, terms: Terms, k: int, where: NodeFilter | None) -> Matches:
    """Find the k best nodes of a label that hold any of the terms, of distinct content, ties by id."""
    where = where or NodeFilter()
    indexed = label if label in TERM_LABELS else Label.FUNCTION
    is_empty = label is not Label.BLOCK and where.kinds is not None  # kinds are of blocks
    if label is Label.FUNCTION_NAME:
        is_empty = is_empty or where.narrows_paths  # a name has no path
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
    rarities = zip(terms.items(), segment.weigh(terms), strict=True)
    rarity = {term: weight * rare for (term, weight), rare in rarities}
    return _find_blocks(index, found, rarity, k, where.kinds)


def search_functions(index: TextIndex, terms: Terms, k: int, where: NodeFilter | None) -> Matches:
    """Find the k best functions for a ranking that also uses vectors; kinds are of blocks and do not restrict them."""
    if not terms:
        return Matches((), 0, 0, 0)
    return search_text(index, Label.FUNCTION, terms, k, None if where is None else replace(where, kinds=None))


def search_declarations(index: TextIndex, terms: Terms, k: int, where: NodeFilter | None) -> Matches:
    """Find the k best classes, constants and modules, all in one order; kinds of blocks do not restrict them."""
    where = where or NodeFilter()
    if not terms:
        return Matches((), 0, 0, 0)
    segment = index.open_terms(DECLARATION_LABELS[0])
    fragments = index.find_fragments(where) if where.narrows_paths else None
    return segment.search(terms, k, segment.filter(where.source, fragments))


def _read_functions(index: TextIndex, best: list[tuple[str, float]]) -> Iterator[tuple[Node, float]]:
    """Read functions in batches, best first, with their scores."""
    for start in range(0, len(best), BATCH):
        some = best[start : start + BATCH]
        nodes = index.read_nodes([each for each, _ in some])
        yield from zip(nodes, (score for _, score in some), strict=True)


def _find_names(functions: Iterator[tuple[Node, float]], k: int) -> Matches:
    """Find the names of the best functions; the score of a name is that of its best function, equal names collapse."""
    best: dict[str, Match] = {}
    seen: set[str] = set()
    threshold = 0.0  # score of the k-th name
    for function, score in functions:
        name = format_id(hash_key(function.source, Label.FUNCTION_NAME.value, function.name))
        if k < 1 or score < threshold:
            break
        if name not in seen:
            seen.add(name)
            known = best.get(function.name)
            best[function.name] = Match(name, score) if known is None else _choose(known, Match(name, score))
            threshold = score if len(best) == k else threshold
    matches = tuple(sorted(best.values(), key=_order)[: max(k, 0)])
    return Matches(matches, len(seen), 0, sum(match.same_content for match in matches))


def _find_blocks(
    index: TextIndex, functions: Iterator[tuple[Node, float]], rarity: Terms, k: int, kinds: Collection[str] | None
) -> Matches:
    """Find the best blocks of the best functions, until no later function can have a better one."""
    best: dict[str, Match] = {}
    threshold: list[float] = []  # heap of the k best scores so far
    searched = filtered = 0
    for function, bound in functions:
        if k < 1 or (len(threshold) == k and bound < threshold[0]):
            break
        for block in index.read_inside(function):
            share = _find_share(block, rarity)
            searched += share > 0
            if share and kinds is not None and block.kind not in kinds:
                filtered += 1
            elif share and _keep_best(best, block, bound * share):
                (heappush if len(threshold) < k else heappushpop)(threshold, bound * share)
    matches = tuple(sorted(best.values(), key=_order)[: max(k, 0)])
    return Matches(matches, searched, filtered, sum(match.same_content for match in matches))


def _find_share(block: Node, rarity: Terms) -> float:
    """Return the share of the terms, by weight, that a block holds; 0 for other nodes.

    A term is a stem: the beginning of its words, except for a final y.
    """
    if block.label is not Label.BLOCK:
        return 0.0
    text = block.content.lower()
    held = (weight for term, weight in rarity.items() if term in text or (term[-1] == "i" and term[:-1] + "y" in text))
    return sum(held) / (sum(rarity.values()) or 1)


def _keep_best(best: dict[str, Match], node: Node, score: float) -> bool:
    """Keep the best node of each content and count the others; return whether the content is new."""
    known = best.get(node.content_hash)
    best[node.content_hash] = Match(node.id, score) if known is None else _choose(known, Match(node.id, score))
    return known is None


def _choose(known: Match, other: Match) -> Match:
    """Return the better of two matches of equal content, counting both."""
    return min(known, other, key=_order)._replace(same_content=known.same_content + 1)


def _order(match: Match) -> tuple[float, str]:
    return -match.score, match.id
