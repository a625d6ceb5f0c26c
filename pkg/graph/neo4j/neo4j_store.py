"""The Neo4j store: GraphStore on a server."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import cached_property
from importlib.util import find_spec
from itertools import islice, starmap
from typing import TYPE_CHECKING, Any

from pkg.errors import EncoderMismatchError, NodeNotFoundError, StoreLockedError, StoreMissingError, StoreVersionError
from pkg.graph.graph_records import (
    LEAKS,
    export_edge,
    export_header,
    find_generated,
    order_edge,
    read_audits,
    read_errors,
    read_leaks,
)
from pkg.graph.neo4j import cypher
from pkg.graph.neo4j.address import parse_address
from pkg.graph.neo4j.batches import name_source
from pkg.graph.neo4j.faults import translate_faults
from pkg.graph.neo4j.listing import (
    count_graph,
    export_label,
    find_faults,
    find_imports,
    find_unfolded,
    follow_edges,
    list_edges,
    list_nodes,
)
from pkg.graph.neo4j.neo4j_writing import Neo4jWriter, delete_nodes, name_units
from pkg.graph.neo4j.nodes import list_calls, make_node, make_outline
from pkg.graph.neo4j.schema import Schema, WatchIndex
from pkg.graph.neo4j.searching import ServerTerms
from pkg.graph.neo4j.session import (
    AskPassword,
    Reader,
    Runner,
    check_version,
    clear_stale_mark,
    commit_between_marks,
    hold_lock,
    open_driver,
)
from pkg.graph.sqlite_rows import unpack_text
from pkg.graph.store import StoreStats, Unfinished
from pkg.model import (
    DECLARATION_LABELS,
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
from pkg.terms.word_search import search_declarations, search_functions, search_text
from pkg.units import StoredFragment, format_id, hash_key

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    from pkg.graph.neo4j.searching import VectorSearch
    from pkg.terms.inverted_index import TermScores

SCHEMA_VERSION = 6
TEXTS_AT_ONCE = 500  # files whose texts are read together
MAX_BATCHED_NODES = 50  # nodes of one call to get whose blocks and calls are read together too
HAS_INDEX_FILTERS = (2026,)  # the first version whose vector indexes filter by properties
HAS_VECTOR_TYPE = (2026,)  # the first version with vectors as a type, supported by drivers from 6.0 on

_CONTAINERS = (Label.CLASS, Label.FUNCTION, Label.BLOCK)  # labels that contain other pieces

Found = dict[str, list[list[Any]]]  # records of a statement by id or name


class Neo4jStore:
    """A graph on a server; readers see one generation, which one writer at a time replaces."""

    def __init__(
        self,
        address: str,
        create: bool = False,
        *,
        ask: AskPassword | None = None,
        watch: WatchIndex | None = None,
    ) -> None:
        """Connect; `ask` is called for a missing password, `watch` with the progress of indexes."""
        self._address = parse_address(address)
        self._driver = open_driver(self._address, ask)
        self._reader = Reader(self._driver, self._address)
        self._cache: dict[tuple[str, ...], Found] | None = None  # of a snapshot, by statement and sources
        self._batched: set[str] = set()  # ids of the snapshot that are read together
        self._terms = ServerTerms(self._reader, self.address, self.get, self.subtree)
        self._schema = Schema(self._driver, self._address, self._reader, watch)
        try:
            self._version = check_version(self._address, self._reader.run(cypher.GET_VERSION)[0]["version"])
            self._check_schema(create)
        except BaseException:
            self.close()
            raise

    def _check_schema(self, create: bool) -> None:
        found = self._reader.run(cypher.GET_VIEW)[0]
        if found["version"] is None and not create:
            raise StoreMissingError(f"no graph at {self.address}; run: pkg build PATH --store {self.address}")
        if (found["version"] or 0) > SCHEMA_VERSION:
            raise StoreVersionError(
                f"{self.address} has schema version {found['version']}; this PKG reads up to {SCHEMA_VERSION};"
                " upgrade PKG, or build into another database"
            )

    @property
    def address(self) -> str:
        """Return the address, such as neo4j://host."""
        return str(self._address)

    def close(self) -> None:
        """Release the connections."""
        self._driver.close()

    def ensure_schema(self, encoder: str, dimension: int) -> None:
        """Create missing indexes; raise EncoderMismatchError for another encoder or dimension."""
        view = self._reader.view
        if 0 < view.version < SCHEMA_VERSION:
            self._schema.upgrade(view.version)
        if (view.encoder, view.dimension) != (encoder, dimension):
            self._schema.create(is_new=not view.encoder)
            parameters = {"encoder": encoder, "dimension": dimension, "version": SCHEMA_VERSION}
            found = self._write(lambda run: run.run(cypher.PUT_ENCODER, **parameters).single(strict=True))
            if (found["encoder"], found["dimension"]) != (encoder, dimension):
                raise EncoderMismatchError(
                    f"{self.address} holds vectors of encoder '{found['encoder']}' with {found['dimension']}"
                    f" dimensions, not of '{encoder}' with {dimension}; use that encoder, or another --store"
                )
        elif view.sources:
            self._schema.complete_vectors(dimension, self._has_filters)

    def _write(self, work: Callable[[Runner], Any]) -> Any:
        """Run work in a managed transaction, which retries transient faults."""
        with (
            translate_faults(self._address, is_writing=True),
            self._driver.session(database=self._address.database) as session,
        ):
            return session.execute_write(lambda run: work(Runner(run)))

    def encoder(self) -> tuple[str, int]:
        """Return the name and dimension of the encoder of the vectors; ("", 0) before the first build."""
        view = self._reader.view
        return view.encoder, view.dimension

    def generation(self) -> int:
        """Return the number of completed writes; 0 for an empty store."""
        return self._reader.view.generation

    def stamp(self) -> str:
        """Return an identifier that only this generation of this store has."""
        return self._reader.view.stamp

    def fingerprints(self, source: str, paths: Collection[str] | None = None) -> Iterator[tuple[str, str, str]]:
        """Yield (path, fingerprint, content hash) of the units of a source, also during an unfinished first load."""
        if paths is None:
            records = self._reader.stream(cypher.LIST_FINGERPRINTS, source=source)
        else:
            ids = [unit_id for path in paths for unit_id in name_units(source, path)]
            records = self._reader.stream(cypher.LIST_SOME_FINGERPRINTS, source=source, ids=ids)
        for record in records:
            yield record["path"], record["fingerprint"], record["content"]

    def link_notes(self, source: str) -> Iterator[tuple[str, bytes]]:
        """Yield (path, notes) of every unit of a source with resolved links, also during an unfinished first load."""
        for record in self._reader.stream(cypher.LIST_NOTES, source=source):
            yield record["path"], record["notes"] or b""

    def texts(self, source: str, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield (path, text) of the existing files at some paths; inside a write, of the state before it."""
        ids = (format_id(hash_key(source, path, Label.FILE.value)) for path in paths)
        while some := list(islice(ids, TEXTS_AT_ONCE)):
            for record in self._reader.run(cypher.GET_TEXTS, ids=some):
                yield record["path"], unpack_text(record["text"])

    def generated_texts(self, source: str) -> Iterator[tuple[int, Generated]]:
        """Yield (content hash, texts) of each function with a generated docstring or questions, also in a first load.

        A function of both is yielded once.
        """
        for record in self._reader.stream(cypher.LIST_GENERATED, source=source):
            yield int(record["hashed"], 16), find_generated(record["written"])

    def audits(self) -> tuple[Audit, ...]:
        """Return the latest audit of each benchmark, by name."""
        return read_audits(self._reader.run(cypher.GET_AUDITS)[0]["audits"])

    def leaks(self) -> Iterator[tuple[str, tuple[Leak, ...]]]:
        """Yield (id, leaks) of every node that an audit marked."""
        with self._reader.snapshot() as view:
            for record in self._reader.run(cypher.LIST_LEAKS, ready=view.ready):
                yield record["id"], read_leaks({LEAKS: record["leaks"]})

    def fragments(self, ids: Sequence[str]) -> Iterator[StoredFragment]:
        """Yield the distinct fragments that contain some nodes; inside a write, of the state before it."""
        with self._reader.snapshot() as view:
            for start in range(0, len(ids), TEXTS_AT_ONCE):
                some = list(ids[start : start + TEXTS_AT_ONCE])
                for row in self._reader.run(cypher.LIST_FRAGMENTS_OF, ids=some, ready=view.ready):
                    text, terms = unpack_text(row["text"]), bytes(row["terms"] or b"")
                    yield StoredFragment(row["source"], int(row["key"], 16), row["path"], text, terms)

    def snapshot(self) -> AbstractContextManager[None]:
        """Read one generation in the block; raise StoreChangedError at its end if a write ended meanwhile."""
        return self._begin_snapshot() if self._cache is None else nullcontext()

    @contextmanager
    def _begin_snapshot(self) -> Iterator[None]:
        self._cache = {}
        try:
            with self._reader.snapshot():
                yield
        finally:
            self._cache, self._batched = None, set()

    def _find_each(self, statement: str, ids: Sequence[str], ready: list[str], are_names: bool = False) -> Found:
        """Run a statement on ids or bare names; return its records for each.

        A snapshot caches them. For one of several nodes that were fetched by one call, the statement is run on all of
        them, so that reading the hits of a query one by one takes one round trip.
        """
        cached = {} if self._cache is None else self._cache.setdefault((statement, *ready), {})
        missing = {each for each in ids if each not in cached}
        if not missing:
            return cached
        if not missing.isdisjoint(self._batched):
            missing.update(each for each in self._batched if each not in cached)
        cached.update((each, []) for each in missing)
        parameters = {"names": sorted(missing)} if are_names else self._reader.make_id_parameters(missing)
        for each, found in self._reader.run(statement, **parameters, ready=ready)[0]["found"]:
            cached[each].append(found)
        return cached

    def _cache_record(self, statement: str, ready: list[str], identity: str, found: list[Any]) -> None:
        if self._cache is not None:
            self._cache.setdefault((statement, *ready), {})[identity] = [found]

    def sources(self) -> tuple[Source, ...]:
        """Return the sources by name."""
        found = self._reader.view.sources
        return tuple(
            Source(name, each["kind"], each["root"], each.get("revision"), each.get("package") or "")
            for name, each in sorted(found.items())
        )

    def source_fingerprint(self, source: str) -> str | None:
        """Return the fingerprint of a source's input at its last build; None for an unknown source."""
        found = self._reader.view.sources.get(source)
        return found["fingerprint"] if found else None

    def errors(self, source: str) -> tuple[LocalError, ...]:
        """Return the local errors of the last build of a source; none for an unknown source."""
        found = self._reader.view.sources.get(source)
        return tuple(read_errors(found["skipped"])) if found else ()

    def load_source(self, source: str, made_by: str, say: Callable[[str], None]) -> AbstractContextManager[Neo4jStore]:
        """Return this store, whose first loads are written in batches that readers do not see."""
        return nullcontext(self)

    def unfinished(self) -> list[Unfinished]:
        """Return nothing: the nodes of unfinished loads are not counted."""
        return []

    @contextmanager
    def write(self) -> Iterator[Neo4jWriter]:
        """Open the only write; an exception rolls back all of it except batches of a first load."""
        with hold_lock(self._driver, self._address) as main:
            number = clear_stale_mark(self._reader.run(cypher.GET_STAMP)[0]["number"], self._put_mark)
            self._sweep()
            with translate_faults(self._address, is_writing=True):
                writer = Neo4jWriter(Runner(main), self._write, self._has_vector_type)
                yield writer
                writer.finish()
                if writer.loaded:
                    self._schema.complete_vectors(self._reader.view.dimension, self._has_filters)
                writer.publish()
                commit_between_marks(main, number, self._put_mark) if writer.changed else main.commit()
        if writer.dimension is not None:
            self._schema.complete_vectors(writer.dimension, self._has_filters)
        if writer.deleted:
            with suppress(StoreLockedError), hold_lock(self._driver, self._address):  # else the next writer does it
                self._sweep()

    def _put_mark(self, number: int) -> None:
        self._write(lambda run: run.run(cypher.MARK_COMMIT, number=number).consume())

    def _sweep(self) -> None:
        """Delete the nodes of removed sources, under the lock, so that none is loaded again meanwhile."""
        for record in self._reader.run(cypher.LIST_UNFINISHED):
            name, identity = record["name"], name_source(record["name"])
            if record["id"] == identity:  # else a node of another program
                while self._write(lambda run: delete_nodes(run, name)):  # noqa: B023
                    pass
                self._write(lambda run: run.run(cypher.DELETE_SOURCE_NODE, id=identity).consume())  # noqa: B023

    @cached_property
    def _has_filters(self) -> bool:
        return self._version >= HAS_INDEX_FILTERS

    @cached_property
    def _has_vector_type(self) -> bool:
        return self._version >= HAS_VECTOR_TYPE and find_spec("neo4j.vector") is not None

    def vector_search(
        self,
        label: Label,
        vector: npt.NDArray[np.float32],
        k: int,
        where: NodeFilter | None = None,
        threshold: float = -1.0,
    ) -> Matches:
        """Find the k nodes of a label with the highest cosine, without duplicates, ties by id (P-14, P-17).

        Exact up to EXACT_BELOW nodes, approximate above. vector: float32 [dimension]. threshold: minimum cosine.
        """
        with self._reader.snapshot():
            return self._open_search(label, vector, where).find(vector, k, threshold)

    def _open_search(self, label: Label, vector: npt.NDArray[np.float32], where: NodeFilter | None) -> VectorSearch:
        """Check the dimension of a vector and prepare its search; in a snapshot."""
        from pkg.graph.neo4j.searching import VectorSearch

        view = self._reader.view
        if len(vector) != (view.dimension or len(vector)):
            raise EncoderMismatchError(
                f"the query vector has {len(vector)} dimensions; {self.address} holds {view.dimension}"
                f" (encoder '{view.encoder}'); encode the query with that encoder"
            )
        return VectorSearch(self._reader, view, label, where, self._has_filters)

    def hybrid_search(
        self,
        label: Label,
        vector: npt.NDArray[np.float32],
        terms: Mapping[str, float],
        k: int,
        where: NodeFilter | None = None,
    ) -> tuple[Matches, Matches]:
        """Search a label by a vector and functions by terms, in this process while the server compares vectors.

        vector: float32 [dimension].
        """
        with self._reader.snapshot():
            near = self._open_search(label, vector, where).begin(vector, k)
            worded = search_functions(self._terms, terms, k, where)
            return near(), worded

    def text_search(self, label: Label, terms: Mapping[str, float], k: int, where: NodeFilter | None = None) -> Matches:
        """Find up to k nodes of a label with any of the terms, best first, without duplicates, ties by id."""
        with self._reader.snapshot():
            return search_text(self._terms, label, terms, k, where)

    def search_declarations(
        self, vector: npt.NDArray[np.float32], terms: Mapping[str, float], k: int, where: NodeFilter | None = None
    ) -> tuple[Matches, Matches]:
        """Search classes, constants and modules together by a vector and by terms; all statements are sent at once.

        vector: float32 [dimension].
        """
        from pkg.graph.neo4j.searching import merge_matches

        narrowed = None if where is None else replace(where, kinds=None)
        with self._reader.snapshot():
            awaited = [self._open_search(each, vector, narrowed).begin(vector, k) for each in DECLARATION_LABELS]
            worded = search_declarations(self._terms, terms, k, where)
            return merge_matches([near() for near in awaited], k), worded

    def text_parts(self, ids: Sequence[str], terms: Mapping[str, float], label: Label = Label.FUNCTION) -> TermScores:
        """Return the share of each term in the lexical scores of some functions, and its rarity.

        label: of a declaration, any of their labels; rarity is then that in all declarations.
        """
        with self._reader.snapshot():
            return self._terms.open_terms(label).split_ids(ids, terms)

    def find_name(self, name: str, source: str | None = None) -> list[Node]:
        """Find the functions, classes and constants of a bare name, ordered by path and line."""
        return self.find_names([name], source)

    def find_names(self, names: Sequence[str], source: str | None = None) -> list[Node]:
        """Find the functions, classes and constants of several bare names, ordered by path and line."""
        with self._reader.snapshot() as view:
            ready = view.ready if source is None else [each for each in view.ready if each == source]
            found = self._find_each(cypher.FIND_NAMES, names, ready, are_names=True)
            nodes = [make_node(*each) for name in set(names) for each in found[name]]
        return sorted(nodes, key=lambda node: (node.source, node.path, node.start_line, node.id))

    def get(self, ids: Sequence[str]) -> list[Node]:
        """Return nodes in the order of their ids; raise NodeNotFoundError for an unknown id."""
        if not ids:
            return []
        with self._reader.snapshot() as view:
            wanted = self._batch_ids(ids)
            common = self._find_each(cypher.GET_COMMON, wanted, view.ready)
            missing = [each for each in wanted if not common[each]]
            rare = self._find_each(cypher.GET_RARE, missing, view.ready)
        found = {each: make_node(*(common[each] or rare[each])[0]) for each in wanted if common[each] or rare[each]}
        self._check_known(ids, found)
        return [found[each] for each in ids]

    def _batch_ids(self, ids: Sequence[str]) -> list[str]:
        """Return the distinct well-formed ids, and remember them to be read together."""
        wanted = list(dict.fromkeys(each for each in ids if each.isascii()))
        if self._cache is not None and 1 < len(wanted) <= MAX_BATCHED_NODES:
            self._batched.update(wanted)
        return wanted

    def _check_known(self, ids: Iterable[str], known: Container[str]) -> None:
        for each in ids:
            if each not in known:
                raise NodeNotFoundError(
                    f"no node '{each}' in {self.address}; expected an id of 16 hex digits from a query"
                )

    def outlines(
        self, ids: Sequence[str], vector: npt.NDArray[np.float32], blocks_of: Sequence[str] = ()
    ) -> dict[str, Outline]:
        """Return outlines of nodes, of the blocks of some functions, and of the functions that contain blocks.

        vector: float32 [dimension], whose cosines are part of the outlines.
        """
        with self._reader.snapshot() as view:
            parameters = {"functions": list(blocks_of), "vector": vector.tolist(), "ready": view.ready}
            records = self._reader.run(cypher.LIST_OUTLINES, **self._reader.make_id_parameters(ids), **parameters)
            found = self._reader.remember_elements(records[0]["found"])
        return {each.id: each for each in starmap(make_outline, found)}

    def unfold(self, ids: Sequence[str]) -> list[Unfolded]:
        """Return functions, blocks and declarations in the order of their ids, with their blocks and links."""
        if not ids:
            return []
        found = {}
        with self._reader.snapshot() as view:
            listed, called = find_unfolded(self._reader, self._batch_ids(ids))
            for unfolded, node, calls in listed:
                identity = unfolded.node.id
                found[identity] = unfolded
                self._cache_record(cypher.GET_COMMON, view.ready, identity, node)
                if calls is not None:
                    self._cache_record(cypher.GET_CALLS, view.ready, identity, calls)
            for identity, node in called:
                self._cache_record(cypher.GET_COMMON, view.ready, identity, node)
        self._check_known(ids, found)
        return [found[each] for each in ids]

    def subtree(self, node_id: str) -> list[Node]:
        """Return the classes, constants, functions and blocks in a node at any depth, in the order of the text."""
        with self._reader.snapshot() as view:
            (node,) = self.get([node_id])
            if node.label in cypher.UNIT_LABELS:
                rows = self._reader.run(
                    cypher.INSIDE_UNIT, **self._reader.make_id_parameters([node_id]), ready=view.ready
                )
                return [make_node(*row["node"]) for row in rows]
            if node.label not in _CONTAINERS:
                return []
            found = self._find_each(cypher.INSIDE_PIECE, [node_id], view.ready)[node_id]
        found = sorted(found, key=lambda each: (each[1]["start"], -each[1]["end"], each[1]["position"]))
        # A definition that is the whole body of a function has the span of the body, which is the outer one.
        is_body = node.kind == "body"
        inside = starmap(make_node, found)
        return [each for each in inside if is_body or (each.start, each.end) != (node.start, node.end)]

    def calls(self, node_id: str) -> list[Call]:
        """Return the call sites on the lines of a node, in the order of the text."""
        with self._reader.snapshot() as view:
            self.get([node_id])
            found = self._find_each(cypher.GET_CALLS, [node_id], view.ready)[node_id]
        return [call for each in found for call in list_calls(*each)]

    def imports(self, names: Mapping[str, Collection[str]]) -> dict[str, list[Node]]:
        """Return the imports of each file or row that bind any of its names, ordered by line and id."""
        with self._reader.snapshot():
            found = find_imports(self._reader, names)
            self.get([each for each in names if each not in found])  # raises for unknown ids
        return {each: found.get(each, []) for each in names}

    def neighbours(
        self, ids: Sequence[str], types: Iterable[RelationType] | None = None, direction: str = "both", depth: int = 1
    ) -> list[Edge]:
        """Return the distinct relationships within depth steps of the nodes; direction is out, in or both."""
        wanted = tuple(RelationType if types is None else types)
        if not (ids and wanted and depth):
            self.get(ids)
            return []
        with self._reader.snapshot():
            starts = {each for each in ids if each.isascii()}
            known, edges = follow_edges(self._reader, starts, wanted, direction, depth)
        self._check_known(ids, known)
        return sorted(edges, key=order_edge)

    def nodes(self, labels: Iterable[Label], source: str | None = None) -> Iterator[Node]:
        """Yield every node of some labels in one pass; in no particular order."""
        with self._reader.snapshot() as view:
            ready = [each for each in view.ready if source in (None, each)]
            for label in labels:
                yield from list_nodes(self._reader, label, ready)

    def edges(self, types: Iterable[RelationType], source: str | None = None) -> Iterator[Edge]:
        """Yield the distinct relationships of some types that start in a source; in no particular order."""
        with self._reader.snapshot() as view:
            ready = [each for each in view.ready if source in (None, each)]
            for each in types:
                yield from list_edges(self._reader, each, ready)

    def stats(self, source: str | None = None) -> StoreStats:
        """Return statistics of the store or of one source."""
        with self._reader.snapshot():
            return count_graph(self._reader, [each for each in self.sources() if source in (None, each.name)])

    def check(self) -> list[str]:
        """Return descriptions of inconsistencies; an empty list for a sound store."""
        with self._reader.snapshot():
            return find_faults(self._reader)

    def repair_copies(self) -> list[str]:
        """Rewrite a damaged file of terms in the user's cache folder; return a message if so."""
        with self._reader.snapshot():
            return self._terms.repair()

    def exposed_files(self) -> list[Path]:
        """Return no files: the store is on a server."""
        return []

    def export(self, vectors: bool = False) -> Iterator[dict[str, Any]]:
        """Yield the whole graph as JSON-ready lines: header, nodes, relations, each sorted (docs/schema.md)."""
        with self._reader.snapshot() as view:
            yield export_header(view.encoder, view.dimension)
            for label in Label:
                yield from export_label(self._reader, label, vectors, view.ready)
            for each in sorted(RelationType, key=lambda each: each.value):
                yield from map(export_edge, list_edges(self._reader, each, view.ready))
