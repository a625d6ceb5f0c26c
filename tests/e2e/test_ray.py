"""Builds on the workers of a real Ray: the bytes of one process, also where a worker is killed in the middle."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import pytest
import rich
from trees import export_lines, open_graph_at, write_rows

from pkg.cluster.outcomes import Outcomes
from pkg.cluster.ray_workers import RayWorkers
from pkg.errors import StoreError
from pkg.graph.opening import open_store
from pkg.indexing.build import build
from pkg.indexing.build_plan import BuildOptions
from pkg.indexing.inputs import find_input
from pkg.indexing.partitions import Cluster, Partition, open_cluster, prepare_partition
from pkg.indexing.set_building import build_set

pytestmark = pytest.mark.cluster

PACKAGE = str(Path(rich.__file__).parent)


def test_a_cluster_that_does_not_answer_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(StoreError, match="no Ray cluster answers at auto"),
        open_cluster(str(tmp_path), ray="auto"),
    ):
        pass


@pytest.fixture(scope="module")
def workers() -> Iterator[RayWorkers]:
    """Start a Ray of two workers, which takes some 20 seconds."""
    with closing(RayWorkers("local", 2)) as started:
        assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
        yield started


def make_cluster(workers: RayWorkers, folder: Path) -> Cluster:
    folder.mkdir()
    return Cluster(workers, Outcomes(folder))


def kill_a_task(killed: list[int]) -> None:
    """Kill the first worker of Ray that is seen at work on a partition."""
    end = time.monotonic() + 300
    while time.monotonic() < end and not killed:
        for process in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError):
                if Path(f"/proc/{process}/cmdline").read_bytes().startswith(b"ray::_run"):
                    time.sleep(0.3)  # it is in the middle of its work
                    os.kill(int(process), signal.SIGKILL)
                    killed.append(int(process))
                    break
        time.sleep(0.02)


def test_ray_workers_make_the_bytes_of_one_process_after_a_kill(tmp_path: Path, workers: RayWorkers) -> None:
    with closing(open_graph_at(tmp_path / "one.db")) as store:
        build(PACKAGE, store)
        expected = export_lines(store)
    killed: list[int] = []
    killer = threading.Thread(target=kill_a_task, args=(killed,), daemon=True)
    killer.start()
    with closing(open_graph_at(tmp_path / "two.db")) as store:
        build(PACKAGE, store, BuildOptions(cluster=make_cluster(workers, tmp_path / "work")))
        assert export_lines(store) == expected
    killer.join()
    assert len(killed) == 1


def test_ray_workers_build_the_members_of_a_set(tmp_path: Path, workers: RayWorkers) -> None:
    corpus = write_rows(tmp_path / "c.jsonl", *(f"def f{number}(x):\n    return x\n" for number in range(50)))
    found = find_input(str(corpus), None, None, None)
    cluster = make_cluster(workers, tmp_path / "work")
    assert build_set(found, tmp_path / "set", 3, BuildOptions(), cluster).written == 50
    with (
        closing(open_store(f"sqlite-set:///{tmp_path / 'set'}")) as store,
        closing(open_graph_at(tmp_path / "one.db")) as one,
    ):
        build(str(corpus), one)
        assert export_lines(store) == export_lines(one)


def test_an_exception_of_a_task_arrives_as_it_was(tmp_path: Path, workers: RayWorkers) -> None:
    task = partial(prepare_partition, str(tmp_path), "lib", "static", {})
    with pytest.raises(StoreError, match=r"a\.units cannot be read"):
        list(workers.map(task, [Partition("a.units", "a.graph")]))
