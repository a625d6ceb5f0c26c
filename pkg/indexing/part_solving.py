"""Solve one part of a large source by files that the parts before it have left (A-12).

A task of pkg.cluster: it reads files of a folder and writes files there, in this process or in another.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from pkg.cluster.outcomes import Outcomes
from pkg.indexing.solved_links import digest_soundly
from pkg.indexing.spool import SpoolFile, cut_text_unit, write_spool
from pkg.local_errors import LocalErrors
from pkg.model import LocalError
from pkg.resolution.link_record import NO_DIGEST, FileLinks, LinkRecord, pack_links, place_links, unpack_unit
from pkg.resolution.site_links import LinkWriter
from pkg.resolution.solved_parts import (
    SHARED,
    Solution,
    SolvedFiles,
    list_results,
    read_outline,
    read_values,
    solve_part,
)
from pkg.resources import return_free_memory
from pkg.units import UnitLinks, UnitText, forget_hashes

KEY_SIZE = 16  # bytes
NO_RESULTS = bytes(KEY_SIZE)
"""In place of the digest of a part's results: they were not kept, because no part imported it."""
LINKS_AT_ONCE = 100  # files in a record


class PartJob(NamedTuple):
    """A part to be solved."""

    number: int
    key: bytes  # of its inputs
    paths: tuple[str, ...]
    imported: tuple[int, ...]  # numbers of the parts whose results it reads
    is_imported: bool  # whether its own results are read


class SolvedPart(NamedTuple):
    """A part that was solved; its links and results are in files of its number."""

    number: int
    digest: bytes  # of its results; b"" where it could not be solved
    errors: tuple[LocalError, ...]
    process: int  # that solved it
    seconds: float  # of its CPU


def name_units(number: int) -> str:
    """Return the name of the file with the extracted files of a part by path."""
    return f"units-{number}"


def name_results(number: int) -> str:
    """Return the name of the file with the results of a part by path; those of no file are under SHARED."""
    return f"results-{number}"


def name_links(number: int) -> str:
    """Return the name of the file with the links of a part."""
    return f"links-{number}"


class _PartUnits(Mapping[str, UnitText]):
    """Extracted files of a part and of those that it imports, each read once; texts are not kept."""

    def __init__(self, source: str, owners: Mapping[str, Mapping[str, bytes]]) -> None:
        """Use the packed files of the mapping that holds each path."""
        self._source, self._owners = source, owners
        self._read: dict[str, UnitText] = {}

    def __getitem__(self, path: str) -> UnitText:
        """Return a file; KeyError where it is of no imported part."""
        found = self._read.get(path)
        if found is None:
            packed, _ = self.cut(path)
            found = self._read[path] = unpack_unit(self._source, path, packed, lambda: self.cut(path)[1])
        return found

    def cut(self, path: str) -> tuple[bytes, bytes]:
        """Return a packed file and its text."""
        return cut_text_unit(self._owners[path][path])

    def __iter__(self) -> Iterator[str]:
        return iter(self._owners)

    def __len__(self) -> int:
        return len(self._owners)


def solve_job(folder: str, source: str, package: str, job: PartJob) -> SolvedPart:
    """Solve a part; write its results, and its links with the records of its files."""
    start = time.process_time()
    digest, errors = _solve(Path(folder), source, package, job)
    # A build disables collection. A full one also empties the free lists of the interpreter: each of their objects
    # would keep a megabyte that this part has used, and the next part would begin with most of it.
    forget_hashes()
    gc.collect()
    return_free_memory()
    return SolvedPart(job.number, digest, errors, os.getpid(), time.process_time() - start)


