"""Search for a long question: search each part, follow what the question mentions, and combine all in one ranking.

The ranking is a sum of features, trained on issues and the edits that fixed them (training/train_long_ranker.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pkg.graph.path_filter import is_example
from pkg.model import Label, Match, NodeFilter, Outline
from pkg.retrieval import features
from pkg.retrieval.candidate_pool import Pool, Scores, map_owners, read_pool, standard_deviation, standardise
from pkg.retrieval.long.long_question import Part
from pkg.retrieval.long.question_mentions import Mentions, find_mentions
from pkg.retrieval.question import Question
from pkg.retrieval.ranking import Ranked, Weights, make_weights, rank_weighted

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder, Vectors
    from pkg.graph.store import GraphStore


WEIGHTS = Path(__file__).with_name("long_ranker.json")
SEARCH_DEPTH = 50  # best of each search for each part
FILE_SEARCH_DEPTH = 50  # the same among the files that a question mentions
BLOCK_PARTS = (Part.TITLE, Part.PROSE)
"""Parts that blocks are compared with: of the issues in training, each repository left out in turn, .68 have the right
file first, and .64 without."""
MAX_FILES = 12  # of those searched separately: a trace through a framework has forty


def encode_parts(encoder: Encoder, question: Question) -> dict[Part, Vectors]:
    """Encode each part of a long question with a known word: float32 [dimension]."""
    vectors = {
        part: encoder.encode_query(asked.text.encode("utf-8", "replace").decode())
        for part, asked in question.parts.items()
    }
    return {part: vector for part, vector in vectors.items() if vector.any()}


def collect_long_pool(
    store: GraphStore, question: Question, query: Vectors, vectors: Mapping[Part, Vectors], k: int, where: NodeFilter
) -> LongPool:
    """Search with the whole question, float32 [dimension], with each part, and in the files that it mentions."""
    if where.tests is None:
        where = replace(where, tests=False)
    mentions = find_mentions(store, question, where.source)
    near, lexical = store.hybrid_search(Label.FUNCTION, query, question.search_weights, max(k, SEARCH_DEPTH), where)
    found = [near.matches, lexical.matches]
    for part, vector in vectors.items():
        found += _search(store, question.parts[part], vector, max(k, SEARCH_DEPTH), where)
    if mentions.paths and not where.paths:
        inside = replace(where, paths=tuple(map(_escape, mentions.paths[:MAX_FILES])))
        found += _search(store, question, query, FILE_SEARCH_DEPTH, inside)
    counts = {} if where.paths or where.tests else dict.fromkeys(mentions.functions, 0)
    counts |= {match.id: match.same_content for matches in reversed(found) for match in matches}
    whole = read_pool(store, question, query, near, counts)
    parts = {part: read_pool(store, question.parts[part], vector, near, counts) for part, vector in vectors.items()}
    blocks = {part: _read_blocks(store, vectors[part], whole) for part in BLOCK_PARTS if part in vectors}
    return LongPool(whole, parts, mentions, blocks)


def _read_blocks(store: GraphStore, query: Vectors, pool: Pool) -> Scores:
    """Read for each function the highest cosine of its blocks, or its own without blocks."""
    blocks = _group_blocks(store, query, [each.id for each in pool.outlines])
    return np.array(
        [max((block.cosine for block in blocks[each.id]), default=each.cosine) for each in pool.outlines], np.float64
    )


def _group_blocks(store: GraphStore, query: Vectors, functions: Sequence[str]) -> dict[str, list[Outline]]:
    """Read the blocks of some functions, by the ids of these, for a query, float32 [dimension]."""
    blocks: dict[str, list[Outline]] = {each: [] for each in functions}
    for outline in store.outlines([], query, functions).values():
        if outline.label is Label.BLOCK and outline.owner in blocks:
            blocks[outline.owner].append(outline)
    return blocks


def _search(
    store: GraphStore, asked: Question, query: Vectors, k: int, where: NodeFilter
) -> tuple[tuple[Match, ...], tuple[Match, ...]]:
    near, lexical = store.hybrid_search(Label.FUNCTION, query, asked.search_weights, k, where)
    return near.matches, lexical.matches


def _escape(path: str) -> str:
    """Return a glob that matches only this path."""
    return "".join(f"[{letter}]" if letter in "[*?!" else letter for letter in path)


def rank_long(pool: LongPool, k: int) -> list[Ranked]:
    """Return the k candidates with the highest weighted sum of features, best first, ties by id."""
    weights = load_long_weights()
    measured = measure_long(pool) * np.array(weights.values)
    dense = dict(zip(FEATURES, weights.values, strict=True))["whole_dense"]
    slope = max(0.0, dense) / standard_deviation(pool.whole.dense)
    return rank_weighted(pool.whole, measured, [*FEATURES, "offset"], weights.offset, slope, k)


def choose_blocks(
    store: GraphStore, query: Vectors, functions: Sequence[Ranked], k: int, kinds: frozenset[str] | None
) -> list[Ranked]:
    """Return the block of each function, best first, with the highest cosine with a query, float32 [dimension]."""
    chosen: list[Ranked] = []
    for start in range(0, len(functions), k):
        some = functions[start : start + k]
        blocks = _group_blocks(store, query, [each.id for each in some])
        for each in some:
            allowed = (block for block in blocks[each.id] if kinds is None or block.kind in kinds)
            best = min(allowed, key=lambda block: (-round(block.cosine, 9), block.id), default=None)
            if best is not None:
                chosen.append(replace(each, id=best.id, cosine=best.cosine, content_hash=best.content_hash))
        if len(chosen) >= k:
            break
    return chosen[:k]


@lru_cache(maxsize=1)
def load_long_weights() -> Weights:
    """Load the trained weights, which must be for exactly the current features."""
    return make_weights(json.loads(WEIGHTS.read_text("utf-8")), list(FEATURES), WEIGHTS.name)


@dataclass(frozen=True, eq=False)
class LongPool:
    """Candidates for a long question, the same ones for the whole of it and for each part.

    The parts are searched like short questions, and each is measured against the other candidates, so that features of
    parts can be added, whatever their lengths.
    """

    whole: Pool
    parts: Mapping[Part, Pool]
    mentions: Mentions
    blocks: Mapping[Part, Scores]  # of some parts: the cosine of each function's nearest block


Measure = Callable[[LongPool], Scores]


def _of_part(part: Part, measure: Callable[[Pool], Scores]) -> Measure:
    """Compute a feature of one part; 0 if the question has no such part."""

    def measure_part(pool: LongPool) -> Scores:
        asked = pool.parts.get(part)
        return np.zeros(len(pool.whole.outlines)) if asked is None else measure(asked)

    return measure_part


def _of_whole(measure: Callable[[Pool], Scores]) -> Measure:
    return lambda pool: measure(pool.whole)


def _of_blocks(part: Part) -> Measure:
    """Compute the cosine of the nearest block: the vector of a long function says little about a single branch."""
    return lambda pool: standardise(pool.blocks[part]) if part in pool.blocks else np.zeros(len(pool.whole.outlines))


def _of_mentions(measure: Callable[[Mentions, Outline], float]) -> Measure:
    """Compute a feature from what the question mentions."""
    return lambda pool: map_owners(pool.whole, lambda owner: measure(pool.mentions, owner))


def _is_framed(mentions: Mentions, owner: Outline) -> float:
    """Return whether the function is on a stack trace: 1 for the last call, less for each before it."""
    last = len(mentions.frames) - 1
    steps = [
        last - place
        for place, (frame, path) in enumerate(mentions.frames)
        if path == owner.path and frame.function is not None and frame.function.rpartition(".")[2] == owner.name
    ]
    return FRAME_OFFSET / (FRAME_OFFSET + min(steps)) if steps else 0.0


FRAME_OFFSET = 3  # calls before the last one at which a frame counts half: mostly one of the last three is at fault

FEATURES: dict[str, Measure] = {
    "title_dense": _of_part(Part.TITLE, features.dense),
    "title_block": _of_blocks(Part.TITLE),
    "title_lexical": _of_part(Part.TITLE, features.lexical),
    "title_scope": _of_part(Part.TITLE, features.scope_cover),
    "title_qualname": _of_part(Part.TITLE, features.qualname_share),
    "prose_dense": _of_part(Part.PROSE, features.dense),
    "prose_block": _of_blocks(Part.PROSE),
    "prose_lexical": _of_part(Part.PROSE, features.lexical),
    "output_lexical": _of_part(Part.OUTPUT, features.lexical),
    "whole_dense": _of_whole(features.dense),
    "named_file": _of_mentions(lambda mentions, owner: float(owner.path in mentions.files)),
    "definer": _of_mentions(lambda mentions, owner: mentions.definers.get(owner.path, 0.0)),
    "framed": _of_mentions(_is_framed),
    "prose_name": _of_part(Part.PROSE, features.asked_name),
    "is_aside": _of_mentions(lambda mentions, owner: float(is_example(owner.path))),
    "is_special": _of_whole(features.is_special),
    "is_private": _of_whole(features.is_private),
    "length": _of_whole(features.length),
}
"""Features by their names in the file of weights."""


def measure_long(pool: LongPool) -> Scores:
    """Compute every feature of every candidate: float64 [candidates, features], in their order."""
    if not pool.whole.outlines:
        return np.zeros((0, len(FEATURES)))
    return np.stack([measure(pool) for measure in FEATURES.values()], axis=1)
