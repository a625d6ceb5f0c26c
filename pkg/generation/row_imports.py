"""Find the imports by which the rows of a corpus bind a name that another row uses without an import (P-06, Q-23)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pkg.graph.graph_records import parse_import
from pkg.model import Label, NodeFilter, RelationType
from pkg.terms.words import split_terms

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

_SEARCHED = 50
"""Distinct import statements to search for a name: those that share a word with it and bind another are ignored."""


class RowImports:
    """Imports of corpora by the name that they bind; each name is searched once."""

    def __init__(self, store: GraphStore) -> None:
        self._store = store
        self._found: dict[tuple[str, str], list[str]] = {}

    def find(self, source: str, name: str) -> list[str]:
        """Return the statements by which a corpus binds a name, the most frequent first, ties by their text."""
        if (source, name) not in self._found:
            self._found[source, name] = self._search(source, name)
        return self._found[source, name]

    def _search(self, source: str, name: str) -> list[str]:
        terms = dict.fromkeys(split_terms(name.encode("utf-8", "replace")), 1.0)
        matches = self._store.text_search(Label.IMPORT, terms, _SEARCHED, NodeFilter(source)).matches if terms else ()
        nodes = self._store.get([each.id for each in matches])
        found = {each.id: parse_import(each.properties) for each in nodes}
        kept = {id_: each.statement for id_, each in found.items() if each.bound_name == name and not each.level}
        if len(set(kept.values())) < 2:
            return list(dict.fromkeys(kept.values()))
        counts = Counter(kept[edge.end] for edge in self._store.neighbours(list(kept), (RelationType.IMPORTS,), "in"))
        counts.update({kept[each.id]: each.same_content for each in matches if each.id in kept})
        return sorted(counts, key=lambda each: (-counts[each], each))
