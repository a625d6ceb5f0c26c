"""Search on the server: nearest neighbours by the index of one label, and terms, which are fetched once and kept.

The index is asked for more until k of k remain. It ranks by (1 + cosine) / 2 (A-15) and is approximate. What comes out
is the cosine, right to seven digits, and equal ones are ordered by id, as in every store. Vectors stay on the server:
to send one costs more than to compare it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pkg.graph.graph_records import drop_below
from pkg.graph.neo4j import cypher
from pkg.graph.neo4j.neo4j_writing import count_key
from pkg.graph.neo4j.nodes import to_cosine
from pkg.graph.neo4j.session import Reader, View
from pkg.graph.path_filter import make_path_pattern
from pkg.graph.sqlite_rows import parse_id
from pkg.model import Label, Match, Matches, Node, NodeFilter
from pkg.terms.index_cache import TextCache

if TYPE_CHECKING:
    from pkg.terms.index_segment import StoredTerms, TextSegment


MIN_CANDIDATES, CANDIDATES_PER_RESULT = 80, 6
"""Nodes that the index is asked for at least, and for each that is looked at where these are few: with fewer, it finds
less of the nearest."""
INDEX_LIMIT = 10_000  # hits that 2026.x gives at most, whatever is asked
EXACT_BELOW = 2_000  # nodes that pass a filter and are all compared: cheaper than asking the index, and exact
SAME_SCORE = 1e-6  # how far the server's single precision can be off

Vector = npt.NDArray[np.float32]


class _Found(NamedTuple):
    """What the index gives; the score is in the server's single precision."""

    id: str
    content: str
    score: float
    equal: int  # nodes of this content that pass, itself included; 0 where itself does not

    @property
    def cosine(self) -> float:
        return to_cosine(self.score)


class _Asked(NamedTuple):
    """What the server is asked for."""

    vector: Vector
    k: int
    allowed: int  # nodes that pass the filters
    filters: dict[str, Any]
    look: int  # nodes to look at
    is_filtered: bool  # whether the index is to leave out other sources, at a price, where it can
    is_exact: bool  # whether all that pass are compared


_Awaited = Callable[[], list[_Found]]
"""Wait for what the server finds."""


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

    def begin(self, vector: Vector, k: int) -> Callable[[], Matches]:
        """Have the server begin, and give what waits for the k best: of distinct content, by cosine, ties by id.

        vector: float32 [dimension].
        """
        return self._begin(self._plan(vector, k))

    def find(self, vector: Vector, k: int, floor: float) -> Matches:
        """Find the k best whose cosine is not below a floor.

        Few are above a high one. An index that cannot filter is asked for the nearest of all sources then: where the
        source is small, it would have to give many more to hold k of it. Of 1,572 names above .99, this misses one that
        a look at ten times as many finds. vector: float32 [dimension].
        """
        asked = self._plan(vector, k)
        if floor > -1 and k > 0 and not asked.is_exact and not self._has_filters:
            least = (1 + floor) / 2 - SAME_SCORE
            near = self._list(cypher.QUERY_NEAR, asked, ask=MIN_CANDIDATES, least=least)()
            if len(near) < MIN_CANDIDATES:  # so nothing else is as near
                leaders = _pick_leaders(each for each in near if each.equal)
                return drop_below(self._make_matches(asked, leaders[:k]), floor)
        return drop_below(self._begin(asked)(), floor)

    def _plan(self, vector: Vector, k: int) -> _Asked:
        filters = self._find_filters()
        allowed = self._count_allowed(filters)
        # Of 194,000 blocks, 80 are enough for 50 of distinct content 98 times in a hundred.
        look = min(k, allowed) * 3 // 2 + 5
        is_exact = allowed <= EXACT_BELOW or not vector.any()
        return _Asked(vector, k, allowed, filters, look, self._where.source is not None, is_exact)

    def _begin(self, asked: _Asked) -> Callable[[], Matches]:
        if asked.k < 1 or not asked.allowed:
            return lambda: self._make_matches(asked, ())
        return partial(self._finish, asked, self._send(asked))

    def _finish(self, asked: _Asked, awaited: _Awaited) -> Matches:
        return self._make_matches(asked, self._find_leaders(asked, awaited))

    def _make_matches(self, asked: _Asked, matches: Sequence[Match]) -> Matches:
        folded = sum(match.same_content for match in matches)
        return Matches(tuple(matches), self._total, self._total - asked.allowed, folded)

    def _find_filters(self) -> dict[str, Any]:
        """Give the parameters that narrow a search: sources, kinds, and the fragments of the paths that match."""
        kinds = None if self._where.kinds is None else sorted(self._where.kinds)
        fragments = None
        if self._where.narrows_paths:
            pattern = make_path_pattern(self._where)
            fragments = self._reader.run(cypher.FRAGMENTS_AT, names=self._names, pattern=pattern)[0]["fragments"]
        return {"names": self._names, "kinds": kinds, "fragments": fragments}

    def _count_allowed(self, filters: dict[str, Any]) -> int:
        if filters["kinds"] is None and filters["fragments"] is None:
            return self._of_sources
        found = self._reader.run(cypher.COUNT_PASSING.format(label=self._label.value), **filters)
        return int(found[0]["count"])

    def _find_leaders(self, asked: _Asked, awaited: _Awaited) -> list[Match]:
        """Look at more and more of the nearest until k of distinct content stand clear of those not looked at."""
        while True:
            found = awaited()
            leaders = _pick_leaders(found)
            if len(found) >= asked.allowed:
                return leaders[: asked.k]
            if len(leaders) >= asked.k and _is_clear(found, leaders[asked.k - 1], asked.vector):
                return leaders[: asked.k]
            # The index does not hold or give them all, or not without being told the sources.
            is_short = len(found) < asked.look or asked.look * 2 > INDEX_LIMIT
            is_last = asked.is_filtered or not self._has_filters
            is_exact = asked.is_exact or (is_short and is_last)
            asked = asked._replace(look=asked.look * 2, is_filtered=asked.is_filtered or is_short, is_exact=is_exact)
            awaited = self._send(asked)

    def _send(self, asked: _Asked) -> _Awaited:
        """Let the server compare all nodes that pass, or ask the index.

        The index explores more than is fetched: to read the properties of a node costs more than to find it.
        """
        if asked.is_exact:  # a question without words is as far from all
            return self._list(cypher.SCAN_VECTORS, asked)
        explored = max(asked.look, min(asked.look * CANDIDATES_PER_RESULT, MIN_CANDIDATES))
        if self._has_filters:
            statement = cypher.SEARCH_FILTERED if asked.is_filtered else cypher.SEARCH_INDEX
            return self._list(statement, asked, ask=explored)
        share = self._of_sources / max(self._total, 1)
        ask = min(int(explored / max(share, 0.01)) + 1, self._total)  # so many pass, if they are spread evenly
        return self._list(cypher.QUERY_INDEX, asked, ask=ask)

    def _list(self, statement: str, asked: _Asked, **parameters: float) -> _Awaited:
        written = statement.format(label=self._label.value, index=cypher.name_vector_index(self._label))
        vector = asked.vector.tolist()
        records = self._reader.send(written, vector=vector, look=asked.look, **asked.filters, **parameters)
        return lambda: [_Found(*each) for each in self._reader.remember_elements(records()[0]["found"])]


