"""Nearest neighbours on the server: by the index of one label, which is asked for more until k of k remain.

The index ranks by (1 + cosine) / 2 (A-15) and is approximate; the vectors of those that may be among the k best are
fetched, so that scores are true cosines in double precision and equal scores are ordered by id, as in every store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import translate
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pkg.graph.neo4j import cypher
from pkg.graph.neo4j.session import Reader, View
from pkg.graph.neo4j.writing import count_key
from pkg.graph.vectors import score_vectors
from pkg.model import Label, Match, Matches, NodeFilter

LOOK, LOOK_FILTERED = 12, 10  # candidates looked at first, for each that is asked for: on 5.26 and on 2026.x, whose
# indexes look ten times as far by themselves; of 203,000 blocks, the ten best overlap by .95 and .98 with the true ones
LEAST_K = 10
INDEX_LIMIT = 10_000  # hits that 2026.x gives at most, whatever is asked
EXACT_BELOW = 2_000  # nodes that pass a filter and are all compared: cheaper than asking the index, and exact
SAME_SCORE = 1e-6  # how far the server's single precision can be off

Vector = npt.NDArray[np.float32]


class _Found(NamedTuple):
    """What the index gives; the score is (1 + cosine) / 2 in the server's single precision."""

    id: str
    content: str
    score: float


@dataclass(frozen=True, slots=True)
class _Candidate:
    id: str
    content: str
    score: float  # true cosine
    count: int  # of the nodes of this content that pass


class VectorSearch:
    """One search of a label in one view."""

    def __init__(self, reader: Reader, view: View, label: Label, where: NodeFilter | None, has_filters: bool) -> None:
        self._reader = reader
        self._label = label
        self._where = where or NodeFilter()
        self._has_filters = has_filters
        ready = view.ready
        self._names = ready if self._where.source is None else [name for name in ready if name == self._where.source]
        self._total = sum(int(view.sources[name].get(count_key(label), 0)) for name in ready)
        self._of_sources = sum(int(view.sources[name].get(count_key(label), 0)) for name in self._names)

    def search(self, vector: Vector, k: int) -> Matches:
        """Find the k nodes of highest cosine with distinct content, ties by id."""
        filters = self._find_filters()
        allowed = self._count_allowed(filters)
        if k < 1 or not allowed:
            return Matches((), self._total, self._total - allowed, 0)
        leaders = _fold(self._find_candidates(vector, k, allowed, filters))[:k]
        matches = tuple(Match(leader.id, leader.score, leader.count - 1) for leader in leaders)
        return Matches(matches, self._total, self._total - allowed, sum(match.same_content for match in matches))

    def _find_filters(self) -> dict[str, Any]:
        """Give the parameters that narrow a search: sources, kinds, and the fragments of the paths that match."""
        kinds = None if self._where.kinds is None else sorted(self._where.kinds)
        fragments = None
        if self._where.path is not None:
            pattern = to_java_pattern(self._where.path)
            fragments = self._reader.run(cypher.FRAGMENTS_AT, names=self._names, pattern=pattern)[0]["fragments"]
        return {"names": self._names, "kinds": kinds, "fragments": fragments}

    def _count_allowed(self, filters: dict[str, Any]) -> int:
        if filters["kinds"] is None and filters["fragments"] is None:
            return self._of_sources
        found = self._reader.run(cypher.COUNT_PASSING.format(label=self._label.value), **filters)
        return int(found[0]["count"])

    def _find_candidates(self, vector: Vector, k: int, allowed: int, filters: dict[str, Any]) -> list[_Candidate]:
        """Look at more and more of the nearest until k of distinct content stand clear of those not looked at."""
        look = (LOOK_FILTERED if self._has_filters else LOOK) * max(min(k, allowed), LEAST_K)
        ask = self._scan if allowed <= EXACT_BELOW or not vector.any() else self._ask_index
        while True:
            found = ask(vector, look, filters)
            candidates = self._score(_pick_near(found, k), vector, filters)
            leaders = _fold(candidates)
            is_all = len(found) >= allowed
            if is_all or (len(leaders) >= k and _lowest(found) < leaders[k - 1].score - SAME_SCORE):
                return candidates
            if len(found) < look or look * 4 > INDEX_LIMIT:  # the index does not hold or does not give them all
                ask = self._scan
            look *= 4

    def _scan(self, vector: Vector, look: int, filters: dict[str, Any]) -> list[_Found]:
        """Let the server compare all nodes that pass; a question without words is as far from all."""
        statement = cypher.SCAN_VECTORS if vector.any() else cypher.SCAN_ALL
        parameters = filters | {"vector": vector.tolist(), "look": look}
        return self._list(statement.format(label=self._label.value), **parameters)

    def _list(self, statement: str, **parameters: Any) -> list[_Found]:
        return [_Found(*each) for each in self._reader.run(statement, **parameters)[0]["found"]]

    def _ask_index(self, vector: Vector, look: int, filters: dict[str, Any]) -> list[_Found]:
        index = cypher.name_vector_index(self._label)
        parameters = filters | {"vector": vector.tolist(), "look": look}
        if self._has_filters:
            return self._list(cypher.search_index(self._label), **parameters)
        share = self._of_sources / max(self._total, 1)
        ask = min(int(look / max(share, 0.01)) + 1, self._total)  # so many that look of them pass, if spread evenly
        return self._list(cypher.QUERY_INDEX, index=index, ask=ask, **parameters)

    def _score(self, near: list[_Found], query: Vector, filters: dict[str, Any]) -> list[_Candidate]:
        """Give the true cosines of some candidates, and what else has their content."""
        if not near:
            return []
        contents = {each.id: each.content for each in near}
        parameters = filters | {"ids": list(contents), "contents": sorted(set(contents.values()))}
        found = self._reader.run(cypher.GET_VECTORS.format(label=self._label.value), **parameters)[0]
        same = dict(found["same"])
        vectors = np.array([vector for _, vector in found["vectors"]], np.float32).astype(np.float16)
        scored = zip((each for each, _ in found["vectors"]), score_vectors(vectors, query).tolist(), strict=True)
        return [
            _Candidate(each, contents[each], score, same[contents[each]])
            for each, score in scored
            if contents[each] in same  # else a write has ended meanwhile, which the end of the snapshot tells
        ]


