"""Collect what a ranking chooses from: the best of the dense and of the lexical search, with both scores of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pkg.model import Label, Match, NodeFilter, Outline
from pkg.retrieval.question import Question

if TYPE_CHECKING:
    from pkg.encode.encoder import Vectors
    from pkg.graph.store import GraphStore

LOOK = 50
"""Best of each search that are looked at, at least: of ten answers, twice as many bring no better ones to the
development questions, and cost half as much again."""
LOOK_FOR_EACH = 1.5
"""Best of each search that are looked at for each answer, where these are more: with 1, up to one in a hundred fewer of
CoSQA's development questions have theirs among 100, and with 3 no more have."""
LOOK_IN_FILE = 20  # best functions or blocks of a file that the question names
LOOK_FOR_FUNCTION = 10
"""Best blocks that are looked at for each of the best functions of the lexical search whose blocks are, too.

With 5, the development questions have theirs no nearer to the top; without such functions a tenth fewer of ten answers
are right.
"""

Scores = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)  # the same only as itself, so that what is measured can be remembered
class Pool:
    """The candidates of one label for one question; arrays have one value a candidate where they say nothing else."""

    question: Question
    outlines: tuple[Outline, ...]
    owners: tuple[Outline, ...]  # the function of a block; a function itself
    words: Scores  # [candidates, terms]: what each term of the question adds to the lexical score of the function
    rarities: Scores  # [terms]: weight of each term, by how rare it is in this graph
    abbreviated: Scores  # what all abbreviations of words of the question add to it
    same_content: tuple[int, ...]  # others of equal content that the searches folded into the candidate
    searched: int  # nodes of the label
    filtered: int  # left out by the filter
    is_approximate: bool = False  # whether the dense search did not look at all nodes

    @cached_property
    def dense(self) -> Scores:
        """Give the true cosines (P-14)."""
        return np.array([each.cosine for each in self.outlines], np.float64)

    @cached_property
    def owner_dense(self) -> Scores:
        """Give the true cosines of the functions."""
        return np.array([each.cosine for each in self.owners], np.float64)

    @cached_property
    def lexical(self) -> Scores:
        """Give the lexical scores of the functions."""
        return np.asarray(self.words.sum(axis=1), np.float64)


def collect_pool(
    store: GraphStore, question: Question, query: Vectors, label: Label, k: int, where: NodeFilter
) -> Pool:
    """Search both ways, and read of all that was found both scores."""
    look = max(int(k * LOOK_FOR_EACH), LOOK)
    near, worded = store.hybrid_search(label, query, question.sought, look, where)
    found = [near.matches, *_search_files(store, question, query, label, where)]
    if label is Label.FUNCTION:
        found.append(worded.matches)
    counts = {match.id: match.same_content for matches in reversed(found) for match in matches}
    functions = worded.matches[: look // LOOK_FOR_FUNCTION] if label is Label.BLOCK else ()
    outlines = store.outlines(list(counts), query, [match.id for match in functions])
    candidates = tuple(_pick_candidates(outlines, counts, label, where))
    owners = tuple(outlines.get(each.owner, each) for each in candidates)  # a block may stand in no function
    return Pool(
        question,
        candidates,
        owners,
        *_read_words(store, owners, question),
        tuple(counts.get(each.id, 0) for each in candidates),
        near.searched,
        near.filtered,
        near.is_approximate,
    )


def _pick_candidates(
    outlines: dict[str, Outline], counts: dict[str, int], label: Label, where: NodeFilter
) -> Iterator[Outline]:
    """Leave out what only came as the function of a block, and blocks of the best functions that do not pass."""
    for each in outlines.values():
        if each.id in counts or (each.label is label and (where.kinds is None or each.kind in where.kinds)):
            yield each


def _search_files(
    store: GraphStore, question: Question, query: Vectors, label: Label, where: NodeFilter
) -> Iterator[tuple[Match, ...]]:
    """Find the best nodes of the files that the question names, unless the search is narrowed to others."""
    if where.path is None:
        for name in question.files:
            narrowed = replace(where, path=f"*{name}*" if name.endswith("/") else f"*{name}")
            yield store.vector_search(label, query, LOOK_IN_FILE, narrowed).matches


def _read_words(store: GraphStore, functions: tuple[Outline, ...], question: Question) -> tuple[Scores, Scores, Scores]:
    """Read what each term adds to the score of each function; a block without a function has no words.

    Gives the scores of the terms, their rarities, and the sums of what abbreviations add.
    """
    ids = sorted({each.id for each in functions if each.label is Label.FUNCTION})
    parts = store.text_parts(ids, question.sought)
    rows = {node_id: row for row, node_id in enumerate(ids)}
    places = [rows.get(each.id, len(ids)) for each in functions]
    padded = np.concatenate((parts.scores, np.zeros((1, parts.scores.shape[1]))))[places]
    words, short = np.split(padded, [len(question.weights)], axis=1)
    return words, np.asarray(parts.rarities[: len(question.weights)], np.float64), short.sum(axis=1)
