"""Build a graph for each commit that issues are of, the next from a copy of the last one, and keep them in a cache."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from unittest.mock import patch

from localise_data import Instance, Repositories
from measure import ROOT

from pkg.graph.opening import open_store
from pkg.indexing.build import build_input
from pkg.indexing.build_plan import BuildOptions
from pkg.indexing.inputs import find_input
from pkg.indexing.report import StageClock

PARTS = ("", "-terms", "-vectors")  # of a store, that are worth a copy


def build_graphs(instances: Sequence[Instance], repositories: Repositories, cache: Path) -> Iterator[Instance]:
    """Give each instance when its graph is there, repository by repository."""
    ordered = sorted(instances, key=lambda each: each.repository)
    for name, group in groupby(ordered, key=lambda each: each.repository):
        by_commit: dict[str, list[Instance]] = {}
        for each in group:
            by_commit.setdefault(each.commit, []).append(each)
        before: Path | None = None
        for commit in repositories.sort(name, list(by_commit)):
            before = build_graph(repositories.find(name), commit, cache, before)
            yield from by_commit[commit]


def place_graph(commit: str, cache: Path) -> Path:
    """Tell where the graph of a commit lies."""
    return cache / f"graphs-{fingerprint_code()}" / f"{commit}.db"


@lru_cache(maxsize=1)
def fingerprint_code() -> str:
    """Fingerprint the code that makes graphs, but for links: graphs that other code has made are left alone."""
    digest = blake2b(digest_size=4)
    for folder in ("encode", "extract", "graph", "indexing", "terms", "vectors"):
        for path in sorted((ROOT / "pkg" / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def build_graph(repository: Path, commit: str, cache: Path, before: Path | None) -> Path:
    """Build the graph of a commit, from that of another commit where there is one; give its place."""
    place = place_graph(commit, cache)
    if place.exists():
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    work = place.with_suffix(".tmp.db")
    for part in PARTS:
        Path(f"{work}{part}").unlink(missing_ok=True)
        if before is not None and Path(f"{before}{part}").exists():
            shutil.copyfile(f"{before}{part}", f"{work}{part}")
    _write_graph(repository, commit, work)
    for part in reversed(PARTS):  # the database last: where it is, all is
        if Path(f"{work}{part}").exists():
            Path(f"{work}{part}").rename(f"{place}{part}")
    print(f"built {place.name}", file=sys.stderr)
    return place


def _write_graph(repository: Path, commit: str, place: Path) -> None:
    """Build without links, which no search reads and which take longer than all the rest."""
    found = find_input(f"{repository}@{commit}", "code", None, None)
    found = replace(found, source=replace(found.source, root=str(repository)))  # one source, whatever the commit
    with (
        closing(open_store(f"sqlite:///{place}", create=True)) as store,
        patch("pkg.indexing.resolution.put_links", lambda *_: []),
    ):
        build_input(found, store, BuildOptions(), StageClock())
