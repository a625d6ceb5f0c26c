"""Find files of an answer that have changed since the build; only these files are examined.

A file with the size and times of its build is not read. Others are hashed: a copy or a touch is no change.
"""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from pkg.errors import PathError
from pkg.extract.files import DEFAULT_MAX_FILE_SIZE, SUFFIXES, make_fingerprint, read_file, restore_path
from pkg.extract.input_options import STDIN, is_same_file, parse_fingerprint
from pkg.extract.row_files import find_row_files, is_address, is_many, stamp_files
from pkg.extract.text_files.text_kinds import MAX_TEXT_SIZE
from pkg.model import Hit, QueryResult, Source, Stale
from pkg.retrieval.deps.paths import name_unit
from pkg.units import format_id, hash_bytes

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore


def mark_hits(store: GraphStore, result: QueryResult) -> QueryResult:
    """Mark the hits of a query, and their helpers, whose files have changed or are gone since the build."""
    stale = find_stale(store, _list_shown(result.hits))
    if not stale:
        return result
    marks = StaleMarks(stale)
    hits = tuple(_mark_hit(hit, marks) for hit in result.hits)
    return replace(result, hits=hits, coverage=replace(result.coverage, stale=stale))


def _list_shown(hits: Iterable[Hit]) -> Iterator[tuple[str, str]]:
    for hit in hits:
        yield from ((hit.source, path) for path in (hit.path, *(helper.path for helper in hit.helpers)))


def _mark_hit(hit: Hit, marks: StaleMarks) -> Hit:
    helpers = tuple(replace(each, is_stale=marks.holds(hit.source, each.path)) for each in hit.helpers)
    return replace(hit, helpers=helpers, is_stale=marks.holds(hit.source, hit.path))


class StaleMarks:
    """The stale files of an answer; of a source that is gone as a whole, single files are not known."""

    def __init__(self, stale: Iterable[Stale]) -> None:
        self._places = {(each.source, each.path) for each in stale if each.path}

    def holds(self, source: str, path: str) -> bool:
        """Return whether a file is stale."""
        return (source, path) in self._places


def find_stale(store: GraphStore, shown: Iterable[tuple[str, str]]) -> tuple[Stale, ...]:
    """Find the stale ones among files given by source and path, in order; a missing source is reported once.

    A git revision and rows read from a pipe never become stale, and a bucket is not asked.
    """
    paths: dict[str, set[str]] = defaultdict(set)
    for source, path in shown:
        if path:
            paths[source].add(path)
    known = {source.name: source for source in store.sources() if source.name in paths}
    return tuple(stale for name in sorted(known) for stale in _check_source(store, known[name], paths[name]))


def _check_source(store: GraphStore, source: Source, paths: Collection[str]) -> list[Stale]:
    if source.revision is not None or source.root == STDIN:
        return []
    root = restore_path(source.root)
    if source.kind == "corpus" and is_many(root):
        return [] if is_address(root) else _check_row_files(store, source, root)
    try:
        info = os.stat(root)
    except OSError as fault:
        return [Stale(source.name, source.root, "", _name_state(fault))]
    if stat.S_ISDIR(info.st_mode):
        places = {path: os.path.join(root, restore_path(path)) for path in paths}
        states = _check_units(store, source, {path: _DiskFile(place) for path, place in places.items()})
    elif source.kind == "corpus":
        return _check_corpus(store, source, info)
    elif root.lower().endswith(SUFFIXES):
        states = _check_units(store, source, {path: _DiskFile(root) for path in paths})
    else:
        states = _check_archive(store, source, info, paths)
    return [Stale(source.name, source.root, path, state) for path, state in sorted(states.items())]


@dataclass(frozen=True, slots=True)
class _DiskFile:
    """A file on disk."""

    place: str

    def compare(self, fingerprint: str, content_hash: str) -> str | None:
        """Return the change since a fingerprint and content hash were taken; None if there is none."""
        try:
            info = os.stat(self.place)
        except OSError as fault:
            return _name_state(fault)
        size = fingerprint.partition("-")[0] or str(info.st_size)  # imported files have no fingerprint
        if not stat.S_ISREG(info.st_mode) or str(info.st_size) != size:
            return "changed"
        if make_fingerprint(info) == fingerprint:
            return None
        return _compare_content(partial(read_file, self.place, info.st_size), content_hash)


@dataclass(frozen=True, slots=True)
class _Member:
    """A file in an archive."""

    fingerprint: str
    read: Callable[[], bytes]

    def compare(self, fingerprint: str, content_hash: str) -> str | None:
        """Return the change since a fingerprint and content hash were taken; None if there is none."""
        return None if self.fingerprint == fingerprint else _compare_content(self.read, content_hash)


def _compare_content(read: Callable[[], bytes], content_hash: str) -> str | None:
    try:
        text = read()
    except PathError:
        return "unreadable"
    return None if format_id(hash_bytes(text)) == content_hash else "changed"


