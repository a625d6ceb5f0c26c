"""The checksum of the database file is read without releasing the locks of SQLite on the file."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.indexing.build import build

READ_AND_CLOSE = (
    "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM meta').fetchall(); c.close()"
)


def read_elsewhere(path: Path) -> None:
    """Read the database from another process, which would delete the write-ahead log if it closed last."""
    subprocess.run([sys.executable, "-I", "-c", READ_AND_CLOSE, path], check=True)


@pytest.fixture
def path(tree: Path, tmp_path: Path) -> Path:
    """Build a graph with its checksum; return its database file."""
    path = tmp_path / "graph.db"
    with closing(EmbeddedStore(path, create=True)) as store:
        build(str(tree), store)
    assert path.with_name("graph.db-sum").exists()
    return path


def test_a_reader_in_another_process_does_not_remove_the_log_of_an_open_store(path: Path) -> None:
    with closing(EmbeddedStore(path, create=True)):
        read_elsewhere(path)
        assert path.with_name("graph.db-wal").exists()


def test_closing_a_second_store_keeps_the_locks_of_the_first(path: Path) -> None:
    with closing(EmbeddedStore(path, create=True)):
        EmbeddedStore(path, create=True).close()
        read_elsewhere(path)
        assert path.with_name("graph.db-wal").exists()


def test_two_processes_never_write_at_once(path: Path) -> None:
    with closing(EmbeddedStore(path, create=True)) as store, store.write():
        read_elsewhere(path)
        code = f"import sqlite3; sqlite3.connect({str(path)!r}, timeout=0).execute('BEGIN IMMEDIATE')"
        done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False)
        assert "database is locked" in done.stderr


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="descriptors are listed on Linux alone")
def test_the_last_store_that_closes_closes_the_descriptor(path: Path) -> None:
    def count() -> int:
        found = 0
        for name in os.listdir("/proc/self/fd"):
            try:
                found += os.readlink(f"/proc/self/fd/{name}") == str(path)
            except OSError:  # the listing's own descriptor
                continue
        return found

    for _ in range(3):
        store = EmbeddedStore(path, create=True)
        store.close()
        store.close()
    assert count() == 0


def test_an_address_that_looks_like_a_uri_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file:").mkdir()
    with closing(EmbeddedStore(Path("file:/graph.db"), create=True)) as store:
        store.ensure_schema("static", 256)
    assert (tmp_path / "file:" / "graph.db").exists()
