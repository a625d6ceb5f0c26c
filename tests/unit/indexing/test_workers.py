"""Batches in one process or in several: the same graph, in the same order, with bounded memory."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from trees import SHOP, export_lines, open_graph_at, write_rows, write_tree

from pkg.indexing import prepare
from pkg.indexing.build import build
from pkg.indexing.build_plan import BuildOptions
from pkg.indexing.inputs import LoadedUnit, hash_text
from pkg.indexing.prepare import prepare_all
from pkg.model import Label


def make_units(count: int) -> Iterator[LoadedUnit]:
    for number in range(count):
        text = f"def f{number}(x):\n    return g{number % 3}(x)\n".encode()
        yield LoadedUnit(f"{number:03}.py", "1", Label.FILE, hash_text(text), text)


def export_with(jobs: int, path: Path, place: Path) -> list[str]:
    with closing(open_graph_at(place)) as store:
        build(str(path), store, BuildOptions(jobs=jobs))
        return export_lines(store)


def test_two_workers_build_the_same_graph_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "BATCH_UNITS", 4)
    many = {f"many/m{number}.py": f"import os\n\ndef f{number}(): return os\n" for number in range(30)}
    tree = write_tree(tmp_path / "repo", SHOP | many)
    assert export_with(1, tree, tmp_path / "1.db") == export_with(2, tree, tmp_path / "2.db")


def test_two_workers_store_equal_rows_once_as_one_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "BATCH_UNITS", 7)
    rows = [f"def f{number % 11}(x):\n    return {number % 22}\n" for number in range(100)]
    corpus = write_rows(tmp_path / "c.jsonl", *rows)
    assert export_with(1, corpus, tmp_path / "1.db") == export_with(2, corpus, tmp_path / "2.db")


def test_units_come_back_in_their_order_whatever_the_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [repr(unit) for unit in prepare_all("lib", make_units(20), "static", 1, 0, {})]
    monkeypatch.setattr(prepare, "BATCH_UNITS", 3)
    assert [repr(unit) for unit in prepare_all("lib", make_units(20), "static", 1, 0, {})] == expected
    monkeypatch.setattr(prepare, "BATCH_BYTES", 1)
    assert [repr(unit) for unit in prepare_all("lib", make_units(20), "static", 1, 0, {})] == expected


def test_no_more_than_a_batch_is_read_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "BATCH_UNITS", 4)
    read: list[str] = []

    def watch() -> Iterator[LoadedUnit]:
        for unit in make_units(20):
            read.append(unit.path)
            yield unit

    prepared = prepare_all("lib", watch(), "static", 1, 0, {})
    assert next(prepared).path == "000.py"
    assert len(read) == 4


def test_seconds_are_added_up_by_stage() -> None:
    seconds = {"extract": 5.0}
    assert len(list(prepare_all("lib", make_units(3), "static", 1, 0, seconds))) == 3
    assert seconds.keys() == {"extract", "encode"}
    assert seconds["extract"] >= 5


def test_no_input_gives_no_batches() -> None:
    assert list(prepare_all("lib", [], "static", 1, 0, {})) == []


KILLED = """
import os, sys, time
from multiprocessing import get_context

def work(is_linux):
    from pkg.cluster.worker_start import end_with_parent
    if not is_linux:
        sys.platform = "other"
    end_with_parent()
    print("started", flush=True)
    # Either no other Python thread runs, as while a long text is parsed, or any may run.
    sum(range(2_000_000_000)) if is_linux else time.sleep(60)
    print("outlived its parent", flush=True)

if __name__ == "__main__":
    get_context("spawn").Process(target=work, args=(sys.argv[1] == "linux",)).start()
    time.sleep(60)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="what is sent is a signal of POSIX systems")
@pytest.mark.parametrize("system", ["linux", "other"])
def test_a_worker_ends_with_a_parent_that_is_killed(tmp_path: Path, system: str) -> None:
    if system == "linux" and sys.platform != "linux":
        pytest.skip("only Linux interrupts a worker that gives no other thread a turn")
    (tmp_path / "killed.py").write_text(KILLED)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
    command = [sys.executable, str(tmp_path / "killed.py"), system]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"started\n"
        parent.kill()
        assert parent.stdout.read() == b""  # it ends when the worker, which has the pipe too, has ended
