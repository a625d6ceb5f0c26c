"""Pending stores: their names, their list, what is deleted, and the copy of their rows into a store with others."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from contract.units import FILES, READER, fill

from pkg.doctor import examine
from pkg.errors import StoreError, StoreLockedError
from pkg.graph.embedded import database_file
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.graph.embedded.pending_files import is_free, list_pending, list_unfinished, name_pending, remove_finished
from pkg.graph.embedded.pending_store import PendingStore, open_pending
from pkg.graph.embedded.source_copying import copy_source
from pkg.graph.embedded.store_counts import read_stats


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "graph.db"


@pytest.fixture
def pending(target: Path) -> Iterator[PendingStore]:
    """Return the complete pending store of a source of two files."""
    with closing(open_pending(target, "sqlite:///graph.db", "demo", "means", print)) as store:
        fill(store, FILES)
        yield store


def test_names_tell_sources_and_means_apart(target: Path) -> None:
    names = {name_pending(target, source, means) for source in ("repo", "other") for means in ("a", "b")}
    assert len(names) == 4
    for path in names:
        path.touch()
        path.with_name(f"{path.name}-wal").touch()
    target.with_name("graph.db-vectors").touch()
    assert list_pending(target) == sorted(names)
    assert len(list_pending(target, "repo")) == 2
    assert list_pending(target.with_name("none") / "graph.db") == []


def test_unfinished_builds_are_listed_once_they_are_free(pending: PendingStore, target: Path) -> None:
    assert not is_free(pending.path)
    assert list_unfinished(target) == []
    pending.close()
    (found,) = list_unfinished(target)
    assert (found.path, found.source, found.units) == (pending.path, "demo", 2)


def test_the_doctor_names_the_commands_for_an_unfinished_build(pending: PendingStore, target: Path) -> None:
    pending.close()
    (found,) = (each for each in examine(f"sqlite:///{target}") if each.name == "unfinished build")
    assert found.state == "missing"
    assert found.detail.startswith("2 files or rows of 'demo' are prepared in graph.db-pending-")
    assert "--source demo" in found.advice
    assert f"rm {pending.path}*" in found.advice


def test_the_pending_store_of_a_source_that_is_there_is_deleted(pending: PendingStore, target: Path) -> None:
    pending.close()
    remove_finished(target, ["other"])
    assert list_pending(target) == [pending.path]
    with closing(EmbeddedStore(target, create=True)) as store:
        fill(store, FILES)
    with closing(EmbeddedStore(target, create=True)):
        assert list_pending(target) == []


def test_a_second_process_waits_and_then_names_the_lock(
    pending: PendingStore, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_file, "LOCK_SECONDS", 0.01)
    with pytest.raises(StoreLockedError, match="another process is writing"):
        open_pending(target, "sqlite:///graph.db", "demo", "means", print)


def test_a_source_that_came_meanwhile_is_not_copied_twice(pending: PendingStore, target: Path) -> None:
    pending.settle()
    pending.close()
    with closing(EmbeddedStore(target, create=True)) as store:
        fill(store, {"pack/reader.py": READER})
    with closing(sqlite3.connect(target, isolation_level=None)) as connection:
        connection.execute("ATTACH ? AS pending", (str(pending.path),))
        with pytest.raises(StoreError, match="changed by another process meanwhile; run the build again"):
            copy_source(connection, "graph.db")
        assert read_stats(connection, None).nodes["File"] == 1


def test_a_pending_store_shows_no_generation_before_it_is_complete(target: Path) -> None:
    with closing(open_pending(target, "sqlite:///graph.db", "demo", "means", print)) as store:
        assert store.generation() == 0
        fill(store, FILES)
        assert store.generation() == 1
        with pytest.raises(KeyboardInterrupt), store.write():
            raise KeyboardInterrupt
        assert (store.generation(), store.check()) == (1, [])
