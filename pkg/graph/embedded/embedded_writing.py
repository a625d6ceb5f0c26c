"""The write transaction of the embedded store."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from pkg.errors import StoreError
from pkg.graph.embedded import sql
from pkg.graph.embedded.checksums import (
    Row,
    RowsChecksum,
    make_name_row,
    seal_fragment,
    seal_head,
    seal_unit,
    sum_vector,
)
from pkg.graph.embedded.relations import LinkWriter
from pkg.graph.graph_records import (
    LEAKS,
    Omission,
    describe_change,
    find_generated,
    pack_omissions,
    read_audits,
    replace_leaks,
    write_audits,
)
from pkg.graph.sqlite_rows import check_replaced, dump, pack_rows, pack_text, parse_id, sign_id
from pkg.model import EMBEDDED_LABELS, Audit, Label, Leak, Source
from pkg.units import Fragment, GeneratedChange, UnitGraph, UnitLinks, format_id, hash_key, name_library

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

FLUSH_AT = 4096  # rows collected before an insert
_UNNAMED = (Label.BLOCK, Label.IMPORT, Label.MODULE)  # not looked up by name: not in the indexed column


class EmbeddedWriter:
    """Writer that inserts rows in bulk; EmbeddedStore begins and ends its transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._run = connection.execute
        self._links = LinkWriter(connection)
        self._sources: dict[str, int] = {}
        self._libraries: set[tuple[str, str]] = set()  # by source and name
        self._node_number, self._unit_number, self._fragment_number = self._run(sql.LAST_NUMBERS).fetchone()
        self._nodes: list[tuple[object, ...]] = []
        self._vectors: list[tuple[int, bytes, int]] = []
        self._released: set[int] = set()  # fragments that lost a part
        self._deleted_nodes: set[int] = set()  # ids; those of an edited file are inserted again
        self._deleted_units: set[int] = set()
        self._unsealed: set[int] = set()  # changed fragments
        self._has_deleted = False
        self._is_first_load = self._run(sql.HAS_UNITS).fetchone() is None
        self._has_links = self._run(sql.HAS_LINKS).fetchone() is not None
        self._replaced: int | None = None  # number of vectors of a new encoder; None for the old encoder
        self.has_replaced_vectors = False  # whether existing nodes have new vectors
        self.changed = False  # whether readers see a difference
        if self._is_first_load:
            for index in (*sql.INDEXES, *sql.LINK_INDEXES):
                self._run(sql.DROP_INDEX.format(index))

    def put_source(
        self,
        source: Source,
        fingerprint: str = "",
        skipped: Sequence[Omission] = (),
        stages: Mapping[str, float] | None = None,
    ) -> None:
        """Add or update a source: the fingerprint of its input, its omissions, CPU seconds of each build stage."""
        shown = source.kind, source.root, source.revision, source.package
        skips = pack_omissions(skipped)
        before = self._run(sql.GET_SOURCE_NAMED, (source.name,)).fetchone()
        self.changed = self.changed or before != shown
        identity = sign_id(hash_key("Source", source.name))
        self._run(sql.PUT_SOURCE, (identity, source.name, *shown, fingerprint, skips, dump(stages or {})))

    def put_fingerprint(self, source: str, path: str, fingerprint: str) -> None:
        """Store the new fingerprint of a file whose content is unchanged; this alone makes no new generation."""
        self._run(sql.PUT_FINGERPRINT, (fingerprint, path, source))

    def replace_file(self, unit: UnitGraph) -> None:
        """Replace the file or row at a path of a source."""
        source = self._find_source(unit.source)
        if not self._is_first_load:
            self._delete_unit(source, unit.path)
        self._unit_number += 1
        number = self._unit_number
        identity = sign_id(hash_key(unit.source, unit.path, unit.label.value))
        place = number, identity, source, sql.LABEL_NUMBERS[unit.label], unit.path, unit.fingerprint
        row = (*place, unit.content_hash, unit.language, unit.status.value, unit.reason)
        try:
            self._run(sql.PUT_UNIT, row)
        except sqlite3.IntegrityError:  # in a first load a path came twice
            self._delete_unit(source, unit.path)
            self._run(sql.PUT_UNIT, row)
        for key, first_line, fragment in unit.parts:
            self._run(sql.PUT_PART, (number, first_line, self._put_fragment(source, key, fragment)))
        seal_unit(self._connection, number)
        self.changed = True

    def delete_file(self, source: str, path: str) -> None:
        """Delete a file or row with all nodes that only it contains."""
        self._delete_unit(self._find_source(source), path)

    def delete_source(self, source: str) -> None:
        """Delete a source with everything in it."""
        number = self._find_source(source)
        for unit, identity in self._run(sql.LIST_UNITS, (number,)).fetchall():
            self._release_unit(unit, identity)
        self._sweep()
        self._delete_orphan_names()
        self._delete_orphan_libraries()
        self._run(sql.DELETE_SOURCE, (number,))
        self._deleted_units.add(sign_id(hash_key("Source", source)))
        self._sources.pop(source)
        self.changed = True

    def missing_names(self, source: str, first: str = "", limit: int = 4096) -> list[str]:
        """Return the sorted function names of a source, from `first` on, without a FunctionName node."""
        self._complete_indexes()
        number = self._find_source(source)
        return [name for (name,) in self._run(sql.MISSING_NAMES, (number, first, limit))]

    def put_names(self, source: str, vectors: Mapping[str, npt.NDArray[np.float16]]) -> None:
        """Add missing FunctionName nodes with their vectors: float16 [dimension] by name."""
        number = self._find_source(source)
        for name, data in _pack(vectors):
            self._add_name(Label.FUNCTION_NAME, number, source, name)
            self._vectors.append((self._node_number, data, sum_vector(data)))
        self.flush()
        self.changed = self.changed or bool(vectors)

    def _add_name(self, label: Label, number: int, source: str, name: str) -> None:
        """Collect a node without a text."""
        self._node_number += 1
        self._nodes.append(make_name_row(label, self._node_number, number, source, name))

    def put_encoder(self, encoder: str, dimension: int) -> None:
        """Change the encoder; before the write ends, every vector must be replaced by one of the new encoder."""
        self._run(sql.PUT_META, ("encoder", encoder))
        self._run(sql.PUT_META, ("dimension", dimension))
        self._replaced, self.changed, self.has_replaced_vectors = 0, True, True

    def put_vectors(self, label: Label, vectors: Mapping[str, npt.NDArray[np.float16]]) -> None:
        """Replace the vectors of nodes of a label: float16 [dimension] by id."""
        number = sql.LABEL_NUMBERS[label]
        rows = [(data, sum_vector(data), parse_id(each), number) for each, data in _pack(vectors)]
        done = self._connection.executemany(sql.REPLACE_VECTOR, rows).rowcount
        self._replaced = (self._replaced or 0) + max(done, 0)
        self.changed = self.changed or bool(rows)

    def put_links(self, source: str, links: Iterable[UnitLinks]) -> None:
        """Replace the resolved links of units; their ends must exist when the write ends.

        Links equal to the stored ones, in the same order, make no new generation. Raise StoreError for an unknown unit.
        """
        number = self._find_source(source)
        self._complete_indexes()
        for each in links:
            unit = self._run(sql.FIND_UNIT, (number, each.path)).fetchone()
            if unit is None:
                raise StoreError(
                    f"no file or row '{each.path}' in source '{source}'; expected it to be put before its links"
                )
            self._put_libraries(source, number, each.libraries)
            self.changed = self._links.put(unit[0], each) or self.changed
            self._has_links = True

    def put_notes(self, source: str, notes: Mapping[str, bytes]) -> None:
        """Replace the notes of units whose links are unchanged; this alone makes no new generation.

        Raise StoreError for an unknown unit.
        """
        number = self._find_source(source)
        for path, text in notes.items():
            unit = self._run(sql.FIND_UNIT, (number, path)).fetchone()
            if unit is None:
                raise StoreError(
                    f"no file or row '{path}' in source '{source}'; expected it to be put before its notes"
                )
            self._links.put_notes(unit[0], text)

    def put_generated(self, source: str, changes: Iterable[GeneratedChange]) -> None:
        """Set or remove the generated texts of functions, whose ids and links are kept.

        Raise StoreError for an unknown fragment or function.
        """
        number = self._find_source(source)
        self._complete_indexes()
        for each in changes:
            found = self._run(sql.FIND_FRAGMENT, (sign_id(each.key), number)).fetchone()
            if found is None:
                raise StoreError(f"no fragment {each.key:016x} in source '{source}'; run the command again")
            if self._put_generated_of(found[0], each):
                self._run(sql.PUT_TERMS, (each.terms, found[0]))
                self._unsealed.add(found[0])
                self.changed = True

    def _put_generated_of(self, fragment: int, change: GeneratedChange) -> bool:
        """Put the properties and vectors of functions whose texts changed; return whether any did."""
        has_changed = False
        vectors = dict(_pack(change.vectors))
        for identity, texts in change.texts.items():
            row = self._run(sql.GET_PROPERTIES, (parse_id(identity), fragment)).fetchone()
            if row is None:
                raise StoreError(f"no function '{identity}' in fragment {change.key:016x}; run the command again")
            before: dict[str, object] = json.loads(row[1]) if row[1] else {}
            changes = describe_change(
                identity, find_generated(before), texts, isinstance(before.get("docstring"), list)
            )
            if changes:
                after = {name: value for name, value in (before | changes).items() if value is not None}
                self._run(sql.PUT_PROPERTIES, (dump(after) if after else None, row[0]))
                has_changed = True
            if changes and identity in vectors:
                data = vectors[identity]
                self._run(sql.PUT_NODE_VECTOR, (data, sum_vector(data), row[0]))
                self.has_replaced_vectors = True
        return has_changed

    def put_audit(self, audit: Audit, marks: Mapping[str, Collection[Leak]]) -> None:
        """Replace all marks of the audited benchmark by leaks by node id (A-16).

        Raise StoreError for an unknown node.
        """
        self._complete_indexes()
        marked = {format_id(identity % (1 << 64)) for identity, _ in self._run(sql.LIST_LEAKS).fetchall()}
        for identity in sorted(marked | marks.keys()):
            row = self._run(sql.GET_MARKED, (parse_id(identity),)).fetchone()
            if row is None:
                raise StoreError(f"no piece of code '{identity}' in the store; run the command again")
            number, fragment, packed = row
            self._put_leaks_of(number, fragment, packed, audit.benchmark, marks.get(identity, ()))
        (text,) = self._run(sql.GET_META, ("audits",)).fetchone() or (None,)
        written = write_audits(read_audits(text), audit)
        if written != text:
            self._run(sql.PUT_META, ("audits", written))
            self.changed = True

    def _put_leaks_of(
        self, number: int, fragment: int, packed: str | None, benchmark: str, leaks: Collection[Leak]
    ) -> None:
        before: dict[str, object] = json.loads(packed) if packed else {}
        texts = replace_leaks(before, benchmark, leaks)
        after = {name: value for name, value in before.items() if name != LEAKS} | ({LEAKS: texts} if texts else {})
        if after != before:
            self._run(sql.PUT_PROPERTIES, (dump(after) if after else None, number))
            self._unsealed.add(fragment)
            self.changed = True

    def _put_libraries(self, source: str, number: int, names: Iterable[str]) -> None:
        for name in names:
            if (source, name) not in self._libraries:
                self._libraries.add((source, name))
                if self._run(sql.HAS_NODE, (parse_id(name_library(source, name)),)).fetchone() is None:
                    self._add_name(Label.LIBRARY, number, source, name)

    def flush(self) -> None:
        """Insert the collected rows."""
        self._connection.executemany(sql.PUT_NODE, self._nodes)
        self._connection.executemany(sql.PUT_VECTOR, self._vectors)
        self._nodes, self._vectors = [], []
        self._links.flush()

    def finish(self) -> None:
        """Insert the remaining rows, delete unreferenced ones, and complete the indexes."""
        self._complete_indexes()
        if self._replaced is not None:
            check_replaced(self._replaced, self._run(sql.COUNT_ALL_VECTORS).fetchone()[0])
        self._sweep()
        self._create_indexes(sql.LINK_INDEXES.values())
        if self._has_deleted:
            self._delete_orphan_names()
        if self._has_links:
            self._delete_loose_relations()
            self._delete_orphan_libraries()
        for number in sorted(self._unsealed):
            seal_fragment(self._connection, number)

    def seal(self) -> None:
        """Store the checksum of the small tables, after everything else is written."""
        seal_head(self._connection)

    def _complete_indexes(self) -> None:
        """Create the indexes that were dropped for a first load."""
        self.flush()
        self._create_indexes(sql.INDEXES.values())

    def _create_indexes(self, statements: Iterable[str]) -> None:
        for statement in statements:
            self._run(statement)

    def _find_source(self, name: str) -> int:
        if name not in self._sources:
            row = self._run(sql.FIND_SOURCE, (name,)).fetchone()
            if row is None:
                raise StoreError(f"no source '{name}' in the store; expected put_source to be called before its files")
            self._sources[name] = row[0]
        return self._sources[name]

    def _put_fragment(self, source: int, key: int, fragment: Fragment | None) -> int:
        found = self._run(sql.FIND_FRAGMENT, (sign_id(key), source)).fetchone()
        if found is not None:
            number, lacks_terms = found
            if lacks_terms and fragment is not None:  # of an older schema
                self._renew_fragment(source, number, fragment)
            return int(number)
        if fragment is None:
            raise StoreError(f"fragment {key:016x} is missing in the store; run the build again")
        self._fragment_number += 1
        number, first, last = self._fragment_number, self._node_number + 1, self._node_number + len(fragment.nodes)
        packed = pack_text(fragment.text), fragment.terms, pack_rows(fragment.calls)
        row = (number, source, sign_id(key), first, last, *packed)
        self._run(sql.PUT_FRAGMENT, (*row, self._add_nodes(source, row, fragment)))
        return int(number)

    def _renew_fragment(self, source: int, number: int, fragment: Fragment) -> None:
        """Replace the nodes of a fragment of an older schema."""
        self.flush()
        first, last = self._run(sql.GET_FRAGMENT_RANGE, (number,)).fetchone()
        self._run(sql.DELETE_VECTORS, (first, last))
        self._run(sql.DELETE_NODES, (first, last))
        first = self._node_number + 1
        self._add_nodes(source, (number,), fragment)
        packed = pack_text(fragment.text), fragment.terms, pack_rows(fragment.calls)
        self._run(sql.RENEW_FRAGMENT, (first, self._node_number, *packed, number))
        self._unsealed.add(number)

    def _add_nodes(self, source: int, row: Row, fragment: Fragment) -> int:
        """Add the nodes of a fragment and their vectors; return the checksum of its row, which begins with its number.

        Rows are inserted in batches: a file may have a hundred thousand.
        """
        fragment_number, number, waiting = row[0], self._node_number, len(self._nodes)
        self._node_number += len(fragment.nodes)
        first, vectors, summed = number + 1, _pack_some(fragment.vectors), RowsChecksum(row, len(fragment.nodes))
        labels, kinds, embedded = sql.LABEL_NUMBERS, sql.KIND_NUMBERS, EMBEDDED_LABELS
        for node in fragment.nodes:
            identity, label, parent, name, qualname, kind, start, end, top, bottom, content, properties = node
            number += 1
            is_named = label not in _UNNAMED
            self._nodes.append(
                (
                    number, sign_id(identity), labels[label], source, fragment_number,
                    first + parent if parent >= 0 else None,
                    name if is_named else None, (None if qualname == name else qualname) if is_named else name,
                    kinds[kind or ""], start, end, top, bottom, sign_id(content),
                    dump(properties) if properties else None,
                )
            )  # fmt: skip
            if label in embedded:
                self._vectors.append((number, data := next(vectors), sum_vector(data)))
            if len(self._nodes) > FLUSH_AT:
                summed.add(self._nodes[waiting:])
                self.flush()
                waiting = 0
        summed.add(self._nodes[waiting:])
        return summed.value

    def _delete_unit(self, source: int, path: str) -> None:
        row = self._run(sql.FIND_UNIT, (source, path)).fetchone()
        if row is not None:
            self._release_unit(*row)
            self.changed = True

    def _release_unit(self, unit: int, identity: int) -> None:
        self._deleted_units.add(identity)
        self.flush()
        self._links.delete(unit)
        self._released.update(number for (number,) in self._run(sql.LIST_PARTS, (unit,)))
        self._run(sql.DELETE_PARTS, (unit,))
        self._run(sql.DELETE_UNIT, (unit,))
        # The new content of a file has the key of the old content, whose fragment must be deleted first.
        self._sweep()

    def _sweep(self) -> None:
        """Delete the released fragments that no unit holds."""
        for number in sorted(self._released):
            if self._run(sql.IS_FRAGMENT_USED, (number,)).fetchone() is None:
                self._delete_fragment(number)
        self._released.clear()

    def _delete_orphan_names(self) -> None:
        found = self._run(sql.ORPHAN_NAMES).fetchall()
        self._deleted_nodes.update(identity for _, identity in found)
        self._connection.executemany(sql.DELETE_VECTORS, [(number, number) for number, _ in found])
        self._delete_nodes(number for number, _ in found)

    def _delete_orphan_libraries(self) -> None:
        self._delete_nodes(number for (number,) in self._run(sql.ORPHAN_LIBRARIES).fetchall())
        self._libraries.clear()

    def _delete_nodes(self, numbers: Iterable[int]) -> None:
        self._connection.executemany(sql.DELETE_NODES, ((number, number) for number in numbers))

    def _delete_loose_relations(self) -> None:
        """Delete the relationships of deleted ids, except those inserted again (docs/schema.md)."""
        kept = {identity for (identity,) in self._run(sql.LIST_UNIT_IDS)} if self._deleted_units else set()
        self._links.delete_loose(sorted(self._deleted_nodes) + sorted(self._deleted_units - kept))

    def _delete_fragment(self, number: int) -> None:
        self._has_deleted = True
        first, last = self._run(sql.GET_FRAGMENT_RANGE, (number,)).fetchone()
        if self._has_links:
            self._deleted_nodes.update(identity for (identity,) in self._run(sql.LIST_IDS, (first, last)))
        self._run(sql.DELETE_VECTORS, (first, last))
        self._run(sql.DELETE_NODES, (first, last))
        self._run(sql.DELETE_FRAGMENT, (number,))


def _pack_some(vectors: npt.NDArray[np.float16]) -> Iterator[bytes]:
    """Yield the packed bytes of each vector of a matrix, float16 [n, dimension]."""
    from pkg.vectors.quantised import pack_vectors

    for low in range(0, len(vectors), FLUSH_AT):
        yield from pack_vectors(vectors[low : low + FLUSH_AT])


def _pack(vectors: Mapping[str, npt.NDArray[np.float16]]) -> Iterator[tuple[str, bytes]]:
    """Yield the name and packed bytes of each vector."""
    import numpy as np

    from pkg.vectors.quantised import pack_vectors

    if vectors:
        yield from zip(vectors, pack_vectors(np.stack(list(vectors.values()))), strict=True)
