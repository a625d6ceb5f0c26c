"""Search on a server: nearest neighbours by the index of a label, and terms, which are fetched once and cached.

The index ranks by (1 + cosine) / 2 (A-15) and is approximate; it is queried for more nodes until k remain. Results have
cosines with seven correct digits, ties by id, as in every store. Vectors are compared on the server, because sending
one costs more than comparing it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pkg.cache_file import find_cache_file
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
"""Minimum number of nodes requested from the index, and number per examined node below that; fewer lower the recall."""
INDEX_LIMIT = 10_000  # most hits that 2026.x returns
EXACT_BELOW = 2_000  # number of matching nodes up to which all are compared: faster than the index, and exact
SAME_SCORE = 1e-6  # error of the server's single precision
CACHED_GRAPHS = 4  # graphs whose terms a process keeps in memory
CACHED_FILES = 16  # graphs whose terms a user keeps on disk, the last written

Vector = npt.NDArray[np.float32]


class _Found(NamedTuple):
    """A result of the index; the score is in the server's single precision."""

    id: str
    content: str
    score: float
    equal: int  # matching nodes of this content, including itself; 0 if it does not match

    @property
    def cosine(self) -> float:
        return to_cosine(self.score)


class _Search(NamedTuple):
    """The parameters of a search."""

    vector: Vector
    k: int
    matching: int  # nodes that pass the filters
    filters: dict[str, Any]
    limit: int  # nodes to examine
    is_filtered: bool  # whether the index filters by source, which costs time, if it can
    is_exact: bool  # whether all matching nodes are compared


_Awaited = Callable[[], list[_Found]]
"""A function that waits for the results of the server."""


class VectorSearch:
    """A search of a label in one view."""

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
        """Send a search; return a function that waits for the k best of distinct content, by cosine, ties by id.

        vector: float32 [dimension].
        """
        return self._begin(self._plan(vector, k))

    def find(self, vector: Vector, k: int, threshold: float) -> Matches:
        """Find the k best with at least a minimum cosine. vector: float32 [dimension].

        Few nodes are above a high threshold, so an index that cannot filter is queried for the nearest of all sources:
        for k nodes of a small source it would have to return many more. Of 1,572 names above .99, this misses one that
        ten times as many candidates contain.
        """
        search = self._plan(vector, k)
        if threshold > -1 and k > 0 and not search.is_exact and not self._has_filters:
            least = (1 + threshold) / 2 - SAME_SCORE
            near = self._list(cypher.QUERY_NEAR, search, ask=MIN_CANDIDATES, least=least)()
            if len(near) < MIN_CANDIDATES:  # so no other node is above the threshold
                distinct = _pick_distinct(each for each in near if each.equal)
                return drop_below(self._make_matches(search, distinct[:k]), threshold)
        return drop_below(self._begin(search)(), threshold)

    def _plan(self, vector: Vector, k: int) -> _Search:
        filters = self._find_filters()
        matching = self._count_matching(filters)
        # Of 194,000 blocks, 80 contain 50 of distinct content for 98 % of queries.
        limit = min(k, matching) * 3 // 2 + 5
        is_exact = matching <= EXACT_BELOW or not vector.any()
        return _Search(
            vector=vector,
            k=k,
            matching=matching,
            filters=filters,
            limit=limit,
            is_filtered=self._where.source is not None,
            is_exact=is_exact,
        )

    def _begin(self, search: _Search) -> Callable[[], Matches]:
        if search.k < 1 or not search.matching:
            return lambda: self._make_matches(search, ())
        awaited = self._send(search)
        return lambda: self._make_matches(search, self._find_distinct(search, awaited))

    def _make_matches(self, search: _Search, matches: Sequence[Match]) -> Matches:
        folded = sum(match.same_content for match in matches)
        return Matches(tuple(matches), self._total, self._total - search.matching, folded)

    def _find_filters(self) -> dict[str, Any]:
        """Return the filter parameters of a search: sources, kinds, and the fragments of matching paths."""
        kinds = None if self._where.kinds is None else sorted(self._where.kinds)
        fragments = None
        if self._where.narrows_paths:
            pattern = make_path_pattern(self._where)
            fragments = self._reader.run(cypher.FRAGMENTS_AT, names=self._names, pattern=pattern)[0]["fragments"]
        return {"names": self._names, "kinds": kinds, "fragments": fragments}

    def _count_matching(self, filters: dict[str, Any]) -> int:
        if filters["kinds"] is None and filters["fragments"] is None:
            return self._of_sources
        found = self._reader.run(cypher.COUNT_PASSING.format(label=self._label.value), **filters)
        return int(found[0]["count"])

    def _find_distinct(self, search: _Search, awaited: _Awaited) -> list[Match]:
        """Examine more nodes until k of distinct content are certainly nearer than the rest."""
        while True:
            found = awaited()
            distinct = _pick_distinct(found)
            if len(found) >= search.matching:
                return distinct[: search.k]
            if len(distinct) >= search.k and _is_complete(found, distinct[search.k - 1], search.vector):
                return distinct[: search.k]
            # The index does not return all of them, at least without a filter by source.
            is_short = len(found) < search.limit or search.limit * 2 > INDEX_LIMIT
            is_last = search.is_filtered or not self._has_filters
            search = search._replace(
                limit=search.limit * 2,
                is_filtered=search.is_filtered or is_short,
                is_exact=search.is_exact or (is_short and is_last),
            )
            awaited = self._send(search)

    def _send(self, search: _Search) -> _Awaited:
        """Send a comparison of all matching nodes, or a query of the index.

        The index explores more nodes than are fetched, because reading a node's properties costs more than finding it.
        """
        if search.is_exact:  # also for a zero vector, which is equally far from all nodes
            return self._list(cypher.SCAN_VECTORS, search)
        explored = max(search.limit, min(search.limit * CANDIDATES_PER_RESULT, MIN_CANDIDATES))
        if self._has_filters:
            statement = cypher.SEARCH_FILTERED if search.is_filtered else cypher.SEARCH_INDEX
            return self._list(statement, search, ask=explored)
        share = self._of_sources / max(self._total, 1)
        ask = min(int(explored / max(share, 0.01)) + 1, self._total)  # enough if the sources are mixed evenly
        return self._list(cypher.QUERY_INDEX, search, ask=ask)

    def _list(self, statement: str, search: _Search, **parameters: float) -> _Awaited:
        written = statement.format(label=self._label.value, index=cypher.name_vector_index(self._label))
        vector = search.vector.tolist()
        records = self._reader.send(written, vector=vector, look=search.limit, **search.filters, **parameters)
        return lambda: [_Found(*each) for each in self._reader.remember_elements(records()[0]["found"])]


