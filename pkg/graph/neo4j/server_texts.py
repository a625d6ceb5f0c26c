"""The terms of a graph on a server: fetched in one stream, inverted here, and kept in the user's cache folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from pkg.graph.neo4j import cypher
from pkg.graph.rows import parse_id
from pkg.model import Label, Node
from pkg.terms.index_cache import TextCache

if TYPE_CHECKING:
    from pkg.graph.neo4j.session import Reader
    from pkg.terms.index_segment import StoredTerms, TextSegment


class ServerTexts:
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

    def find_fragments(self, pattern: str) -> list[int]:
        """Give the numbers of the fragments of the files and rows whose path matches."""
        from pkg.graph.neo4j.searching import to_java_pattern

        names = self._reader.view.ready
        found = self._reader.run(cypher.FRAGMENTS_AT, names=names, pattern=to_java_pattern(pattern))
        return [parse_id(each) for each in found[0]["fragments"]]

    def open_terms(self, label: Label) -> TextSegment:
        """Give the terms of the functions or imports of the generation that is read now."""
        return self._cache.open_terms(self._reader.view.stamp, label)

    def _list_stored(self) -> Iterator[StoredTerms]:
        for record in self._reader.stream(cypher.LIST_TERMS, ready=self._reader.view.ready):
            yield parse_id(record["id"]), record["source"], record["terms"]


def find_cache_file(address: str) -> Path:
    """Name the file that keeps the terms of the graph at an address for this user."""
    from platformdirs import user_cache_path

    return user_cache_path("pkg", appauthor=False) / f"terms-{sha256(address.encode()).hexdigest()[:16]}"