def _check_units(store: GraphStore, source: Source, files: Mapping[str, _DiskFile | _Member]) -> dict[str, str]:
    """Return the state of each changed file, by path."""
    states = {
        path: files[path].compare(fingerprint, content or _read_hash(store, source.name, path))
        for path, fingerprint, content in store.fingerprints(source.name, files)
    }
    return {path: state for path, state in states.items() if state is not None}


def _read_hash(store: GraphStore, source: str, path: str) -> str:
    """Read the hash of a file that the next build must read in any case, as after an upgrade of the store."""
    return store.get([name_unit(source, path)])[0].content_hash


def _check_corpus(store: GraphStore, source: Source, info: os.stat_result) -> list[Stale]:
    """Compare the file of the rows by size and time alone: reading all rows would take longer than the answer."""
    stamp, _ = parse_fingerprint(store.source_fingerprint(source.name) or "")
    is_known = bool(stamp) and not is_same_file(stamp, info)
    return [Stale(source.name, source.root, "", "changed")] if is_known else []


def _check_row_files(store: GraphStore, source: Source, place: str) -> list[Stale]:
    """Compare the files of a corpus by name, size and time."""
    stamp, _ = parse_fingerprint(store.source_fingerprint(source.name) or "")
    try:
        found = stamp_files(find_row_files(place))
    except PathError:
        return [Stale(source.name, source.root, "", "gone")]
    is_changed = bool(stamp) and stamp.partition("-")[0] != found.partition("-")[0]
    return [Stale(source.name, source.root, "", "changed")] if is_changed else []


def _check_archive(store: GraphStore, source: Source, info: os.stat_result, paths: Collection[str]) -> dict[str, str]:
    """Compare the files of an archive that was written since its build."""
    stamp, options = parse_fingerprint(store.source_fingerprint(source.name) or "")
    if is_same_file(stamp, info):
        return {}
    from pkg.extract.discovery import discover  # not imported for an unchanged archive

    try:
        found = discover(
            restore_path(source.root),
            options.max_file_size or DEFAULT_MAX_FILE_SIZE,
            max_text_size=options.max_file_size or MAX_TEXT_SIZE,
            has_documents=options.has_documents,
        )
    except PathError:
        return {"": "unreadable"}
    members = {entry.path: _Member(entry.fingerprint, entry.read) for entry in found.entries if entry.path in paths}
    gone = {path: "gone" for path in paths if path not in members}
    return gone | _check_units(store, source, members)


def _name_state(fault: OSError) -> str:
    return "gone" if isinstance(fault, FileNotFoundError | NotADirectoryError) else "unreadable"


@dataclass(frozen=True, slots=True)
class _Scan:
    """Result of one walk through a source."""

    stamp: str  # generation that it was compared with
    folders: Mapping[str, int]  # walked folders with their modification times, which change with every file added
    added: tuple[Stale, ...]

    @property
    def holds(self) -> bool:
        """Return whether no file was added to the folders or removed from them since."""
        try:
            return all(os.stat(place).st_mtime_ns == time for place, time in self.folders.items())
        except OSError:
            return False


class AddedFiles:
    """Files missing from a graph; a source is walked again only after one of its folders has changed."""

    def __init__(self) -> None:
        self._scans: dict[tuple[str, str], _Scan] = {}

    def find(self, store: GraphStore, source: str | None) -> tuple[Stale, ...]:
        """Find the files added to the folders of all sources, or of one, by source and path."""
        chosen = [each for each in store.sources() if source in (None, each.name) and each.revision is None]
        return tuple(stale for each in chosen if each.kind != "corpus" for stale in self._find_in(store, each))

    def _find_in(self, store: GraphStore, source: Source) -> tuple[Stale, ...]:
        key, stamp = (store.address, source.name), store.stamp()
        known = self._scans.get(key)
        if known is None or known.stamp != stamp or not known.holds:
            known = self._scans[key] = _scan(store, source, stamp)
        return known.added


def _scan(store: GraphStore, source: Source, stamp: str) -> _Scan:
    """Walk the folder of a source as its build did; no file was added to a missing folder or another kind of root."""
    from pkg.extract.discovery import discover

    root = restore_path(source.root)
    if not os.path.isdir(root):
        return _Scan(stamp, {}, ())
    _, read = parse_fingerprint(store.source_fingerprint(source.name) or "")
    texts = None if read.code_only else read.max_file_size or MAX_TEXT_SIZE
    try:
        size = read.max_file_size or DEFAULT_MAX_FILE_SIZE
        found = discover(root, size, read.follow_links, texts, read.has_documents)
    except PathError:
        return _Scan(stamp, {}, ())
    known = {path for path, _, _ in store.fingerprints(source.name)}
    added = (each.path for each in found.entries if each.path not in known)
    return _Scan(stamp, dict(found.folders), tuple(Stale(source.name, source.root, path, "added") for path in added))
