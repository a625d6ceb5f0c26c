"""Full-text search over whatever index a store has.

Functions and imports are indexed; function names and blocks are reached through their functions, so that a block costs
no room in the index: it scores its function's score times the share of the words that it holds itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from heapq import heappush, heappushpop
from itertools import islice
from typing import Protocol

from pkg.model import Label, Match, Matches, Node, NodeFilter

BLOCK_FUNCTIONS = 1000  # functions whose blocks are looked at, best first: more would take seconds on a large graph

Scored = tuple[Node, float]


class WordIndex(Protocol):
    """What a store tells of the words of its nodes."""

    def rank(self, label: Label, words: Sequence[str]) -> Iterator[tuple[Node, float]]:
        """Give the functions or imports that hold any of the words with a score above zero, best first, ties by id."""

    def read_names(self, function: Node) -> list[Node]:
        """Read the FunctionName node of a function."""

    def read_inside(self, node: Node) -> list[Node]:
        """Read what lies inside a node."""

    def read_paths(self, node: Node) -> list[str]:
        """Give the paths of the files or rows that hold a node."""


class WordSearch:
    """Rank the nodes of one graph by the words that they hold."""

    def __init__(self, index: WordIndex) -> None:
        self._index = index

    def search(self, label: Label, terms: str, k: int, where: NodeFilter | None) -> Matches:
        """Find the k best nodes of a label that hold any of the words, equal content folded, ties by id."""
        words = sorted(set(re.findall(r"\w+", terms.lower())))
        if not words or k < 1:
            return Matches((), 0, 0, 0)
        best: dict[str, Match] = {}
        floor: list[float] = []  # heap of k scores that are reached already
        searched = filtered = 0
        for bound, nodes in self._find_groups(label, words):
            if len(floor) == k and bound < floor[0]:
                break  # nothing that follows can rank among the k best
            for node, score in nodes:
                searched += 1
                if not self._passes(node, where):
                    filtered += 1
                elif _fold(best, node, score):
                    (heappush if len(floor) < k else heappushpop)(floor, score)
        matches = tuple(sorted(best.values(), key=lambda match: (-match.score, match.id))[:k])
        return Matches(matches, searched, filtered, sum(match.same_content for match in matches))

    def _find_groups(self, label: Label, words: list[str]) -> Iterator[tuple[float, list[Scored]]]:
        """Give the nodes that each indexed node leads to, best first, with the score that none of them exceeds."""
        indexed = Label.IMPORT if label is Label.IMPORT else Label.FUNCTION
        for node, score in islice(self._index.rank(indexed, words), BLOCK_FUNCTIONS if label is Label.BLOCK else None):
            if label is indexed:
                yield score, [(node, score)]
            elif label is Label.FUNCTION_NAME:
                yield score, [(name, score) for name in self._index.read_names(node)]
            else:
                yield score, self._score_blocks(node, score, words)

    def _score_blocks(self, function: Node, score: float, words: list[str]) -> list[Scored]:
        """Score each block of a function by the share of the words that it holds itself."""
        scored = []
        for block in self._index.read_inside(function):
            text = block.content.lower()
            share = sum(word in text for word in words) / len(words)
            if block.label is Label.BLOCK and share:
                scored.append((block, score * share))
        return scored

    def _passes(self, node: Node, where: NodeFilter | None) -> bool:
        """Apply a filter as vector search does: a node of several files or rows passes by any of their paths."""
        if where is None:
            return True
        if where.source not in (None, node.source) or (where.kinds is not None and node.kind not in where.kinds):
            return False
        if where.path is None:
            return True
        return any(fnmatchcase(path, where.path) for path in self._index.read_paths(node))


def _fold(best: dict[str, Match], node: Node, score: float) -> bool:
    """Keep the best node of each content, counting the others; tell whether the content is new."""
    known = best.get(node.content_hash)
    if known is None:
        best[node.content_hash] = Match(node.id, score)
        return True
    if known.id == node.id:  # a name that several functions bear comes once for each; the first is the best
        return False
    leader = min(known, Match(node.id, score), key=lambda match: (-match.score, match.id))
    best[node.content_hash] = replace(leader, same_content=known.same_content + 1)
    return False
