"""Builds on the workers of a real Ray: the bytes of one process, also where a worker is killed in the middle."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import pytest
import rich
from trees import export_lines, open_graph_at, write_rows

from pkg.api import build_graph
from pkg.cluster.ray_workers import RayWorkers
from pkg.errors import StoreError
from pkg.indexing.build import build
from pkg.indexing.build_plan import BuildOptions
from pkg.indexing.partitions import Partition, open_cluster, prepare_partition

pytestmark = pytest.mark.cluster

PACKAGE = str(Path(rich.__file__).parent)


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


def test_ray_workers_make_the_bytes_of_one_process_after_a_kill(tmp_path: Path) -> None:
    with closing(open_graph_at(tmp_path / "one.db")) as store:
        build(PACKAGE, store)
        expected = export_lines(store)
    killed: list[int] = []
    killer = threading.Thread(target=kill_a_task, args=(killed,), daemon=True)
    killer.start()
    with (
        open_cluster(str(tmp_path / "work"), ray="local", jobs=2) as cluster,
        closing(open_graph_at(tmp_path / "two.db")) as store,
    ):
        build(PACKAGE, store, BuildOptions(cluster=cluster))
        assert export_lines(store) == expected
    killer.join()
    assert len(killed) == 1


def test_rows_are_prepared_by_ray_workers(tmp_path: Path) -> None:
    corpus = write_rows(tmp_path / "c.jsonl", *(f"def f{number}(x):\n    return x\n" for number in range(50)))
    report = build_graph(
        corpus, store=f"sqlite:///{tmp_path / 'graph.db'}", cluster=tmp_path / "work", ray="local", jobs=1
    )
    assert report.written == 50
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"


def test_an_exception_of_a_task_arrives_as_it_was(tmp_path: Path) -> None:
    task = partial(prepare_partition, str(tmp_path), "lib", "static", {})
    with closing(RayWorkers("local", 1)) as workers, pytest.raises(StoreError, match=r"a\.units cannot be read"):
        list(workers.map(task, [Partition("a.units", "a.graph")]))


def test_a_cluster_that_does_not_answer_is_named(tmp_path: Path) -> None:
    with (
        pytest.raises(StoreError, match="no Ray cluster answers at auto"),
        open_cluster(str(tmp_path), ray="auto"),
    ):
        pass
