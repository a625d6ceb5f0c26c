"""Turn the sections of text files that a question is about into evidence (Q-06, Q-07)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pkg.model import Label, Node
from pkg.retrieval.candidate_pool import Scores
from pkg.retrieval.chunk_search import find_chunks
from pkg.retrieval.evidence.evidence import Evidence
from pkg.retrieval.evidence.evidence_options import EvidenceOptions, node_filter
from pkg.retrieval.question import Question, parse_question

if TYPE_CHECKING:
    from pkg.encode.encoder import Vectors
    from pkg.graph.store import GraphStore
    from pkg.terms.inverted_index import TermScores

SEARCH_DEPTH = 30  # best chunks that are ranked again
MAX_SECTIONS, MAX_OF_FILE = 6, 2
DEPTH_COST = 0.04
"""Of the score, for each folder: files nearer to the root are about the whole. Of 26 questions about the documents of
spyder 20 have the right file first with it, and 15 without."""
ABOVE_CODE = 0.15
"""Excess of a section's score over that of code that answers as well: the best one has half of it for its words alone.
Of the questions about spyder most have the right file first with .1 to .2."""
ALIKE = 0.55  # minimal similarity of a related word
MIN_COSINE, MIN_HELD = 0.4, 0.25
"""Thresholds for a section to fit: its cosine, and its share of the question's words, by their rarity."""


@dataclass(frozen=True, slots=True)
class Sections:
    """Sections for a question, best first, and whether any of them fits."""

    pieces: tuple[Evidence, ...]
    searched: int
    fits: bool


def find_sections(store: GraphStore, query: Vectors, text: str, options: EvidenceOptions) -> Sections:
    """Find the best sections for a question, whose vector is float32 [dimension]."""
    question = parse_question(text)
    terms = _choose_terms(question)
    found = find_chunks(store, query, terms, SEARCH_DEPTH, node_filter(options))
    if not found.ranked:
        return Sections((), found.searched, False)
    ids = [each.id for each in found.ranked]
    nodes, parts = store.get(ids), store.text_parts(ids, terms, Label.CHUNK)
    held = _measure_held(question, list(terms), parts)
    fits = any(
        each.cosine >= MIN_COSINE and share >= MIN_HELD for each, share in zip(found.ranked, held.tolist(), strict=True)
    )
    scored = [
        (each.score - DEPTH_COST * node.path.count("/"), node) for each, node in zip(found.ranked, nodes, strict=True)
    ]
    scored.sort(key=lambda pair: -pair[0])
    best = [_make(node, score) for score, node in _take_some(scored)]
    return Sections(tuple(best), found.searched, fits)


def _take_some(scored: Sequence[tuple[float, Node]]) -> Iterator[tuple[float, Node]]:
    """Yield the best sections, a few for each file."""
    taken: Counter[tuple[str, str]] = Counter()
    for score, node in scored:
        place = node.source, node.path
        if taken[place] < MAX_OF_FILE and taken.total() < MAX_SECTIONS:
            taken[place] += 1
            yield score, node


def _measure_held(question: Question, terms: Sequence[str], parts: TermScores) -> Scores:
    """Return the share of a question that each section holds, by the rarity of its terms: float64 [sections].

    A related word counts as the term.
    """
    holds, own = parts.scores > 0, len(question.weights)
    for place, term in enumerate(terms[:own]):
        for other in range(own, len(terms)):
            if terms[other] in question.related.get(term, {}):
                holds[:, place] |= holds[:, other]
    return np.asarray(holds[:, :own] @ parts.rarities[:own] / (parts.rarities[:own].sum() or 1), np.float64)


def _choose_terms(question: Question) -> dict[str, float]:
    """Return the weights of the terms of a question, followed by those of related words."""
    terms = dict(question.weights)
    for term, others in question.related.items():
        for other, likeness in others.items():
            if likeness >= ALIKE:
                terms.setdefault(other, question.weights[term] * likeness)
    return terms


def _make(node: Node, score: float) -> Evidence:
    title = f"section {node.qualname}" if node.qualname else "text"
    return Evidence(
        "text", node.source, node.path, node.start_line, node.end_line, title, node.content, score - ABOVE_CODE
    )
