"""A killed build leaves the old graph or the new one, both valid, and the next build completes it.

PKG_KILLS sets the number of kills (6 by default); the moments are random with a fixed seed.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from pkg.errors import StoreMissingError
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.indexing.build import build

KILLS = int(os.environ.get("PKG_KILLS", "6"))
QUICK = (1, 3)  # of a first build at any time, and of an update at its commit; others are slow tests
SCHEMA_BYTES = 500_000  # the log grows beyond this only when a build commits
PATIENCE = 60  # seconds for the immediate end of a process


@dataclass(frozen=True)
class Scene:
    """A package in its second version, a store of its first, and results and times of undisturbed builds."""

    repository: Path
    stores: Path  # the files of a store that holds the first version
    graphs: dict[int | None, str | None]  # generation after the kill -> digest of its export
    time_build: Callable[[int], float]  # wall time of a whole build by a number of workers


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """Copy an installed package, build its first version, then change every second file."""
    folder = tmp_path_factory.mktemp("scene")
    repository, stores = folder / "package", folder / "stores"
    package = find_spec("click")
    assert package is not None
    assert package.origin is not None
    shutil.copytree(Path(package.origin).parent, repository, ignore=shutil.ignore_patterns("__pycache__"))
    first = build_in_process(repository, stores / "graph.db")
    change(repository)
    second = build_in_process(repository, folder / "second.db")

    @cache
    def time_build(workers: int) -> float:
        return time_whole_build(repository, folder / f"{workers}.db", workers)

    return Scene(repository, stores, {None: None, 0: None, 1: first, 2: second}, time_build)


def change(repository: Path) -> None:
    """Edit every second file, remove one and add one."""
    files = sorted(repository.rglob("*.py"))
    for number, path in enumerate(files[::2]):
        text = path.read_text(encoding="utf-8")
        path.write_text(f"import added_{number}\n{text}\n\ndef added(value):\n    if value:\n        return {number}\n")
    files[1].unlink()
    (repository / "new.py").write_text("def brand_new():\n    return [x for x in ()]\n")


def command(repository: Path, store: Path, workers: int) -> list[str]:
    address = ["--source", "package", "--store", f"sqlite:///{store}"]
    return [sys.executable, "-m", "pkg.cli", "build", str(repository), *address, "--jobs", str(workers)]


def time_whole_build(repository: Path, store: Path, workers: int) -> float:
    start = time.monotonic()
    subprocess.run(command(repository, store, workers), check=True, capture_output=True)
    return time.monotonic() - start


def build_in_process(repository: Path, store: Path) -> str:
    with closing(EmbeddedStore(store, create=True)) as target:
        build(str(repository), target, source="package")
        assert target.check() == []
    return digest(store)


def digest(store: Path) -> str:
    """Hash the export of a store, byte for byte."""
    with closing(EmbeddedStore(store)) as opened:
        return hash_export(opened)


def hash_export(store: EmbeddedStore) -> str:
    hasher = hashlib.sha256()
    for line in store.export(vectors=True):
        hasher.update(json.dumps(line).encode())
    return hasher.hexdigest()


def kill_build(arguments: list[str], log: Path | None, seconds: float) -> int:
    """Kill a build after a while, counted from its start or from its commit, which is when the log grows.

    Gives its exit status once none of its processes is left.
    """
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    while log is not None and process.poll() is None and not (log.exists() and log.stat().st_size > SCHEMA_BYTES):
        time.sleep(0.0005)
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    # Workers inherit the pipes: they end, and communicate returns, only when the last of them is gone.
    process.communicate(timeout=PATIENCE)
    return process.returncode


def look(store: Path) -> tuple[int | None, str | None]:
    """Return generation and digest of the store after a kill; both None without a store."""
    try:
        opened = EmbeddedStore(store)
    except StoreMissingError:
        return None, None
    with closing(opened):
        assert opened.check() == []
        return opened.generation(), hash_export(opened) if opened.generation() else None


@pytest.mark.parametrize(
    "number", [pytest.param(number, marks=() if number in QUICK else pytest.mark.slow) for number in range(KILLS)]
)
def test_a_killed_build_leaves_the_old_or_the_new_graph(
    scene: Scene, tmp_path: Path, number: int, record_property: Callable[[str, object], None]
) -> None:
    draw = random.Random(number)
    workers, is_new = 1 + number % 2, number // 2 % 2 == 0
    store, log = tmp_path / "graph.db", None
    moment = draw.uniform(0.05, 1)
    if number % 3 == 0:  # the commit, the vector codes and the emptying of the log take a few hundredths of a second
        log, moment = tmp_path / "graph.db-wal", draw.uniform(0, 0.04)
    else:
        moment *= scene.time_build(workers)

    status = 0
    while status != -signal.SIGKILL:  # a build that ends before the kill is killed sooner
        shutil.rmtree(tmp_path)
        tmp_path.mkdir() if is_new else shutil.copytree(scene.stores, tmp_path)
        status = kill_build(command(scene.repository, store, workers), log, moment)
        moment *= 0.8

    generation, found = look(store)
    if is_new:  # its first generation is the second version
        assert generation in (None, 0, 1)
        assert found == scene.graphs[2 if generation == 1 else generation]
    else:
        assert generation in (1, 2)
        assert found == scene.graphs[generation]
    record_property("outcome", f"workers {workers}, new {is_new}, generation {generation}")
    assert build_in_process(scene.repository, store) == scene.graphs[2]
