"""Full-text search of the embedded store.

Functions and imports are indexed; function names and blocks are reached through their functions, so that a block costs
no room in the index: it scores its function's BM25 times the share of the words that it holds itself.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from fnmatch import fnmatchcase

from pkg.graph import sql
from pkg.graph.reading import NodeReader
from pkg.model import Label, Match, Matches, Node, NodeFilter

Scored = tuple[Node, float]


def search_words(
    connection: sqlite3.Connection, reader: NodeReader, label: Label, terms: str, k: int, where: NodeFilter | None
) -> Matches:
    """Find up to k nodes of a label that hold any of the words, equal content folded, best first."""
    words = sorted(set(re.findall(r"\w+", terms.lower())))
    found: dict[str, Match] = {}
    seen: set[str] = set()
    looked_at = filtered = folded = 0
    for node, score in _find(connection, reader, label, words) if words else ():
        looked_at += 1
        if not _passes(node, where):
            filtered += 1
        elif node.content_hash in seen:
            folded += 1
        elif len(found) < k:
            seen.add(node.content_hash)
            found[node.id] = Match(node.id, score)
        else:
            break
    order = sorted(found.values(), key=lambda match: (-match.score, match.id))
    return Matches(tuple(order), looked_at, filtered, folded)


def _find(connection: sqlite3.Connection, reader: NodeReader, label: Label, words: list[str]) -> Iterator[Scored]:
    """Yield the nodes of a label that may match, by falling score of the indexed node that leads to them."""
    indexed = Label.IMPORT if label is Label.IMPORT else Label.FUNCTION
    question = " OR ".join(f'"{word}"' for word in words)
    for number, rank in connection.execute(sql.SEARCH_WORDS, (question,)).fetchall():
        node = reader.read_number(number)
        if node.label is not indexed:
            continue
        if label is indexed:
            yield node, -rank
        elif label is Label.FUNCTION_NAME:
            yield from ((name, -rank) for name in reader.read_names(node))
        else:
            yield from _rank_blocks(reader.read_inside(node), -rank, words)


def _rank_blocks(inside: list[Node], score: float, words: list[str]) -> list[Scored]:
    ranked = []
    for block in inside:
        text = block.content.lower()
        share = sum(word in text for word in words) / len(words)
        if block.label is Label.BLOCK and share:
            ranked.append((block, score * share))
    return sorted(ranked, key=lambda item: -item[1])


def _passes(node: Node, where: NodeFilter | None) -> bool:
    return where is None or (
        where.source in (None, node.source)
        and (where.path is None or fnmatchcase(node.path, where.path))
        and (where.kinds is None or node.kind in where.kinds)
    )
