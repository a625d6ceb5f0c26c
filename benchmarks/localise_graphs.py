"""Build a cached graph for each commit of an issue, each from a copy of the previous one."""

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

PARTS = ("", "-terms", "-vectors", "-sum")  # of a store, worth copying


def build_graphs(instances: Sequence[Instance], repositories: Repositories, cache: Path) -> Iterator[Instance]:
    """Yield each instance once its graph is built, repository by repository."""
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
    """Return the path of the graph of a commit."""
    return cache / f"graphs-{fingerprint_code()}" / f"{commit}.db"


@lru_cache(maxsize=1)
def fingerprint_code() -> str:
    """Return the fingerprint of the code that builds graphs, except for links: it invalidates graphs of other code."""
    digest = blake2b(digest_size=4)
    for folder in ("encode", "extract", "graph", "indexing", "terms", "vectors"):
        for path in sorted((ROOT / "pkg" / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def build_graph(repository: Path, commit: str, cache: Path, before: Path | None) -> Path:
    """Build the graph of a commit, from that of another commit if there is one; return its path."""
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
    for part in reversed(PARTS):  # the database last: once it exists, all parts do
        if Path(f"{work}{part}").exists():
            Path(f"{work}{part}").rename(f"{place}{part}")
    print(f"built {place.name}", file=sys.stderr)
    return place


def _write_graph(repository: Path, commit: str, place: Path) -> None:
    """Build without links, which no search reads and which take longer than all other stages."""
    found = find_input(f"{repository}@{commit}", "code", None, None)
    found = replace(found, source=replace(found.source, root=str(repository)))  # one source, whatever the commit
    with (
        closing(open_store(f"sqlite:///{place}", create=True)) as store,
        patch("pkg.indexing.solved_links.put_links", lambda *_: None),
    ):
        build_input(found, store, BuildOptions(), StageClock())
