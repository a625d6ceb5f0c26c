"""Find files added to the folders of a graph's sources since the build: no answer can include them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pkg.errors import PathError
from pkg.extract.files import DEFAULT_MAX_FILE_SIZE, restore_path
from pkg.extract.input_options import parse_fingerprint
from pkg.extract.text_files.text_kinds import MAX_TEXT_SIZE
from pkg.model import Source, Stale

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore


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
        found = discover(root, read.max_file_size or DEFAULT_MAX_FILE_SIZE, read.follow_links, texts)
    except PathError:
        return _Scan(stamp, {}, ())
    known = {path for path, _, _ in store.fingerprints(source.name)}
    added = (each.path for each in found.entries if each.path not in known)
    return _Scan(stamp, dict(found.folders), tuple(Stale(source.name, source.root, path, "added") for path in added))
