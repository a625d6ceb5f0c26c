"""Full-text search of the embedded store.

Functions and imports are indexed; function names and blocks are reached through their functions, so that a block costs
no room in the index: it scores its function's BM25 times the share of the words that it holds itself.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from heapq import heappush, heappushpop
from itertools import islice

from pkg.graph import sql
from pkg.graph.reading import NodeReader
from pkg.graph.writing import parse_id
from pkg.model import Label, Match, Matches, Node, NodeFilter

BLOCK_FUNCTIONS = 1000  # functions whose blocks are looked at, best first: more would take seconds on a large graph

Scored = tuple[Node, float]


class WordSearch:
    """Rank the nodes of one database by the words that they hold."""

    def __init__(self, connection: sqlite3.Connection, reader: NodeReader) -> None:
        self._run = connection.execute
        self._reader = reader

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
        question = " OR ".join(f'"{word}"' for word in words)
        rows = self._run(sql.SEARCH_WORDS, (question, sql.LABEL_NUMBERS[indexed]))
        for number, rank in islice(rows, BLOCK_FUNCTIONS if label is Label.BLOCK else None):
            node = self._reader.read_number(number)
            if label is indexed:
                yield -rank, [(node, -rank)]
            elif label is Label.FUNCTION_NAME:
                yield -rank, [(name, -rank) for name in self._reader.read_names(node)]
            else:
                yield -rank, self._score_blocks(node, -rank, words)

    def _score_blocks(self, function: Node, score: float, words: list[str]) -> list[Scored]:
        """Score each block of a function by the share of the words that it holds itself."""
        scored = []
        for block in self._reader.read_inside(function):
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
        paths = self._run(sql.PATHS_OF, (parse_id(node.id),))
        return any(fnmatchcase(path, where.path) for (path,) in paths)


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
