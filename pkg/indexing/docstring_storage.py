"""Store generated docstrings in a graph, or remove them, in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from pkg.graph.graph_records import find_docstring
from pkg.indexing.fragment_changes import list_changes
from pkg.indexing.written_docstrings import Docstrings
from pkg.model import Docstring, Label

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder
    from pkg.graph.store import GraphStore

Choose: TypeAlias = Callable[[int, "Docstring | None"], "Docstring | None"]
"""Returns the new docstring of a function, given its content hash and its present docstring."""

AT_ONCE = 2_000  # functions per transaction: removing 100,000 stays small in memory, and can be interrupted


class DocstringStorage:
    """Store docstrings of one source by the hash of their functions' code.

    The source's docstrings are kept in memory, because rebuilding a fragment needs those of all its functions; they are
    read again after another process has written.
    """

    def __init__(self, store: GraphStore, source: str, encoder: Encoder) -> None:
        self._store, self._source, self._encoder = store, source, encoder
        self._known: dict[int, Docstring] = {}
        self._generation: int | None = None  # of the store when the docstrings were read

    def put(self, docstrings: Mapping[int, Docstring | None], ids: Iterable[str]) -> None:
        """Set or remove the docstrings of functions by content hash; ids are those of the functions.

        Functions that have changed since are skipped. Raises what writing to a store raises.
        """
        with self._store.write() as writer:
            if self._generation != self._store.generation():
                self._known = dict(self._store.docstrings(self._source))
            chosen: dict[int, Docstring | None] = {**self._known, **docstrings}
            after = {hashed: each for hashed, each in chosen.items() if each is not None}
            fragments = self._store.fragments(sorted(ids))
            changes = list_changes(fragments, after, docstrings.keys(), self._encoder)
            writer.put_docstrings(self._source, changes)
        self._known, self._generation = after, self._store.generation()


def remove_docstrings(store: GraphStore, source: str, model: str, encoder: Encoder) -> int:
    """Remove the docstrings of a model from a source; return the number of functions that had one.

    The result is the paper's graph without an enhancer (P-11).

    Raises what reading and writing a store raises.
    """

    def choose(hashed: int, found: Docstring | None) -> Docstring | None:
        return None if found is not None and found.model == model else found

    return _change(store, source, choose, encoder)


def match_docstrings(store: GraphStore, source: str, wanted: Docstrings, encoder: Encoder) -> int:
    """Set the docstrings of a source to exactly these; return the number of changed functions.

    Raises what reading and writing a store raises.
    """
    return _change(store, source, lambda hashed, found: wanted.get(hashed), encoder)


def _change(store: GraphStore, source: str, choose: Choose, encoder: Encoder) -> int:
    """Store the chosen docstring of each function if it has changed, in batches."""
    changed: dict[int, tuple[Docstring | None, list[str]]] = {}
    for node in store.nodes([Label.FUNCTION], source):
        if node.properties.get("docstring_source") != "human":
            hashed, found = int(node.content_hash, 16), find_docstring(node.properties)
            chosen = choose(hashed, found)
            if chosen != found:
                changed.setdefault(hashed, (chosen, []))[1].append(node.id)
    storage, hashes = DocstringStorage(store, source, encoder), sorted(changed)
    for start in range(0, len(hashes), AT_ONCE):
        some = {hashed: changed[hashed] for hashed in hashes[start : start + AT_ONCE]}
        ids = [identity for _, listed in some.values() for identity in listed]
        storage.put({hashed: docstring for hashed, (docstring, _) in some.items()}, ids)
    return sum(len(ids) for _, ids in changed.values())