def _pick_leaders(found: Iterable[_Found]) -> list[Match]:
    """Let the one of highest cosine stand for each content, best first, ties by id; few are found: no arrays."""
    leaders: dict[str, _Found] = {}
    for each in sorted(found, key=lambda each: (-each.score, each.id)):
        leaders.setdefault(each.content, each)
    return [Match(each.id, each.cosine, each.equal - 1) for each in leaders.values()]


def _is_clear(found: list[_Found], last: Match, vector: Vector) -> bool:
    """Tell whether nothing beyond what was found can come before the last candidate that is wanted.

    To a question without words all nodes are equal, and come by id.
    """
    return not vector.any() or min(each.cosine for each in found) < last.score - SAME_SCORE


def merge_matches(found: Sequence[Matches], k: int) -> Matches:
    """Join what was found of several labels, none of whose contents are equal, and keep the k best, ties by id."""
    ranked = sorted((match for each in found for match in each.matches), key=lambda match: (-match.score, match.id))
    folded = sum(match.same_content for match in ranked[:k])
    return Matches(
        tuple(ranked[:k]), sum(each.searched for each in found), sum(each.filtered for each in found), folded
    )


class ServerTerms:
    """Open the inverted terms of the generation of a snapshot, and read the nodes that they lead to.

    A graph is told by the stamp of its generation, which no other graph ever has: so the file of an address, which
    may stand for another database tomorrow, is never taken for the wrong graph.
    """

    def __init__(
        self,
        reader: Reader,
        address: str,
        get_nodes: Callable[[list[str]], list[Node]],
        get_inside: Callable[[str], list[Node]],
    ) -> None:
        self._reader = reader
        self.read_nodes = get_nodes
        self._get_inside = get_inside
        self._cache = TextCache(partial(find_cache_file, address), self._list_stored)

    def read_inside(self, node: Node) -> list[Node]:
        """Read what lies inside a node."""
        return self._get_inside(node.id)

    def find_fragments(self, where: NodeFilter) -> list[int]:
        """Give the numbers of the fragments of the files and rows whose path passes a filter."""
        names = self._reader.view.ready
        found = self._reader.run(cypher.FRAGMENTS_AT, names=names, pattern=make_path_pattern(where))
        return [parse_id(each) for each in found[0]["fragments"]]

    def open_terms(self, label: Label) -> TextSegment:
        """Give the terms of the group of a label, in the generation that is read now."""
        return self._cache.open_terms(self._reader.view.stamp, label)

    def repair(self) -> list[str]:
        """Write the file of the terms anew where it is damaged; tell so."""
        return self._cache.repair(self._reader.view.stamp)

    def _list_stored(self) -> Iterator[StoredTerms]:
        for record in self._reader.stream(cypher.LIST_TERMS, ready=self._reader.view.ready):
            yield parse_id(record["id"]), record["source"], record["terms"]


def find_cache_file(address: str) -> Path:
    """Name the file that keeps the terms of the graph at an address for this user."""
    from platformdirs import user_cache_path

    return user_cache_path("pkg", appauthor=False) / f"terms-{sha256(address.encode()).hexdigest()[:16]}"
