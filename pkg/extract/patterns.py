"""Named patterns of syntax that are all found in one pass over a tree."""

from __future__ import annotations

from collections.abc import Sequence

from tree_sitter import Node, Query, QueryCursor

from pkg.extract.parser import PYTHON

Match = dict[str, list[Node]]
"""The nodes of one match by what the pattern calls them, one each."""


class Patterns:
    """Patterns of tree-sitter queries by kind; a kind may have several."""

    def __init__(self, patterns: Sequence[tuple[str, str]]) -> None:
        self._kinds = [kind for kind, _ in patterns]
        self._query = Query(PYTHON, "\n".join(pattern for _, pattern in patterns))

    def find(self, root: Node) -> dict[str, list[Match]]:
        """Give the matches of every kind, in no particular order."""
        found: dict[str, list[Match]] = {kind: [] for kind in self._kinds}
        add = [found[kind].append for kind in self._kinds]
        for index, match in QueryCursor(self._query).matches(root):
            add[index](match)
        return found
