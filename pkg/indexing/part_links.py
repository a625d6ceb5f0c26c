"""Resolve a large source part by part, and store the links of the files whose links have changed (A-12).

After an edit, the parts with edited files are solved, then those that import a part whose results have changed.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

from pkg.indexing.solved_links import digest_soundly, extract_again, move_links
from pkg.indexing.spool import Spool
from pkg.local_errors import LocalErrors
from pkg.model import Import
from pkg.resolution.link_record import (
    NO_DIGEST,
    FileLinks,
    LinkRecord,
    cut_record,
    pack_links,
    pack_unit,
    place_links,
    unpack_unit,
)
from pkg.resolution.machine import Machine
from pkg.resolution.module_map import ModuleMap
from pkg.resolution.site_links import LinkWriter
from pkg.resolution.solved_parts import SHARED, SolvedFiles, list_results, read_outline, read_values, solve_part
from pkg.resolution.source_parts import Part, order_parts
from pkg.units import UnitLinks, UnitText

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore, StoreWriter
    from pkg.indexing.build_plan import Change

_NONE = LinkRecord(NO_DIGEST, b"")
_KEY = 16  # bytes


class _Records(Mapping[str, LinkRecord]):
    """The sound records of a source, read when they are needed."""

    def __init__(self, notes: Mapping[str, bytes]) -> None:
        self._notes = notes

    def __getitem__(self, path: str) -> LinkRecord:
        """Return the record of a file; an empty one where it is damaged or of another version."""
        return cut_record(self._notes[path]) or _NONE

    def __iter__(self) -> Iterator[str]:
        return iter(self._notes)

    def __len__(self) -> int:
        return len(self._notes)


class _Units:
    """Extracted files of a source: new ones, and unchanged ones by their records; texts are those in the store."""

    def __init__(
        self, store: GraphStore, source: str, change: Change, records: Mapping[str, LinkRecord], errors: LocalErrors
    ) -> None:
        self._store, self._source, self._change = store, source, change
        self._records, self._errors = records, errors

    def read(self, path: str) -> UnitText:
        """Return a file."""
        found = self._change.fresh.get(path)
        if found is None:
            ((_, text),) = self._store.texts(self._source, [path])
            packed = self._records.get(path, _NONE).unit
            if packed:
                return unpack_unit(self._source, path, packed, text)
            (found,) = extract_again(self._source, [(path, text)], self._errors)
        return found

    def list_imports(self, path: str) -> Sequence[Import]:
        """Return the imports of a file, without reading its text if it is unchanged."""
        packed = b"" if path in self._change.fresh else self._records.get(path, _NONE).unit
        return unpack_unit(self._source, path, packed).imports if packed else self.read(path).imports


class _PartUnits(Mapping[str, UnitText]):
    """Some files of a source, each read once."""

    def __init__(self, units: _Units, paths: tuple[str, ...]) -> None:
        self._units, self._paths = units, paths
        self._read: dict[str, UnitText] = {}
        self._known = frozenset(paths)

    def __getitem__(self, path: str) -> UnitText:
        """Return a file; KeyError where it is of no imported part."""
        found = self._read.get(path)
        if found is None:
            if path not in self._known:
                raise KeyError(path)
            found = self._read[path] = self._units.read(path)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


class PartLinks:
    """The links of a source that is resolved by parts."""

    def __init__(
        self,
        store: GraphStore,
        writer: StoreWriter,
        source: str,
        change: Change,
        notes: Mapping[str, bytes],
        errors: LocalErrors,
    ) -> None:
        """Begin a resolution; notes are those of all files from before the change."""
        self._writer, self._source, self._change = writer, source, change
        self._notes, self._errors = notes, errors
        self._records = _Records(notes)
        self._units = _Units(store, source, change, self._records, errors)
        self._results = Spool()  # of solved files, and under names of parts what belongs to no file
        self._keys: list[bytes] = []  # of the parts before: equal keys mean equal results

    def put(self, folders: Mapping[str, str]) -> None:
        """Resolve the parts that the change affects; folders: the folder of the part of each file."""
        if not self._change.is_moved and all(self._records.get(each, _NONE).digest != NO_DIGEST for each in folders):
            moved = move_links(self._change, self._records, self._errors)
            if moved is not None:
                self._writer.put_links(self._source, moved)
                return
        imports = ((path, self._units.list_imports(path)) for path in folders)
        parts = order_parts(folders, imports, ModuleMap(folders, self._change.package))
        for part in parts:
            key = _hash(self._change.package, part.paths, [self._keys[each] for each in part.imported])
            if not self._keep(part, key):
                self._solve(part, [parts[each] for each in part.imported], key)
                gc.collect(0)  # what this part has made; a build disables collection

    def _keep(self, part: Part, key: bytes) -> bool:
        """Return whether the links of a part stay as they are, and note its results."""
        before, result, shared = _cut_part(self._records.get(part.paths[0], _NONE).part)
        is_kept = before == key and all(
            each not in self._change.fresh and self._records[each].digest != NO_DIGEST for each in part.paths
        )
        if is_kept:
            self._keys.append(result)
            self._results[_name(part)] = shared
        return is_kept

    def _solve(self, part: Part, imported: list[Part], key: bytes) -> None:
        """Solve a part, and store its links and results."""
        before = len(self._errors)
        solved = tuple(path for each in imported for path in each.paths if self._find_results(path))
        units = _PartUnits(self._units, part.paths + solved)
        try:
            machine = self._open(units, imported, solved)
        except Exception as fault:
            self._errors.note(fault, "resolve", part.paths[0])
            self._keys.append(b"")
            self._writer.put_links(self._source, (_write_nothing(path) for path in part.paths))
            return
        links = LinkWriter(self._source, machine)
        found = {path: links.list_links(path) for path in part.paths}
        results = dict(list_results(machine, part.paths))
        self._keys.append(_hash([(path, each.digest()) for path, each in sorted(results.items())]))
        packed = {path: each.pack() for path, each in results.items()}
        shared = packed.pop(SHARED)
        self._results.update(packed)
        self._results[_name(part)] = shared
        head = key + self._keys[-1] + shared
        is_sound = len(self._errors) == before
        self._writer.put_links(self._source, self._write(part, units, found, packed, head, is_sound))
        machine.release()

    def _open(self, units: Mapping[str, UnitText], imported: list[Part], solved: Iterable[str]) -> Machine:
        """Solve a part by the results of those that it imports; solved: the paths of their files."""
        outlines = {path: read_outline(self._find_results(path)) for path in solved}
        shared = (self._results.get(_name(each)) for each in imported)
        found = SolvedFiles(
            outlines,
            [read_values(each) for each in shared if each],
            lambda path: read_values(self._find_results(path)),
        )
        return solve_part(units, self._change.package, self._errors, found)

    def _find_results(self, path: str) -> bytes:
        """Return the packed results of a file; none where it could not be solved."""
        return self._results.get(path) or self._records.get(path, _NONE).results

    def _write(
        self,
        part: Part,
        units: Mapping[str, UnitText],
        found: Mapping[str, FileLinks],
        results: Mapping[str, bytes],
        head: bytes,
        is_sound: bool,
    ) -> Iterator[UnitLinks]:
        """Yield the links of edited files, and of those whose record has changed."""
        for path, links in found.items():
            unit = units[path]
            digest = digest_soundly(unit, self._errors) if is_sound else NO_DIGEST
            record = LinkRecord(digest, pack_links(links), pack_unit(unit), results=results.get(path, b""))
            packed = record._replace(part=head if path == part.paths[0] else b"").pack()
            if path in self._change.fresh or self._notes.get(path) != packed:
                placed = None
                with self._errors.keep("link", path):
                    placed = place_links(unit, links, packed)
                yield placed or _write_nothing(path)


def _write_nothing(path: str) -> UnitLinks:
    """Return no links of a file: old ones may lead to removed nodes."""
    return UnitLinks(path, notes=LinkRecord(NO_DIGEST, pack_links(FileLinks())).pack())


def _name(part: Part) -> str:
    """Return the name of what belongs to no file of a part, among the results."""
    return f"\0{part.paths[0]}"


def _hash(*facts: object) -> bytes:
    return blake2b(repr(facts).encode("utf-8", "surrogatepass"), digest_size=_KEY).digest()


def _cut_part(packed: bytes) -> tuple[bytes, bytes, bytes]:
    """Return the key of a part's inputs, that of its results, and the results of no file."""
    return packed[:_KEY], packed[_KEY : 2 * _KEY], packed[2 * _KEY :]
