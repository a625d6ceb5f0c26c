"""A set of embedded stores: a read-only GraphStore that answers as one store with the content of all of them.

A file or row is in one member. Fragments that files or rows of several members share are in each of those, as are
sources, libraries and names of functions; the ends of a relationship may be in two members.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from heapq import merge
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from pkg.errors import (
    FILE_SCHEME,
    SET_SCHEME,
    EncoderMismatchError,
    NodeNotFoundError,
    StoreChangedError,
    StoreCorruptError,
    StoreError,
    StoreMissingError,
)
from pkg.graph.embedded import sql
from pkg.graph.embedded.database_file import MAX_OPEN_ATTEMPTS
from pkg.graph.embedded.relations import list_all_edges, list_neighbours
from pkg.graph.graph_records import drop_below, export_edge, export_header, order_edge
from pkg.graph.sets.member import SetMember
from pkg.graph.sets.repeats import read_repeats
from pkg.graph.sqlite_rows import parse_id, translate_faults
from pkg.model import (
    Audit,
    Call,
    Edge,
    Generated,
    Label,
    Leak,
    LocalError,
    Matches,
    Node,
    NodeFilter,
    Outline,
    RelationType,
    Source,
    Unfolded,
)
from pkg.units import StoredFragment, format_id, hash_bytes

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from pkg.graph.sets.set_searching import SetTerms, SetVectors
    from pkg.graph.store import EncoderWriter, GraphStore, StoreStats, Unfinished
    from pkg.terms.inverted_index import TermScores

    Vector = npt.NDArray[np.float32]

T = TypeVar("T")
_ID = re.compile("[0-9a-f]{16}")
SHARED = frozenset({Label.SOURCE, Label.LIBRARY, Label.FUNCTION_NAME})  # in every member that has a use of them
CACHED_PLACES = 100_000  # ids of nodes whose member is known: about 15 MB


class StoreSet:
    """The stores of one folder and one encoder, searched together."""

    def __init__(self, folder: Path) -> None:
        """Open the stores of a folder; raise StoreError for none, for a damaged one, and for several encoders."""
        self._folder = folder
        self._members: list[SetMember] = []
        self._open()

    def _open(self) -> None:
        """Open the members as they are now."""
        self._files = self._list_files()
        if not self._files:
            raise StoreMissingError(f"no stores in {self._folder}; {_describe_building(self._folder)}")
        self.close()
        self._members.clear()
        try:
            for name in self._files:
                self._members.append(SetMember(self._folder / name, len(self._files)))
            self._check_encoders()
            self._stamps = {member.name: member.stamp() for member in self._members}
            connections = [member.connection for member in self._members]
            with translate_faults(self.address):
                repeats = read_repeats(self._folder, self._stamps, connections)
            for member, repeated in zip(self._members, repeats, strict=True):
                member.leave_out(repeated)
        except BaseException:
            self.close()
            raise
        self._places: dict[str, int] = {}
        self._is_reading = False
        self._searches: tuple[SetVectors, SetTerms] | None = None

    def _list_files(self) -> dict[str, int]:
        """Return the files of the members, sorted, with their inodes, which tell them from replacements."""
        return {path.name: path.stat().st_ino for path in sorted(self._folder.glob("*.db"))}

    def _check_encoders(self) -> None:
        """Raise EncoderMismatchError where two members have other encoders or dimensions."""
        first = self._members[0]
        for member in self._members:
            if member.encoder() != first.encoder():
                names = " and ".join(f"{each.name} '{each.encoder()[0]}'" for each in (first, member))
                raise EncoderMismatchError(
                    f"{self.address} holds vectors of several encoders ({names}); expected one in a set; build all"
                    " members with the same --encoder"
                )

    @property
    def address(self) -> str:
        """Return the address, such as sqlite-set:///folder."""
        return f"{SET_SCHEME}{self._folder}"

    def close(self) -> None:
        """Close all members."""
        for member in self._members:
            member.close()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read one generation inside the block; members that were added or built again meanwhile are opened first.

        Raise StoreChangedError where they keep changing.
        """
        if self._is_reading:
            yield
            return
        for _ in range(MAX_OPEN_ATTEMPTS):
            with ExitStack() as opened:
                for member in self._members:
                    opened.enter_context(member.snapshot())
                if self._is_current():
                    self._is_reading = True
                    try:
                        yield
                    finally:
                        self._is_reading = False
                    return
            self._open()
        raise StoreChangedError(f"the stores of {self.address} keep changing; try again when their builds have ended")

    def _is_current(self) -> bool:
        """Return whether the members are those that were opened, in the same generations."""
        return self._files == self._list_files() and all(
            member.stamp() == self._stamps[member.name] for member in self._members
        )

    @property
    def _vectors(self) -> SetVectors:
        return self._open_searches()[0]

    @property
    def _terms(self) -> SetTerms:
        return self._open_searches()[1]

    def _open_searches(self) -> tuple[SetVectors, SetTerms]:
        from pkg.graph.sets.set_searching import SetTerms, SetVectors

        if len(self._places) > CACHED_PLACES:
            self._places.clear()
        if self._searches is None:
            terms = SetTerms(self._members, self._places, self.get, self._read_inside)
            self._searches = SetVectors(self._members, self._places), terms
        return self._searches

    def encoder(self) -> tuple[str, int]:
        """Return the name and dimension of the encoder of the vectors."""
        return self._members[0].encoder()

    def generation(self) -> int:
        """Return the number of completed writes of all members."""
        with self.snapshot():
            return sum(member.generation() for member in self._members)

    def stamp(self) -> str:
        """Return an identifier that only this generation of this set has."""
        with self.snapshot():
            return format_id(hash_bytes(json.dumps(self._stamps).encode()))

    def ensure_schema(self, encoder: str, dimension: int) -> NoReturn:
        """Raise StoreError: a set is only read."""
        raise refuse_write(self.address)

    def write(self) -> AbstractContextManager[EncoderWriter]:
        """Raise StoreError: a set is only read."""
        raise refuse_write(self.address)

    def load_source(self, source: str, made_by: str, say: Callable[[str], None]) -> AbstractContextManager[GraphStore]:
        """Raise StoreError: a set is only read."""
        raise refuse_write(self.address)

    def unfinished(self) -> list[Unfinished]:
        """Return no builds: a set is only read."""
        return []

    def _chain(self, read: Callable[[SetMember], Iterable[T]]) -> Iterator[T]:
        """Yield the items of one member after the other."""
        with self.snapshot():
            for member in self._members:
                yield from read(member)

    def fingerprints(self, source: str, paths: Collection[str] | None = None) -> Iterator[tuple[str, str, str]]:
        """Yield (path, fingerprint, content hash) of the units of a source, or of those at some paths."""
        return self._chain(lambda member: member.fingerprints(source, paths))

    def link_notes(self, source: str) -> Iterator[tuple[str, bytes]]:
        """Yield (path, notes) of every unit of a source with resolved links."""
        return self._chain(lambda member: member.link_notes(source))

    def texts(self, source: str, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield (path, text) of the existing files at some paths of a source, not of rows."""
        listed = list(paths)
        return self._chain(lambda member: member.texts(source, listed))

    def generated_texts(self, source: str) -> Iterator[tuple[int, Generated]]:
        """Yield (content hash, texts) of each function of a source with a generated docstring or questions (P-07)."""
        return self._chain(lambda member: member.generated_texts(source))

    def audits(self) -> tuple[Audit, ...]:
        """Return no audits: those of a member are not of the set."""
        return ()

    def leaks(self) -> Iterator[tuple[str, tuple[Leak, ...]]]:
        """Yield (id, leaks) of every node that an audit of a member marked."""
        yield from dict(self._chain(lambda member: member.leaks())).items()

    def fragments(self, ids: Sequence[str]) -> Iterator[StoredFragment]:
        """Yield the distinct fragments that contain some functions or declarations; unknown ids are ignored."""
        found = self._chain(lambda member: member.fragments(ids))
        yield from {(each.source, each.key): each for each in found}.values()

    def sources(self) -> tuple[Source, ...]:
        """Return the sources by name."""
        found = {each.name: each for each in reversed(list(self._chain(lambda member: member.sources())))}
        return tuple(found[name] for name in sorted(found))

    def source_fingerprint(self, source: str) -> str | None:
        """Return the fingerprint of a source's input at its last build; None for an unknown source."""
        found = (member.source_fingerprint(source) for member in self._members)
        return next((each for each in found if each is not None), None)

    def errors(self, source: str) -> tuple[LocalError, ...]:
        """Return the local errors of the last build of a source; none for an unknown source."""
        return tuple(dict.fromkeys(self._chain(lambda member: member.errors(source))))

    def vector_search(
        self, label: Label, vector: Vector, k: int, where: NodeFilter | None = None, threshold: float = -1.0
    ) -> Matches:
        """Find the k nodes of a label with the highest cosine, without duplicates, ties by id (P-14, P-17)."""
        with translate_faults(self.address), self.snapshot():
            self._check_query(vector)
            return drop_below(self._vectors.search(label, vector, k, where), threshold)

    def _check_query(self, vector: Vector) -> None:
        name, dimension = self.encoder()
        if len(vector) != dimension:
            raise EncoderMismatchError(
                f"the query vector has {len(vector)} dimensions; {self.address} holds {dimension} (encoder '{name}');"
                " encode the query with that encoder"
            )

    def text_search(self, label: Label, terms: Mapping[str, float], k: int, where: NodeFilter | None = None) -> Matches:
        """Find up to k nodes of a label with any of the terms, best first, without duplicates, ties by id."""
        from pkg.terms.word_search import search_text

        with translate_faults(self.address), self.snapshot():
            return search_text(self._terms, label, terms, k, where)

    def hybrid_search(
        self, label: Label, vector: Vector, terms: Mapping[str, float], k: int, where: NodeFilter | None = None
    ) -> tuple[Matches, Matches]:
        """Search a label by a vector and functions by terms."""
        from pkg.terms.word_search import search_functions

        with translate_faults(self.address), self.snapshot():
            return self.vector_search(label, vector, k, where), search_functions(self._terms, terms, k, where)

    def search_declarations(
        self, vector: Vector, terms: Mapping[str, float], k: int, where: NodeFilter | None = None
    ) -> tuple[Matches, Matches]:
        """Search classes, constants and modules together, each once, by a vector and by terms."""
        from pkg.terms.word_search import search_declarations

        with translate_faults(self.address), self.snapshot():
            self._check_query(vector)
            near = self._vectors.search_declarations(vector, k, where)
            return near, search_declarations(self._terms, terms, k, where)

    def text_parts(self, ids: Sequence[str], terms: Mapping[str, float], label: Label = Label.FUNCTION) -> TermScores:
        """Return the share of each term in the lexical scores of some functions, and its rarity."""
        with translate_faults(self.address), self.snapshot():
            return self._terms.open_terms(label).split_ids(ids, terms)

    def find_name(self, name: str, source: str | None = None) -> list[Node]:
        """Find the functions, classes and constants of a bare name, ordered by path and line."""
        return self.find_names([name], source)

    def find_names(self, names: Sequence[str], source: str | None = None) -> list[Node]:
        """Find the functions, classes and constants of several bare names, ordered by path and line."""
        found = self._chain(lambda member: member.find_names(names, source))
        ordered = sorted(found, key=lambda node: (node.source, node.path, node.start_line, node.id))
        first: dict[str, Node] = {}
        for node in ordered:
            first.setdefault(node.id, node)
        return list(first.values())

    def _find_places(self, ids: Iterable[str], statements: Sequence[str] = sql.LOCATE) -> list[list[str]]:
        """Return those of some nodes that each member answers for, without unknown ids."""
        asked = dict.fromkeys(ids)
        missing = {parse_id(each): each for each in asked if each not in self._places and _ID.fullmatch(each)}
        for statement in statements if missing else ():
            numbers, found = json.dumps(list(missing)), dict[int, tuple[str, int]]()
            for place, member in enumerate(self._members):
                for number, path in member.locate(statement, numbers):
                    found[number] = min(found.get(number, (path, place)), (path, place))
            self._places.update((missing.pop(number), place) for number, (_, place) in found.items())
            if not missing:
                break
        places: list[list[str]] = [[] for _ in self._members]
        for each in asked:
            if each in self._places:
                places[self._places[each]].append(each)
        return places

    def _gather(self, ids: Sequence[str], read: Callable[[SetMember, list[str]], Iterable[T]]) -> list[T]:
        """Read an item for each node from the member that answers for it; raise NodeNotFoundError for an unknown id."""
        with translate_faults(self.address), self.snapshot():
            found: dict[str, T] = {}
            for member, own in zip(self._members, self._find_places(ids), strict=True):
                found.update(zip(own, read(member, own) if own else (), strict=True))
            for identity in ids:
                if identity not in found:
                    raise NodeNotFoundError(
                        f"no node '{identity}' in {self.address}; expected an id of 16 hex digits from a query"
                    )
            return [found[each] for each in ids]

    def get(self, ids: Sequence[str]) -> list[Node]:
        """Return nodes in the order of their ids; raise NodeNotFoundError for an unknown id."""
        return self._gather(ids, lambda member, own: member.get(own))

    def outlines(self, ids: Sequence[str], vector: Vector, blocks_of: Sequence[str] = ()) -> dict[str, Outline]:
        """Return outlines of nodes, of the blocks of some functions, and of the functions that contain blocks."""
        with translate_faults(self.address), self.snapshot():
            self._check_query(vector)
            own, blocks = (self._find_places(some, sql.LOCATE[:1]) for some in (ids, blocks_of))
            found: dict[str, Outline] = {}
            for place, member in enumerate(self._members):
                if own[place] or blocks[place]:
                    read = member.outlines(own[place], vector, blocks[place])
                    self._places.update(dict.fromkeys(read, place))
                    found |= read
            inside: dict[str, list[str]] = {}
            for each in found.values():
                if each.label is Label.BLOCK:
                    inside.setdefault(each.owner, []).append(each.id)
            order = [*ids, *(block for each in blocks_of for block in inside.get(each, ())), *sorted(found)]
            return {each: found[each] for each in order if each in found}

    def unfold(self, ids: Sequence[str]) -> list[Unfolded]:
        """Return functions, blocks and declarations in the order of their ids, with their blocks and links."""
        return self._gather(ids, lambda member, own: member.unfold(own))

    def subtree(self, node_id: str) -> list[Node]:
        """Return the classes, constants, functions and blocks in a node at any depth, in the order of the text."""
        return self._read_inside(self.get([node_id])[0])

    def _read_inside(self, node: Node) -> list[Node]:
        inside = self._gather([node.id], lambda member, own: map(member.subtree, own))[0]
        return self._replace_repeated(inside) if node.label in (Label.FILE, Label.ROW) else inside

    def _replace_repeated(self, nodes: list[Node]) -> list[Node]:
        """Return the nodes of a file or row as the members give them that answer for its fragments."""
        has_repeats = any(member.repeats for member in self._members)
        return self.get([node.id for node in nodes]) if has_repeats else nodes

    def calls(self, node_id: str) -> list[Call]:
        """Return the call sites on the lines of a node, in the order of the text."""
        return self._gather([node_id], lambda member, own: map(member.calls, own))[0]

    def imports(self, names: Mapping[str, Collection[str]]) -> dict[str, list[Node]]:
        """Return the imports of each file or row that bind any of its names, ordered by line and id."""

        def read(member: SetMember, own: list[str]) -> Iterable[list[Node]]:
            return member.imports({each: names[each] for each in own}).values()

        with self.snapshot():
            found = map(self._replace_repeated, self._gather(list(names), read))
            return dict(zip(names, found, strict=True))

    def neighbours(
        self, ids: Sequence[str], types: Iterable[RelationType] | None = None, direction: str = "both", depth: int = 1
    ) -> list[Edge]:
        """Return the distinct relationships within depth steps of the nodes; direction is out, in or both."""
        wanted = None if types is None else set(types)
        with translate_faults(self.address), self.snapshot():
            starts = set(self._gather(ids, lambda member, own: own))
            return list_neighbours([each.connection for each in self._members], starts, wanted, direction, depth)

    def nodes(self, labels: Iterable[Label], source: str | None = None) -> Iterator[Node]:
        """Yield every node of some labels in one pass; in no particular order."""
        wanted, seen = set(labels), set[str]()
        shared = {*SHARED, Label.CALL} if any(member.repeats for member in self._members) else SHARED

        def read(member: SetMember) -> Iterator[Node]:
            repeated = member.list_repeated()
            for node in member.nodes(wanted, source):
                if node.label in shared:
                    if node.id in seen:
                        continue
                    seen.add(node.id)
                if node.id not in repeated:
                    yield node

        with translate_faults(self.address):
            yield from self._chain(read)

    def edges(self, types: Iterable[RelationType], source: str | None = None) -> Iterator[Edge]:
        """Yield the distinct relationships of some types that start in a source; in no particular order."""
        wanted = set(types)

        def read(member: SetMember) -> Iterator[Edge]:
            repeated = member.list_repeated()
            for edge in member.edges(wanted, source):
                is_name = edge.type is RelationType.NAMES
                if (edge.end if is_name else edge.start) not in repeated:
                    yield edge

        with translate_faults(self.address):
            yield from self._chain(read)

    def stats(self, source: str | None = None) -> StoreStats:
        """Return statistics of the set or of one source; sizes are those of all members."""
        from pkg.graph.sets.set_counts import add_stats

        with translate_faults(self.address), self.snapshot():
            chosen = tuple(each for each in self.sources() if source in (None, each.name))
            return add_stats(self._members, chosen, source)

    def check(self) -> list[str]:
        """Return descriptions of damage and inconsistencies; an empty list for a sound set."""
        with translate_faults(self.address), self.snapshot():
            faults = [f"{member.address}: {fault}" for member in self._members for fault in member.check()]
            ends = {end for member in self._members for end in member.list_loose_ends()}
            loose = len(ends) - sum(map(len, self._find_places(ends)))
            return [*faults, f"{loose} {sql.LOOSE}"] if loose else faults

    def repair_copies(self) -> list[str]:
        """Rewrite damaged files beside the databases; return a message for each."""
        return list(self._chain(lambda member: member.repair_copies()))

    def exposed_files(self) -> list[Path]:
        """Return the files of the members that other users of this machine may read or write."""
        return list(self._chain(lambda member: member.exposed_files()))

    def export(self, vectors: bool = False) -> Iterator[dict[str, Any]]:
        """Yield the whole graph as JSON-ready lines: header, nodes, relations, each sorted (docs/schema.md).

        Raise StoreCorruptError before the first line if any byte is damaged.
        """
        with translate_faults(self.address), self.snapshot():
            for member in self._members:
                if damage := member.find_damage():
                    raise StoreCorruptError(f"{member.address} is damaged ({'; '.join(damage)}); build it again")
            yield export_header(*self.encoder())
            lines = merge(*(member.export_nodes(vectors) for member in self._members), key=_order_line)
            for _, equal in groupby(lines, lambda line: line["id"]):
                yield min(equal, key=lambda line: (line.get("path", ""), line.get("start_line", 0)))
            edges = merge(*(list_all_edges(member.connection) for member in self._members), key=order_edge)
            yield from (export_edge(edge) for edge, _ in groupby(edges))


_ORDER = {label.value: number for number, label in enumerate(Label)}


def _order_line(line: dict[str, Any]) -> tuple[int, str]:
    return _ORDER[line["label"]], line["id"]


def refuse_write(address: str) -> StoreError:
    """Return the error for a write into a set."""
    folder = Path(address.removeprefix(SET_SCHEME))
    return StoreError(f"{address} is a set of stores, which this does not write; {_describe_building(folder)}")


def _describe_building(folder: Path) -> str:
    return (
        f"build rows into it: pkg build ROWS --store {SET_SCHEME}{folder}, or one of its stores: pkg build PATH --store"
        f" {FILE_SCHEME}{folder}/NAME.db"
    )
