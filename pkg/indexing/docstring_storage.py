"""Put written docstrings into a graph, some in each write, or take them out again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from pkg.graph.texts import find_docstring
from pkg.indexing.redrafting import list_changes
from pkg.indexing.written_docstrings import Docstrings
from pkg.model import Docstring, Label

if TYPE_CHECKING:
    from pkg.encode.encoder import Encoder
    from pkg.graph.store import GraphStore

Choose: TypeAlias = Callable[[int, "Docstring | None"], "Docstring | None"]
"""Chooses by content hash, and by the docstring that a function has, the one that it is to have."""

AT_ONCE = 2_000  # functions of one write: few enough that an undo of 100,000 stays small, and can be interrupted


class DocstringStorage:
    """Store docstrings of one source by the code that they are of.

    What the source has is kept in memory, because a fragment is drafted with all docstrings of its functions; it is
    read again when somebody else has written.
    """

    def __init__(self, store: GraphStore, source: str, encoder: Encoder) -> None:
        self._store, self._source, self._encoder = store, source, encoder
        self._known: dict[int, Docstring] = {}
        self._generation: int | None = None  # that what is known is of

    def put(self, docstrings: Mapping[int, Docstring | None], ids: Iterable[str]) -> None:
        """Let the functions of some content hashes have their docstrings, or none; ids are those of the functions.

        What has changed meanwhile is left alone. Raises what writing to a store raises.
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
    """Take the docstrings of a model out of a source; give how many functions had one.

    Without them it is the paper's graph without an enhancer (P-11).

    Raises what reading and writing a store raises.
    """

    def choose(hashed: int, found: Docstring | None) -> Docstring | None:
        return None if found is not None and found.model == model else found

    return _change(store, source, choose, encoder)


def match_docstrings(store: GraphStore, source: str, wanted: Docstrings, encoder: Encoder) -> int:
    """Let the functions of a source have those docstrings and no others; give how many have changed.

    Raises what reading and writing a store raises.
    """
    return _change(store, source, lambda hashed, found: wanted.get(hashed), encoder)


def _change(store: GraphStore, source: str, choose: Choose, encoder: Encoder) -> int:
    """Choose the docstring of each function anew, and store those that have changed, some in each write."""
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