def _solve(folder: Path, source: str, package: str, job: PartJob) -> tuple[bytes, tuple[LocalError, ...]]:
    """Solve a part; return the digest of its results and its errors."""
    with ExitStack() as stack:

        def read(name: str) -> SpoolFile:
            return stack.enter_context(closing(SpoolFile(folder / name)))

        imported = {number: read(name_results(number)) for number in job.imported}
        solved = {path: number for number, results in imported.items() for path in results if path != SHARED}
        packed = {number: read(name_units(number)) for number in (job.number, *job.imported)}
        places = dict.fromkeys(job.paths, job.number) | solved
        units = _PartUnits(source, {path: packed[number] for path, number in places.items()})
        owners = {path: imported[number] for path, number in solved.items()}
        return _Job(folder, source, package, job, units).solve(owners, list(imported.values()))


class _Job:
    """A part that is being solved."""

    def __init__(self, folder: Path, source: str, package: str, job: PartJob, units: _PartUnits) -> None:
        self._folder, self._source, self._package, self._job, self._units = folder, source, package, job, units
        self._errors = LocalErrors()

    def solve(
        self, owners: Mapping[str, Mapping[str, bytes]], imported: Sequence[Mapping[str, bytes]]
    ) -> tuple[bytes, tuple[LocalError, ...]]:
        """Solve the part; return the digest of its results and its errors.

        owners: the results that hold each file of the imported parts.
        """
        solved = SolvedFiles(
            {path: read_outline(results[path]) for path, results in owners.items()},
            [read_values(results[SHARED]) for results in imported if SHARED in results],
            lambda path: read_values(owners[path][path]),
        )
        paths, digest = self._job.paths, b""
        try:
            solution = solve_part(self._units, self._package, self._errors, solved)
        except Exception as fault:
            self._errors.note(fault, "resolve", paths[0])
            write_spool(self._folder / name_results(self._job.number), ())
            self._write_links(map(write_nothing, paths))
        else:
            digest = self._put(solution)
            solution.machine.release()
        return digest, tuple(self._errors.sorted())

    def _put(self, solution: Solution) -> bytes:
        """Write the links and results of a solved part; return the digest of the results."""
        packed: dict[str, bytes] = {}
        digest = NO_RESULTS
        if self._job.is_imported:
            digests: list[tuple[str, bytes]] = []
            for path, each in list_results(solution, self._job.paths):
                digests.append((path, each.digest()))
                packed[path] = each.pack()
            digest = hash_facts(digests)
            write_spool(self._folder / name_results(self._job.number), packed.items())
        links = LinkWriter(self._source, solution.machine)
        found = {path: links.list_links(path) for path in self._job.paths}
        head = self._job.key + digest + packed.pop(SHARED, b"")
        self._write_links(self._place(found, packed, head, not len(self._errors)))
        return digest

    def _place(
        self, found: Mapping[str, FileLinks], results: Mapping[str, bytes], head: bytes, is_sound: bool
    ) -> Iterator[UnitLinks]:
        """Yield the links of each file with its record, of which the first holds what belongs to the part."""
        for path, links in found.items():
            packed_unit, text = self._units.cut(path)
            unit = unpack_unit(self._source, path, packed_unit, text)
            digest = digest_soundly(unit, self._errors) if is_sound else NO_DIGEST
            record = LinkRecord(digest, pack_links(links), packed_unit, results=results.get(path, b""))
            packed = record._replace(part=head if path == self._job.paths[0] else b"").pack()
            placed = None
            with self._errors.keep("link", path):
                placed = place_links(unit, links, packed)
            yield placed or write_nothing(path)

    def _write_links(self, links: Iterator[UnitLinks]) -> None:
        waiting: list[UnitLinks] = []
        with Outcomes(self._folder).write(name_links(self._job.number)) as append:
            for each in links:
                waiting.append(each)
                if len(waiting) == LINKS_AT_ONCE:
                    append(waiting)
                    waiting = []
            append(waiting)


def write_nothing(path: str) -> UnitLinks:
    """Return no links of a file: old ones may lead to removed nodes."""
    return UnitLinks(path, notes=LinkRecord(NO_DIGEST, pack_links(FileLinks())).pack())


def hash_facts(*facts: object) -> bytes:
    """Hash plain values to KEY_SIZE bytes."""
    return blake2b(repr(facts).encode("utf-8", "surrogatepass"), digest_size=KEY_SIZE).digest()
