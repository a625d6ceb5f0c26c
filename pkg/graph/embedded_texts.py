"""The terms of the embedded store: read from its fragments, inverted into a file beside the database."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pkg.graph import sql
from pkg.graph.embedded_vectors import find_fragments
from pkg.model import Label, Node

if TYPE_CHECKING:
    from pkg.graph.reading import NodeReader
    from pkg.graph.text_segment import StoredTerms, TextSegment

INDEXED = Label.FUNCTION  # what every question searches; the terms of imports are inverted when they are asked for


class EmbeddedTexts:
    """Open the inverted terms of one generation, and read the nodes that they lead to (pkg.graph.word_search)."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        path: Path,
        reader: NodeReader,
        get_node: Callable[[str], Node],
    ) -> None:
        self._connection = connection
        self.path = path.with_name(path.name + "-terms")
        self.read_inside = reader.read_inside
        self.find_fragments = partial(find_fragments, connection)
        self._get_node = get_node
        self._stamp = ""
        self._segments: dict[Label, TextSegment] = {}

    def read_nodes(self, ids: Collection[str]) -> list[Node]:
        """Read nodes in the order of their ids."""
        return [self._get_node(each) for each in ids]

    def open_terms(self, label: Label) -> TextSegment:
        """Give the terms of the functions or imports of the generation that this connection reads now."""
        (stamp,) = self._connection.execute(sql.GET_META, ("stamp",)).fetchone()
        if stamp != self._stamp:
            self._stamp, self._segments = stamp, {}
        if label not in self._segments:
            self._segments[label] = self._open_file(stamp) if label is INDEXED else self._invert(label)
        return self._segments[label]

    def write(self) -> None:
        """Write the file for the present generation."""
        from pkg.graph.text_file import write_text_segment

        (stamp,) = self._connection.execute(sql.GET_META, ("stamp",)).fetchone()
        write_text_segment(self.path, stamp, self._invert(INDEXED))

    def _open_file(self, stamp: str) -> TextSegment:
        """Map the file; where it is of another generation make it anew, in memory alone if need be."""
        from pkg.graph.text_file import read_text_segment, write_text_segment

        segment = read_text_segment(self.path, stamp)
        if segment is None:
            segment = self._invert(INDEXED)
            with suppress(OSError):  # a place that cannot be written
                write_text_segment(self.path, stamp, segment)
        return segment

    def _invert(self, label: Label) -> TextSegment:
        from pkg.graph.text_segment import make_text_segment

        return make_text_segment(self._list_stored(), label)

    def _list_stored(self) -> Iterator[StoredTerms]:
        names = dict(self._connection.execute(sql.LIST_SOURCE_NUMBERS))
        for number, source, blob in self._connection.execute(sql.LIST_FRAGMENT_TERMS):
            yield number, names[source], blob
