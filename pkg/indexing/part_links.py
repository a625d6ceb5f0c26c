"""Resolve a large source by parts, and store the links of the files whose links have changed (A-12).

After an edit, the parts with edited files are solved, then those that import a part whose results have changed. Parts
that do not import one another may be solved at the same time, by the tasks of part_solving.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from pkg.cluster.engine import ThisProcess
from pkg.cluster.outcomes import Outcomes
from pkg.errors import count_things
from pkg.indexing.part_solving import (
    KEY_SIZE,
    NO_RESULTS,
    PartJob,
    SolvedPart,
    hash_facts,
    name_links,
    name_results,
    name_units,
    solve_job,
)
from pkg.indexing.solved_links import extract_again, move_links
from pkg.indexing.spool import pack_text_unit, write_spool
from pkg.local_errors import LocalErrors
from pkg.model import Import, Skip
from pkg.resolution.link_record import NO_DIGEST, LinkRecord, cut_record, unpack_unit
from pkg.resolution.module_map import ModuleMap
from pkg.resolution.solved_parts import SHARED
from pkg.resolution.source_parts import MOST_MERGED, Folder, Order, Part, list_waves, order_parts
from pkg.units import UnitLinks, UnitText

if TYPE_CHECKING:
    from pkg.cluster.engine import Engine
    from pkg.graph.store import GraphStore, StoreWriter
    from pkg.indexing.build_plan import Change
    from pkg.indexing.partitions import Cluster

_NONE = LinkRecord(NO_DIGEST, b"")


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

    def list_packed(self, part: Part) -> Iterator[tuple[str, bytes]]:
        """Yield every file of a part with its text, packed, by path."""
        return ((path, pack_text_unit(self.read(path))) for path in part.paths)


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

    def put(self, folders: Mapping[str, Folder], cluster: Cluster | None, seconds: dict[str, float]) -> list[Skip]:
        """Resolve the parts that the change affects; return the imports between parts that are not followed.

        folders: the folder of the part of each file. cluster: solves the parts; None for this process. seconds: get
        the CPU seconds of its workers under "resolve".
        """
        if not self._change.is_moved and all(self._records.get(each, _NONE).digest != NO_DIGEST for each in folders):
            moved = move_links(self._change, self._records, self._errors)
            if moved is not None:
                self._writer.put_links(self._source, moved)
                return []
        imports = ((path, self._units.list_imports(path)) for path in folders)
        order = order_parts(folders, imports, ModuleMap(folders, self._change.package))
        engine = cluster.engine if cluster else ThisProcess()
        place = cluster.outcomes.folder if cluster else None
        with TemporaryDirectory(dir=place, prefix=".links-", ignore_cleanup_errors=True) as folder:
            for solved in self._solve(order.parts, engine, Path(folder)):
                if solved.process != os.getpid():
                    seconds["resolve"] = seconds.get("resolve", 0.0) + solved.seconds
        return [*_describe_split_packages(folders), *_describe_left_out(order)]

    def _solve(self, parts: list[Part], engine: Engine, folder: Path) -> Iterator[SolvedPart]:
        """Solve the parts that the change affects, those that others import before these; yield each."""
        digests: dict[int, bytes] = {}  # of the results of the parts before: equal ones mean equal results
        task = partial(solve_job, str(folder), self._source, self._change.package)
        imported = {each for part in parts for each in part.imported}
        written: set[int] = set()  # parts whose extracted files tasks can read
        for wave in list_waves(parts):
            jobs = []
            for number in wave:
                part = parts[number]
                known = [digests[each] for each in part.imported]
                key = hash_facts(self._change.package, part.paths, known)
                before, digest, shared = _cut_part(self._records.get(part.paths[0], _NONE).part)
                is_missing = digest == NO_RESULTS and number in imported
                if before != key or is_missing or not self._is_unchanged(part):
                    jobs.append(PartJob(number, key, part.paths, part.imported, number in imported))
                    continue
                digests[number] = digest
                if number in imported:
                    write_spool(folder / name_results(number), self._list_results(part, shared))
            for number in {each for job in jobs for each in (job.number, *job.imported)} - written:
                write_spool(folder / name_units(number), self._units.list_packed(parts[number]))
                written.add(number)
            for solved in engine.map(task, jobs):
                digests[solved.number] = solved.digest
                self._errors.add(solved.errors)
                links = Outcomes(folder).read(name_links(solved.number))
                self._writer.put_links(self._source, self._list_changed(each for some in links for each in some))
                yield solved

    def _is_unchanged(self, part: Part) -> bool:
        """Return whether the files of a part are those that its links were found for."""
        return all(each not in self._change.fresh and self._records[each].digest != NO_DIGEST for each in part.paths)

    def _list_results(self, part: Part, shared: bytes) -> Iterator[tuple[str, bytes]]:
        """Yield the recorded results of a part by path."""
        yield SHARED, shared
        yield from ((path, results) for path in part.paths if (results := self._records[path].results))

    def _list_changed(self, links: Iterable[UnitLinks]) -> Iterator[UnitLinks]:
        """Yield the links of edited files, and of those whose record has changed."""
        return (each for each in links if each.path in self._change.fresh or self._notes.get(each.path) != each.notes)


def _describe_split_packages(folders: Mapping[str, Folder]) -> Iterator[Skip]:
    """Yield what is not followed in each package that is too large for one part."""
    files = Counter(each.package for each in folders.values())
    for package in sorted({each.package for each in folders.values() if each.package not in (None, each.path)}):
        yield Skip(
            package or ".",
            f"calls of its imported folders into those that import them are not followed: the package has"
            f" {count_things(files[package], 'file')} and is resolved in parts",
        )


def _describe_left_out(order: Order) -> Iterator[Skip]:
    for (start, end), files in order.left_out.items():
        yield Skip(
            start,
            f"imports of {end} in {count_things(files, 'file')} are not followed: each imports the other, and they are"
            f" too large to be resolved together (more than {MOST_MERGED:,} files)",
        )


def _cut_part(packed: bytes) -> tuple[bytes, bytes, bytes]:
    """Return the key of a part's inputs, that of its results, and the results of no file."""
    return packed[:KEY_SIZE], packed[KEY_SIZE : 2 * KEY_SIZE], packed[2 * KEY_SIZE :]
