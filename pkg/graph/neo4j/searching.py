"""Nearest neighbours on the server: by the index of one label, which is asked for more until k of k remain.

The index ranks by (1 + cosine) / 2 (A-15) and is approximate. What comes out is the cosine, right to seven digits, and
equal ones are ordered by id, as in every store. Vectors stay on the server: to send one costs more than to compare it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import translate
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pkg.graph.folding import pick_leaders
from pkg.graph.neo4j import cypher
from pkg.graph.neo4j.session import Reader, View
from pkg.graph.neo4j.writing import count_key
from pkg.model import Label, Match, Matches, NodeFilter

EXPLORED, EXPLORED_EACH = 100, 6
"""Nodes that the index is asked for at least, and for each that is looked at where these are few: with fewer, it finds
less of the nearest."""
INDEX_LIMIT = 10_000  # hits that 2026.x gives at most, whatever is asked
EXACT_BELOW = 2_000  # nodes that pass a filter and are all compared: cheaper than asking the index, and exact
SAME_SCORE = 1e-6  # how far the server's single precision can be off

Vector = npt.NDArray[np.float32]


class _Found(NamedTuple):
    """What the index gives; the score is (1 + cosine) / 2 in the server's single precision."""

    id: str
    content: str
    score: float
    equal: int  # nodes of this content that pass, itself included


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
        matches = tuple(self._find_leaders(vector, k, allowed, filters))
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

    def _find_leaders(self, vector: Vector, k: int, allowed: int, filters: dict[str, Any]) -> list[Match]:
        """Look at more and more of the nearest until k of distinct content stand clear of those not looked at."""
        wanted = min(k, allowed)
        look = wanted * 3 // 2 + 5  # of 194,000 blocks, 80 are enough for 50 of distinct content 98 times in a hundred
        ask = self._scan if allowed <= EXACT_BELOW or not vector.any() else self._ask_index
        while True:
            found = ask(vector, look, filters)
            leaders = _pick_leaders(found)
            if len(found) >= allowed or (len(leaders) >= k and _is_clear(found, leaders[k - 1], vector)):
                return leaders[:k]
            if len(found) < look or look * 2 > INDEX_LIMIT:  # the index does not hold or does not give them all
                ask = self._scan
            look *= 2

    def _scan(self, vector: Vector, look: int, filters: dict[str, Any]) -> list[_Found]:
        """Let the server compare all nodes that pass; a question without words is as far from all."""
        return self._list(cypher.SCAN_VECTORS, vector, filters, look=look)

    def _ask_index(self, vector: Vector, look: int, filters: dict[str, Any]) -> list[_Found]:
        """Have the index explore more than is fetched: to read the properties of a node costs more than to find it."""
        explored = max(look, min(look * EXPLORED_EACH, EXPLORED))
        if self._has_filters:
            return self._list(cypher.SEARCH_INDEX, vector, filters, ask=explored, look=look)
        share = self._of_sources / max(self._total, 1)
        ask = min(int(explored / max(share, 0.01)) + 1, self._total)  # so many pass, if they are spread evenly
        return self._list(cypher.QUERY_INDEX, vector, filters, ask=ask, look=look)

    def _list(self, statement: str, vector: Vector, filters: dict[str, Any], **parameters: int) -> list[_Found]:
        written = statement.format(label=self._label.value, index=cypher.name_vector_index(self._label))
        found = self._reader.run(written, vector=vector.tolist(), **filters, **parameters)
        return [_Found(*each) for each in self._reader.note(found[0]["found"])]


def to_java_pattern(glob: str) -> str:
    r"""Translate a path glob to a regular expression that Java reads as Python does: (?s:...) without \Z."""
    pattern = translate(glob).replace("(?>", "(?:")
    for end in (r"\Z", r"\z"):
        pattern = pattern.removesuffix(end)
    return pattern


def _pick_leaders(found: list[_Found]) -> list[Match]:
    """Let the one of highest cosine stand for each content, best first, ties by id."""
    scores = _to_cosines([each.score for each in found])
    ids, contents = (np.array([getattr(each, name) for each in found], np.str_) for name in ("id", "content"))
    leaders = pick_leaders(ids, scores, contents).tolist()
    return [Match(found[place].id, float(scores[place]), found[place].equal - 1) for place in leaders]


def _to_cosines(scores: list[float]) -> npt.NDArray[np.float64]:
    """Turn what the server gives, (1 + cosine) / 2, into cosines (A-15): [len(scores)]."""
    return 2 * np.array(scores, np.float64) - 1


def _is_clear(found: list[_Found], last: Match, vector: Vector) -> bool:
    """Tell whether nothing beyond what was found can come before the last candidate that is wanted (A-15).

    To a question without words all nodes are equal, and come by id.
    """
    return not vector.any() or min(2 * each.score - 1 for each in found) < last.score - SAME_SCORE


def fetch_cosines(reader: Reader, ids: Sequence[str], query: Vector) -> dict[str, float]:
    """Give the cosines of those of some functions and blocks that exist, by id, asking the server once."""
    asked = reader.name(ids) | {"vector": query.tolist(), "ready": reader.view.ready}
    found = reader.run(cypher.GET_COSINES, **asked)[0]["scores"]
    return dict(zip((each for each, _ in found), _to_cosines([score for _, score in found]).tolist(), strict=True))
