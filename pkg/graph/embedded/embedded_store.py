"""The embedded store: GraphStore on one SQLite file, with files of vector codes and terms beside it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from sqlite3 import Error as DatabaseError
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from pkg.errors import EncoderMismatchError, NodeNotFoundError, StoreError
from pkg.graph.embedded import sql
from pkg.graph.embedded.checksums import find_damage, seal_head
from pkg.graph.embedded.database_file import FileChecksum, identify, lock_empty, open_database, remove_empty
from pkg.graph.embedded.indexes import (
    APPROXIMATE_ABOVE,
    EmbeddedTerms,
    EmbeddedVectors,
    FragmentFinder,
    OutlineReader,
    StampChange,
)
from pkg.graph.embedded.node_reading import NodeReader
from pkg.graph.embedded.pending_files import list_pending, list_unfinished, remove_finished
from pkg.graph.embedded.relations import list_all_edges, list_edges_of, list_neighbours
from pkg.graph.graph_records import (
    drop_below,
    export_edge,
    export_header,
    find_generated,
    list_nested,
    read_audits,
    read_errors,
    read_leaks,
)
from pkg.graph.sqlite_rows import parse_id, translate_database_faults, translate_faults, unpack_text
from pkg.model import (
    DECLARATION_LABELS,
    NOT_GENERATED,
    UNFOLDED_TYPES,
    Audit,
    Call,
    Edge,
    Generated,
    Label,
    Leak,
    LocalError,
    Matches,
    Nested,
    Node,
    NodeFilter,
    Outline,
    RelationType,
    Source,
    Unfolded,
)
from pkg.private_files import list_exposed, remove_leftovers
from pkg.units import StoredFragment, find_owner, format_id

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from pkg.graph.embedded.embedded_writing import EmbeddedWriter
    from pkg.graph.embedded.pending_store import PendingStore
    from pkg.graph.store import StoreStats, Unfinished
    from pkg.terms.inverted_index import TermScores

WRITE_CACHE_KB = 6_000  # page cache of a write


class _Transaction(NamedTuple):
    """A write, and the stamps before and after it."""

    writer: EmbeddedWriter
    change: StampChange


class EmbeddedStore:
    """A graph in one file; readers see one generation, which one writer at a time replaces."""

    _checks: ClassVar[Mapping[str, str]] = sql.CHECKS

    def __init__(
        self, path: str | os.PathLike[str], create: bool = False, *, approximate_above: int = APPROXIMATE_ABOVE
    ) -> None:
        self._path = Path(path)
        with translate_faults(self.address):
            was_empty = self._path.exists() and self._path.stat().st_size == 0
        self._is_removable = create and not was_empty  # as long as the store is empty
        self._is_used = False  # an encoder was set, and no write has failed since
        self._approximate_above = approximate_above
        self._open(create)
        if create:
            remove_leftovers(self._files)
            try:
                self._check_file()
                if list_pending(self._path):
                    remove_finished(self._path, [each.name for each in self.sources()])
            except BaseException:
                self._close_files()
                raise

    def _open(self, create: bool) -> None:
        """Open the file, whose content is not checked yet."""
        with translate_faults(self.address):
            self._connection = open_database(self._path, self.address, create)
        self._identity = identify(self._path)
        self._reader = NodeReader(self._connection)
        self._meta: dict[str, Any] | None = None  # of the current snapshot
        self._sources: tuple[Source, ...] | None = None  # of the current snapshot
        find_fragments = FragmentFinder(self._connection, self._get_meta).find
        self._vectors = EmbeddedVectors(
            self._connection, self._path, self._get_meta, find_fragments, self._approximate_above
        )
        self._outlines = OutlineReader(self._connection, self._vectors)
        self._terms = EmbeddedTerms(
            self._connection, self._path, self._reader, self._get_one, self._get_meta, find_fragments
        )
        self._sum = FileChecksum(self._path)
        self._is_closed = False
        self._is_checked = False  # since the last write

    @property
    def address(self) -> str:
        """Return the address, such as sqlite:///path."""
        return f"sqlite:///{self._path}"

    def close(self) -> None:
        """Close the file; delete it if it is still empty, as after a failed first build."""
        with suppress(DatabaseError, StoreError):
            if self._is_removable and not self._is_used and not self.generation():
                remove_empty(self._connection, self._path, self._identity)
        self._close_files()

    def _close_files(self) -> None:
        """Close the connection, then the descriptor of the checksum, once: a store may be closed twice."""
        self._connection.close()
        if not self._is_closed:
            self._is_closed = True
            self._sum.close()

    def _get_meta(self, key: str) -> Any:
        return self._list_meta().get(key)

    def _list_meta(self) -> dict[str, Any]:
        """Return the metadata of the graph from one state of the file."""
        return dict(self._connection.execute(sql.LIST_META)) if self._meta is None else self._meta

    def _get_encoder(self) -> tuple[Any, Any]:
        meta = self._list_meta()
        return meta.get("encoder"), meta.get("dimension")

    def ensure_schema(self, encoder: str, dimension: int) -> None:
        """Store the encoder; raise EncoderMismatchError for another encoder or dimension."""
        with translate_faults(self.address):
            self._is_used = True
            if self._check_encoder(encoder, dimension):
                return
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                if not self._check_encoder(encoder, dimension):  # another process may have been faster
                    self._connection.execute(sql.PUT_META, ("encoder", encoder))
                    self._connection.execute(sql.PUT_META, ("dimension", dimension))
                    seal_head(self._connection)
                self._connection.execute("COMMIT")
            finally:
                self._roll_back()

    def _check_encoder(self, encoder: str, dimension: int) -> bool:
        """Return whether the store has this encoder, False if it has none; raise EncoderMismatchError for another."""
        found = self._get_encoder()
        if found not in ((None, None), (encoder, dimension)):
            raise EncoderMismatchError(
                f"{self.address} holds vectors of encoder '{found[0]}' with {found[1]} dimensions,"
                f" not of '{encoder}' with {dimension}; use that encoder, or another --store"
            )
        return found == (encoder, dimension)

    def _roll_back(self) -> None:
        """Roll back a transaction unless it has ended, as on a full disk."""
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def encoder(self) -> tuple[str, int]:
        """Return the name and dimension of the encoder of the vectors; ("", 0) before the first build."""
        with translate_faults(self.address):
            name, dimension = self._get_encoder()
        return name or "", dimension or 0

    def generation(self) -> int:
        """Return the number of completed writes; 0 for an empty store."""
        with translate_faults(self.address):
            return self._get_meta("generation") or 0

    def stamp(self) -> str:
        """Return an identifier that only this generation of this store has."""
        with translate_faults(self.address):
            return str(self._get_meta("stamp") or "")

    def fingerprints(self, source: str, paths: Collection[str] | None = None) -> Iterator[tuple[str, str, str]]:
        """Yield (path, fingerprint, content hash) of the units of a source, or of those at some paths."""
        with translate_faults(self.address):
            if paths is None:
                yield from self._connection.execute(sql.LIST_FINGERPRINTS, (source,))
            else:
                yield from self._connection.execute(sql.LIST_SOME_FINGERPRINTS, (source, json.dumps(list(paths))))

    def sources(self) -> tuple[Source, ...]:
        """Return the sources by name."""
        if self._sources is not None:
            return self._sources
        with translate_faults(self.address):
            found = tuple(Source(*row[:5]) for row in self._connection.execute(sql.LIST_SOURCES))
        if self._meta is not None:
            self._sources = found
        return found

    def source_fingerprint(self, source: str) -> str | None:
        """Return the fingerprint of a source's input at its last build; None for an unknown source."""
        with translate_faults(self.address):
            rows = self._connection.execute(sql.LIST_SOURCES).fetchall()
        return next((row[5] for row in rows if row[0] == source), None)

    def errors(self, source: str) -> tuple[LocalError, ...]:
        """Return the local errors of the last build of a source; none for an unknown source."""
        with translate_faults(self.address):
            rows = self._connection.execute(sql.LIST_SOURCES).fetchall()
        return tuple(error for row in rows if row[0] == source for error in read_errors(row[6]))

    def link_notes(self, source: str) -> Iterator[tuple[str, bytes]]:
        """Yield (path, notes) of every unit of a source with resolved links."""
        with translate_faults(self.address):
            yield from self._connection.execute(sql.LIST_NOTES, (source,))

    def texts(self, source: str, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield (path, text) of the existing files at some paths; inside a write, of its own state."""
        with translate_faults(self.address):
            for path in paths:
                for (packed,) in self._connection.execute(sql.GET_FILE_TEXT, (source, path)).fetchall():
                    yield path, unpack_text(packed)

    def generated_texts(self, source: str) -> Iterator[tuple[int, Generated]]:
        """Yield (content hash, texts) of each function of a source with a generated docstring or questions (P-07)."""
        with translate_faults(self.address):
            for hashed, packed in self._connection.execute(sql.LIST_GENERATED, (source, source)).fetchall():
                texts = find_generated(json.loads(packed))
                if texts != NOT_GENERATED:
                    yield hashed % (1 << 64), texts

    def audits(self) -> tuple[Audit, ...]:
        """Return the latest audit of each benchmark, by name."""
        with translate_faults(self.address):
            return read_audits(self._get_meta("audits"))

    def leaks(self) -> Iterator[tuple[str, tuple[Leak, ...]]]:
        """Yield (id, leaks) of every node that an audit marked."""
        with translate_faults(self.address):
            for identity, packed in self._connection.execute(sql.LIST_LEAKS).fetchall():
                yield format_id(identity % (1 << 64)), read_leaks(json.loads(packed))

    def fragments(self, ids: Sequence[str]) -> Iterator[StoredFragment]:
        """Yield the distinct fragments that contain some functions or declarations; unknown ids are ignored."""
        numbers = json.dumps([parse_id(each) for each in ids])
        with translate_faults(self.address):
            for name, key, path, text, terms in self._connection.execute(sql.LIST_FRAGMENTS_OF, (numbers,)).fetchall():
                yield StoredFragment(name, key % (1 << 64), path, unpack_text(text), terms or b"")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read one generation inside the block."""
        if self._connection.in_transaction:
            yield
            return
        with translate_database_faults(self.address):
            self._connection.execute("BEGIN")
            try:
                # SQLite chooses the generation at the first read, not at BEGIN.
                self._meta = self._list_meta()
                yield
            finally:
                self._meta = self._sources = None
                self._reader.forget()
                self._roll_back()

    @contextmanager
    def write(self) -> Iterator[EmbeddedWriter]:
        """Open the only write transaction; an exception rolls it back."""
        with self._transact() as transaction:
            yield transaction.writer
        if transaction.writer.changed:
            self._write_copies(None if transaction.writer.has_replaced_vectors else transaction.change)
        else:
            self._checkpoint()

    @contextmanager
    def _transact(self) -> Iterator[_Transaction]:
        """Open a write transaction, which leaves the files beside the database as they are."""
        from pkg.graph.embedded.embedded_writing import EmbeddedWriter

        self._check_file()
        with translate_database_faults(self.address):
            self._connection.execute(f"PRAGMA cache_size = -{WRITE_CACHE_KB}")
            self._connection.execute("BEGIN IMMEDIATE")
            before, now = str(self._get_meta("stamp")), os.urandom(16).hex()
            try:
                writer = EmbeddedWriter(self._connection)
                yield _Transaction(writer, StampChange(before, now))
                writer.finish()
                if writer.changed:
                    self._connection.execute(sql.PUT_META, ("generation", self.generation() + 1))
                    self._connection.execute(sql.PUT_META, ("stamp", now))
                writer.seal()
                self._connection.execute("COMMIT")
            except BaseException:
                self._is_used = False
                raise
            finally:
                self._reader.forget()
                self._roll_back()
        self._is_checked = False

    @contextmanager
    def load_source(self, source: str, made_by: str, say: Callable[[str], None]) -> Iterator[EmbeddedStore]:
        """Open a store beside this one to build a new source in, which becomes part of this one when the block ends.

        made_by: everything besides the input that decides the nodes; an unfinished build made by something else is
        deleted. say: called with a message about a file that is deleted.
        After an exception, what was put and kept remains for the next build. Yields this store where another process
        has built the source meanwhile. Raises StoreLockedError while another process builds the source.
        """
        from pkg.graph.embedded.pending_store import open_pending

        pending = open_pending(self._path, self.address, source, made_by, say)
        if any(each.name == source for each in self.sources()):
            pending.discard()
            yield self
            return
        try:
            yield pending
            with translate_faults(self.address):
                self._take(pending)
        except BaseException:
            self._is_used = False
            raise
        finally:
            pending.close()

    def _take(self, pending: PendingStore) -> None:
        """Rename the file of a complete store to that of this one where this one is empty, else merge its rows."""
        pending.settle()
        if self._replace_by(pending):
            self._write_copies(None)
            return
        from pkg.graph.embedded.source_copying import copy_source

        pending.close()  # from here on it is read through the connection of this store
        self._connection.execute("ATTACH ? AS pending", (os.path.realpath(pending.path),))
        try:
            # Synchronised with the disk, as the other copy of the rows is deleted next.
            self._connection.execute("PRAGMA main.synchronous = FULL")
            with self._transact() as transaction:
                copy_source(self._connection, self.address)
                transaction.writer.changed = True
        finally:
            self._connection.execute("PRAGMA main.synchronous = NORMAL")
            self._connection.execute("DETACH pending")
        pending.discard()  # before the log moves into the file, so that the disk holds the rows twice, not three times
        self._write_copies(transaction.change)

    def _replace_by(self, pending: PendingStore) -> bool:
        """Rename the file of another store to that of this one; return False where this one is not empty or in use."""
        target = Path(os.path.realpath(self._path))
        is_replaced = False
        if lock_empty(self._connection, self._path, self._identity):
            with suppress(OSError):  # a system that does not replace open files
                pending.path.chmod(target.stat().st_mode & 0o777)
                pending.path.replace(target)
                is_replaced = True
        self._close_files()
        pending.close()
        self._open(create=True)
        self._is_checked = is_replaced
        return is_replaced

    def unfinished(self) -> list[Unfinished]:
        """Return the unfinished builds of sources that are not in the graph yet."""
        return list_unfinished(self._path)

    def _write_copies(self, change: StampChange | None) -> None:
        """Write the files beside the database and empty the log; readers repeat what fails here."""
        before = self._vectors.read_indexed()
        for write in (partial(self._vectors.write, change), self._terms.write):
            with suppress(OSError, DatabaseError, StoreError), self.snapshot():
                write()
        self._checkpoint()
        with suppress(OSError):  # may take minutes: last, when everything else is written
            self._vectors.write_approximate(before)

    def _checkpoint(self) -> None:
        """Move the write-ahead log into the file, and record the file's checksum."""
        timeout = self._connection.execute("PRAGMA busy_timeout").fetchone()[0]
        with suppress(DatabaseError):
            self._connection.execute("PRAGMA busy_timeout = 0")  # do not wait for readers of the old generation
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self._connection.execute(f"PRAGMA busy_timeout = {timeout:d}")
        self._sum.record()

    def _check_file(self) -> None:
        """Raise StoreCorruptError for a damaged graph, before a build adds to it or reports it as current.

        Rows are read only if the file differs from its checksum.
        """
        if self._is_checked:
            return
        with translate_faults(self.address):
            (holds_data,) = self._connection.execute(sql.HOLDS_DATA).fetchone()
            if (self._sum.is_recorded() or holds_data) and not self._sum.is_current():
                with self.snapshot():
                    self._raise_if_damaged()
                self._sum.record()
        self._is_checked = True

    def _raise_if_damaged(self) -> None:
        damage = find_damage(self._connection)
        if damage:
            raise DatabaseError(f"malformed: {'; '.join(damage)}")

    @property
    def _files(self) -> tuple[Path, ...]:
        return self._path, *self._vectors.paths, self._terms.path, self._sum.path

    def vector_search(
        self,
        label: Label,
        vector: npt.NDArray[np.float32],
        k: int,
        where: NodeFilter | None = None,
        threshold: float = -1.0,
    ) -> Matches:
        """Find the k nodes of a label with the highest cosine, without duplicates, ties by id (P-14, P-17).

        vector: float32 [dimension]. threshold: minimum cosine.
        """
        with translate_faults(self.address), self.snapshot():
            self._check_query(vector)
            return drop_below(self._vectors.search(label, vector, k, where), threshold)

    def _check_query(self, vector: npt.NDArray[np.float32]) -> None:
        if len(vector) != (self._get_meta("dimension") or len(vector)):
            raise EncoderMismatchError(
                f"the query vector has {len(vector)} dimensions; {self.address} holds {self._get_meta('dimension')}"
                f" (encoder '{self._get_meta('encoder')}'); encode the query with that encoder"
            )

    def text_search(self, label: Label, terms: Mapping[str, float], k: int, where: NodeFilter | None = None) -> Matches:
        """Find up to k nodes of a label with any of the terms, best first, without duplicates, ties by id."""
        from pkg.terms.word_search import search_text

        with translate_faults(self.address), self.snapshot():
            return search_text(self._terms, label, terms, k, where)

    def hybrid_search(
        self,
        label: Label,
        vector: npt.NDArray[np.float32],
        terms: Mapping[str, float],
        k: int,
        where: NodeFilter | None = None,
    ) -> tuple[Matches, Matches]:
        """Search a label by a vector and functions by terms.

        vector: float32 [dimension].
        """
        from pkg.terms.word_search import search_functions

        with translate_faults(self.address), self.snapshot():
            return self.vector_search(label, vector, k, where), search_functions(self._terms, terms, k, where)

    def search_declarations(
        self, vector: npt.NDArray[np.float32], terms: Mapping[str, float], k: int, where: NodeFilter | None = None
    ) -> tuple[Matches, Matches]:
        """Search classes, constants and modules together by a vector and by terms.

        vector: float32 [dimension].
        """
        from pkg.terms.word_search import search_declarations

        with translate_faults(self.address), self.snapshot():
            self._check_query(vector)
            near = self._vectors.search_declarations(vector, k, where)
            return near, search_declarations(self._terms, terms, k, where)

    def text_parts(self, ids: Sequence[str], terms: Mapping[str, float], label: Label = Label.FUNCTION) -> TermScores:
        """Return the share of each term in the lexical scores of some functions, and its rarity.

        label: of a declaration, any of their labels; rarity is then that in all declarations.
        """
        with translate_faults(self.address), self.snapshot():
            return self._terms.open_terms(label).split_ids(ids, terms)

    def find_name(self, name: str, source: str | None = None) -> list[Node]:
        """Find the functions, classes and constants of a bare name, ordered by path and line."""
        return self.find_names([name], source)

    def find_names(self, names: Sequence[str], source: str | None = None) -> list[Node]:
        """Find the functions, classes and constants of several bare names, ordered by path and line."""
        with translate_faults(self.address), self.snapshot():
            return self._reader.find_names(names, source)

    def get(self, ids: Sequence[str]) -> list[Node]:
        """Return nodes in the order of their ids; raise NodeNotFoundError for an unknown id."""
        with translate_faults(self.address), self.snapshot():
            return [self._get_one(node_id) for node_id in ids]

    def _get_one(self, node_id: str) -> Node:
        node = self._reader.read_id(parse_id(self._check_id(node_id)))
        if node is None:
            raise self._make_not_found(node_id)
        return node

    def _check_id(self, node_id: str) -> str:
        if not re.fullmatch(r"[0-9a-f]{16}", node_id):
            raise self._make_not_found(node_id)
        return node_id

    def _make_not_found(self, node_id: str) -> NodeNotFoundError:
        return NodeNotFoundError(f"no node '{node_id}' in {self.address}; expected an id of 16 hex digits from a query")

    def outlines(
        self, ids: Sequence[str], vector: npt.NDArray[np.float32], blocks_of: Sequence[str] = ()
    ) -> dict[str, Outline]:
        """Return outlines of nodes, of the blocks of some functions, and of the functions that contain blocks.

        vector: float32 [dimension], whose cosines are part of the outlines.
        """
        with translate_faults(self.address), self.snapshot():
            self._check_query(vector)
            return self._outlines.read(ids, blocks_of, vector, self._meta.get("stamp") if self._meta else None)

    def unfold(self, ids: Sequence[str]) -> list[Unfolded]:
        """Return functions, blocks and declarations in the order of their ids, with their blocks and links."""
        with translate_faults(self.address), self.snapshot():
            nodes = self.get(ids)
            owners = [find_owner(node.id, node.label, node.name) for node in nodes]
            links: dict[str, list[Edge]] = {}
            for edge in list_neighbours((self._connection,), set(owners), set(UNFOLDED_TYPES), "out", 1):
                links.setdefault(edge.start, []).append(edge)
            return [
                Unfolded(node, self._list_blocks(node), tuple(links.get(owner, ())))
                for node, owner in zip(nodes, owners, strict=True)
            ]

    def _list_blocks(self, node: Node) -> tuple[Nested, ...]:
        return () if node.label in DECLARATION_LABELS else list_nested(self._reader.read_inside(node))

    def subtree(self, node_id: str) -> list[Node]:
        """Return the classes, constants, functions and blocks in a node at any depth, in the order of the text."""
        with translate_faults(self.address), self.snapshot():
            return self._reader.read_inside(self._get_one(node_id))

    def calls(self, node_id: str) -> list[Call]:
        """Return the call sites on the lines of a node, in the order of the text."""
        with translate_faults(self.address), self.snapshot():
            return self._reader.read_calls(self._get_one(node_id))

    def imports(self, names: Mapping[str, Collection[str]]) -> dict[str, list[Node]]:
        """Return the imports of each file or row that bind any of its names, ordered by line and id."""
        with translate_faults(self.address), self.snapshot():
            return {each: self._reader.read_imports(self._get_one(each), wanted) for each, wanted in names.items()}

    def neighbours(
        self, ids: Sequence[str], types: Iterable[RelationType] | None = None, direction: str = "both", depth: int = 1
    ) -> list[Edge]:
        """Return the distinct relationships within depth steps of the nodes; direction is out, in or both."""
        wanted = None if types is None else set(types)
        with translate_faults(self.address), self.snapshot():
            starts = {self._get_one(node_id).id for node_id in ids}
            return list_neighbours((self._connection,), starts, wanted, direction, depth)

    def nodes(self, labels: Iterable[Label], source: str | None = None) -> Iterator[Node]:
        """Yield every node of some labels in one pass, grouped by text."""
        with translate_faults(self.address), self.snapshot():
            yield from self._reader.list_nodes(set(labels), source)

    def edges(self, types: Iterable[RelationType], source: str | None = None) -> Iterator[Edge]:
        """Yield the distinct relationships of some types that start in a source; in no particular order."""
        with translate_faults(self.address), self.snapshot():
            yield from list_edges_of(self._connection, types, source)

    def stats(self, source: str | None = None) -> StoreStats:
        """Return statistics of the store or of one source; sizes are those of the store."""
        from pkg.graph.embedded.store_counts import read_stats

        with translate_faults(self.address), self.snapshot():
            sizes = {path.name: path.stat().st_size for path in self._files if path.exists()}
            return replace(read_stats(self._connection, source), bytes=sizes)

    def check(self) -> list[str]:
        """Return descriptions of damage and inconsistencies; an empty list for a sound store."""
        with translate_faults(self.address), self.snapshot():
            faults = find_damage(self._connection)
            for fault, statement in self._checks.items():
                count = self._connection.execute(statement).fetchone()[0]
                if count:
                    faults.append(f"{count} {fault}")
        return faults

    def exposed_files(self) -> list[Path]:
        """Return the files of the store that other users of this machine may read or write."""
        return list_exposed(self._files)

    def repair_copies(self) -> list[str]:
        """Rewrite damaged files beside the database; return a message for each."""
        with translate_faults(self.address), self.snapshot():
            return [*self._vectors.repair(), *self._terms.repair()] if self.generation() else []

    def export(self, vectors: bool = False) -> Iterator[dict[str, Any]]:
        """Yield the whole graph as JSON-ready lines: header, nodes, relations, each sorted (docs/schema.md).

        Raise StoreCorruptError before the first line if any byte is damaged.
        """
        encoder, dimension = self.encoder()
        with translate_faults(self.address), self.snapshot():
            self._raise_if_damaged()
            yield export_header(encoder, dimension)
            yield from self._reader.export_nodes(vectors)
            yield from map(export_edge, list_all_edges(self._connection))
