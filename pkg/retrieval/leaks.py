"""Exclude nodes marked by an audit from a question's searches (A-16)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from pkg.errors import UsageError, count_things
from pkg.graph.audits import is_current
from pkg.model import Label, Matches, Node, NodeFilter, Outline

if TYPE_CHECKING:
    from pkg.encode.encoder import Vectors
    from pkg.graph.store import GraphStore

EXTRA_MATCHES = 20  # additional matches in the first search: for few questions more of the best are leaks


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Nodes of a graph that a question must not see."""

    ids: Collection[str] = frozenset()
    notes: tuple[str, ...] = ()


def read_leaks(store: GraphStore) -> Exclusion:
    """Read the marks of audits; raises UsageError for a graph without an audit."""
    audits = store.audits()
    if not audits:
        raise UsageError(
            f"{store.address} was never compared with a benchmark, so that nothing is known of leaks;"
            " run: pkg audit --against humaneval,mbpp --data FOLDER"
        )
    ids = frozenset(identity for identity, _ in store.leaks())
    audited = ", ".join(f"{count_things(each.functions, 'function')} for {each.benchmark}" for each in audits)
    notes = [f"excluded as leaked solutions: {audited}; {len(ids):,} nodes in all"]
    old = [each.benchmark for each in audits if not is_current(store, each)]
    if old:
        notes.append(f"the audit against {', '.join(old)} is older than the graph; run pkg audit again")
    return Exclusion(ids, tuple(notes))


class _FilteredStore:
    """A store whose searches skip excluded nodes; everything else is delegated."""

    def __init__(self, store: GraphStore, excluded: Collection[str]) -> None:
        self._store, self._excluded = store, excluded

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def vector_search(
        self, label: Label, vector: Vectors, k: int, where: NodeFilter | None = None, threshold: float = -1.0
    ) -> Matches:
        return self._search(lambda look: (self._store.vector_search(label, vector, look, where, threshold),), k)[0]

    def text_search(self, label: Label, terms: Mapping[str, float], k: int, where: NodeFilter | None = None) -> Matches:
        return self._search(lambda look: (self._store.text_search(label, terms, look, where),), k)[0]

    def hybrid_search(
        self, label: Label, vector: Vectors, terms: Mapping[str, float], k: int, where: NodeFilter | None = None
    ) -> tuple[Matches, ...]:
        return self._search(lambda look: self._store.hybrid_search(label, vector, terms, look, where), k)

    def search_declarations(
        self, vector: Vectors, terms: Mapping[str, float], k: int, where: NodeFilter | None = None
    ) -> tuple[Matches, ...]:
        return self._search(lambda look: self._store.search_declarations(vector, terms, look, where), k)

    def find_name(self, name: str, source: str | None = None) -> list[Node]:
        return self._drop(self._store.find_name(name, source))

    def find_names(self, names: Sequence[str], source: str | None = None) -> list[Node]:
        return self._drop(self._store.find_names(names, source))

    def outlines(self, ids: Sequence[str], vector: Vectors, blocks_of: Sequence[str] = ()) -> dict[str, Outline]:
        found = self._store.outlines(ids, vector, blocks_of)
        return {identity: each for identity, each in found.items() if identity not in self._excluded}

    def _drop(self, nodes: list[Node]) -> list[Node]:
        return [node for node in nodes if node.id not in self._excluded]

    def _search(self, find: Callable[[int], tuple[Matches, ...]], k: int) -> tuple[Matches, ...]:
        """Search for more until k matches of each search remain, or there are no more."""
        look = k + EXTRA_MATCHES
        while True:
            found = find(look)
            kept = tuple(self._keep(each, k) for each in found)
            if all(len(some.matches) == k or len(all_.matches) < look for some, all_ in zip(kept, found, strict=True)):
                return kept
            look *= 2

    def _keep(self, found: Matches, k: int) -> Matches:
        matches = tuple(match for match in found.matches if match.id not in self._excluded)[:k]
        return replace(found, matches=matches, folded=sum(match.same_content for match in matches))


def exclude_nodes(store: GraphStore, excluded: Exclusion) -> GraphStore:
    """Return a store whose searches skip the excluded nodes."""
    return cast("GraphStore", _FilteredStore(store, excluded.ids)) if excluded.ids else store
