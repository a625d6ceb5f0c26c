"""The terms of the embedded store: read from its fragments, inverted into a file beside the database."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pkg.graph.embedded import sql
from pkg.graph.embedded.embedded_vectors import find_fragments
from pkg.model import Label, Node
from pkg.terms.index_cache import TextCache

if TYPE_CHECKING:
    from pkg.graph.embedded.reading import NodeReader
    from pkg.terms.index_segment import StoredTerms, TextSegment


class EmbeddedTexts:
    """Open the inverted terms of one generation, and read the nodes that they lead to (pkg.terms.word_search)."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        reader: NodeReader,
        get_node: Callable[[str], Node],
        get_meta: Callable[[str], Any],
    ) -> None:
        self._connection = connection
        self.path = path.with_name(path.name + "-terms")
        self.read_inside = reader.read_inside
        self.find_fragments = partial(find_fragments, connection)
        self._get_node, self._get_meta = get_node, get_meta
        self._cache = TextCache(lambda: self.path, self._list_stored)

    def read_nodes(self, ids: Collection[str]) -> list[Node]:
        """Read nodes in the order of their ids."""
        return [self._get_node(each) for each in ids]

    def open_terms(self, label: Label) -> TextSegment:
        """Give the terms of the functions or imports of the generation that this connection reads now."""
        return self._cache.open_terms(self._read_stamp(), label)

    def write(self) -> None:
        """Write the file for the present generation."""
        self._cache.write(self._read_stamp())

    def _read_stamp(self) -> str:
        return str(self._get_meta("stamp"))

    def _list_stored(self) -> Iterator[StoredTerms]:
        names = dict(self._connection.execute(sql.LIST_SOURCE_NUMBERS))
        for number, source, blob in self._connection.execute(sql.LIST_FRAGMENT_TERMS):
            yield number, names[source], blob