def to_java_pattern(glob: str) -> str:
    r"""Translate a path glob to a regular expression that Java reads as Python does: (?s:...) without \Z."""
    pattern = translate(glob).replace("(?>", "(?:")
    for end in (r"\Z", r"\z"):
        pattern = pattern.removesuffix(end)
    return pattern


def _pick_near(found: list[_Found], k: int) -> list[_Found]:
    """Leave out what cannot be among the k best of distinct content, however the server has rounded."""
    best: dict[str, float] = {}
    for each in found:
        best[each.content] = max(each.score, best.get(each.content, 0.0))
    if len(best) <= k:
        return found
    least = sorted(best.values())[-k] - SAME_SCORE  # of (1 + cosine) / 2, so twice as much of the cosine
    return [each for each in found if each.score >= least]


def _fold(candidates: list[_Candidate]) -> list[_Candidate]:
    """Keep the first of each content, best first, ties by id."""
    leaders: dict[str, _Candidate] = {}
    for candidate in sorted(candidates, key=lambda each: (-each.score, each.id)):
        leaders.setdefault(candidate.content, candidate)
    return list(leaders.values())


def _lowest(found: list[_Found]) -> float:
    """Give the lowest cosine that the server reports (A-15)."""
    return min(2 * each.score - 1 for each in found) if found else -1.0


def fetch_cosines(reader: Reader, label: Label, ids: Sequence[str], query: Vector) -> dict[str, float]:
    """Give the true cosines of those of some nodes of a label that exist, by id, asking the server once."""
    statement = cypher.GET_COSINES.format(label=label.value)
    found = reader.run(statement, ids=sorted(set(ids)), ready=reader.view.ready)[0]["vectors"]
    vectors = np.array([vector for _, vector in found], np.float32).astype(np.float16).reshape(len(found), len(query))
    return dict(zip((each for each, _ in found), score_vectors(vectors, query).tolist(), strict=True))