def _pick_distinct(found: Iterable[_Found]) -> list[Match]:
    """Return the result of highest cosine for each content, best first, ties by id."""
    distinct: dict[str, _Found] = {}
    for each in sorted(found, key=lambda each: (-each.score, each.id)):
        distinct.setdefault(each.content, each)
    return [Match(each.id, each.cosine, each.equal - 1) for each in distinct.values()]


def _is_complete(found: list[_Found], last: Match, vector: Vector) -> bool:
    """Return whether no node beyond the found ones can precede the last required one.

    For a zero vector all scores are equal, and the server orders by id.
    """
    return not vector.any() or min(each.cosine for each in found) < last.score - SAME_SCORE


def merge_matches(found: Sequence[Matches], k: int) -> Matches:
    """Merge the matches of several labels without common content, and keep the k best, ties by id."""
    ranked = sorted((match for each in found for match in each.matches), key=lambda match: (-match.score, match.id))
    folded = sum(match.same_content for match in ranked[:k])
    return Matches(
        tuple(ranked[:k]), sum(each.searched for each in found), sum(each.filtered for each in found), folded
    )


class ServerTerms:
    """The inverted index of terms of the generation of a snapshot, with access to its nodes.

    The cached file of an address is checked by the stamp of the generation, because an address may later refer to
    another database.
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
        self._cache = find_terms_cache(address)

    def read_inside(self, node: Node) -> list[Node]:
        """Return the nodes inside a node."""
        return self._get_inside(node.id)

    def find_fragments(self, where: NodeFilter) -> list[int]:
        """Return the numbers of the fragments of files and rows whose path passes a filter."""
        names = self._reader.view.ready
        found = self._reader.run(cypher.FRAGMENTS_AT, names=names, pattern=make_path_pattern(where))
        return [parse_id(each) for each in found[0]["fragments"]]

    def open_terms(self, label: Label) -> TextSegment:
        """Return the terms of the group of a label in the current generation."""
        return self._cache.open_terms(self._reader.view.stamp, label, self._list_stored)

    def repair(self) -> list[str]:
        """Rewrite a damaged file of terms; return a message if so."""
        return self._cache.repair(self._reader.view.stamp, self._list_stored)

    def _list_stored(self) -> Iterator[StoredTerms]:
        for record in self._reader.stream(cypher.LIST_TERMS, ready=self._reader.view.ready):
            yield parse_id(record["id"]), record["source"], record["terms"]


@lru_cache(maxsize=CACHED_GRAPHS)
def find_terms_cache(address: str) -> TextCache:
    """Return the cached terms of the graph at an address, which all stores of this process share."""
    with suppress(OSError):  # no folder yet, or another process removes files
        files = find_terms_file(address).parent.glob("terms-*")
        for old in sorted(files, key=lambda path: path.stat().st_mtime)[:-CACHED_FILES]:
            old.unlink()
    return TextCache(partial(find_terms_file, address))


def find_terms_file(address: str) -> Path:
    """Return the user's cache file for the terms of the graph at an address."""
    return find_cache_file(f"terms-{sha256(address.encode()).hexdigest()[:16]}")
