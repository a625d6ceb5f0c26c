"""Find the sections of text files that a question is about, by their vectors and by words (Q-06, Q-07)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pkg.model import Label, Node
from pkg.retrieval.evidence.evidence import Evidence
from pkg.retrieval.evidence.evidence_options import EvidenceOptions, node_filter
from pkg.retrieval.pool import Scores, standardise
from pkg.retrieval.question import parse_question

if TYPE_CHECKING:
    from pkg.encode.encoder import Vectors
    from pkg.graph.store import GraphStore

LOOKED_AT = 60  # best of each search
MOST_SECTIONS, MOST_OF_FILE = 6, 2
DEPTH_COST = 0.6
"""Standard deviations of both searches that one folder more costs: what stands nearer to the root is about the whole.
Of 26 questions about the documents of spyder 14 have the right file first with it, and 11 without."""
ALIKE = 0.55  # at least, of a word that is looked for in the place of one of the question
LEAST_COSINE, LEAST_HELD = 0.4, 0.25
"""Of a section that fits: its cosine, and the share of the question's words that it holds, by their rarity."""


@dataclass(frozen=True, slots=True)
class Sections:
    """The sections that a question finds, best first, and whether any of them fits."""

    pieces: tuple[Evidence, ...]
    searched: int
    fits: bool


def find_sections(store: GraphStore, query: Vectors, text: str, options: EvidenceOptions) -> Sections:
    """Find the best sections for a question, whose vector is float32 [dimension]."""
    where, terms = node_filter(options), _choose_terms(text)
    near = store.vector_search(Label.CHUNK, query, LOOKED_AT, where)
    worded = store.text_search(Label.CHUNK, terms, LOOKED_AT, where)
    cosines = {match.id: match.score for match in near.matches}
    least = min(cosines.values(), default=0.0)
    ids = list(dict.fromkeys(match.id for match in (*near.matches, *worded.matches)))
    if not ids:
        return Sections((), near.searched, False)
    parts = store.text_parts(ids, terms, Label.CHUNK)
    held: Scores = (parts.scores > 0) @ parts.rarities / (parts.rarities.sum() or 1)
    dense = np.array([cosines.get(each, least) for each in ids])
    nodes = store.get(ids)
    depths = np.array([node.path.count("/") for node in nodes])
    scores = standardise(dense) + standardise(parts.scores.sum(axis=1)) - DEPTH_COST * depths
    order = np.argsort(-scores, kind="stable")
    fits = bool(((dense >= LEAST_COSINE) & (held >= LEAST_HELD)).any())
    best = list(_take_rows(order.tolist(), nodes))
    return Sections(tuple(_make(nodes[row], float(dense[row])) for row in best), near.searched, fits)


def _take_rows(order: Sequence[int], nodes: Sequence[Node]) -> Iterator[int]:
    """Take the first sections, a few of one file."""
    taken: Counter[tuple[str, str]] = Counter()
    for row in order:
        place = nodes[row].source, nodes[row].path
        if taken[place] < MOST_OF_FILE and taken.total() < MOST_SECTIONS:
            taken[place] += 1
            yield row


def _choose_terms(text: str) -> dict[str, float]:
    """Give the weights of the terms of a question, and of those that mean about the same."""
    question = parse_question(text)
    terms = dict(question.weights)
    for term, others in question.related.items():
        for other, likeness in others.items():
            if likeness >= ALIKE:
                terms.setdefault(other, question.weights[term] * likeness)
    return terms


def _make(node: Node, score: float) -> Evidence:
    title = f"section {node.qualname}" if node.qualname else "text"
    return Evidence("text", node.source, node.path, node.start_line, node.end_line, title, node.content, score)
