"""Cache files: private, and deleted when damaged."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from pkg.cache_file import find_cache_file, open_cache_file

SCHEMA = "CREATE TABLE IF NOT EXISTS kept (key TEXT PRIMARY KEY)"


def read_keys(path: Path) -> list[str]:
    connection = open_cache_file(path, SCHEMA)
    try:
        return [key for (key,) in connection.execute("SELECT key FROM kept")]
    finally:
        connection.close()


def test_stored_content_is_read_again_and_private(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "cache.db"
    connection = open_cache_file(path, SCHEMA)
    connection.execute("INSERT INTO kept VALUES ('a')")
    connection.close()
    assert read_keys(path) == ["a"]
    assert path.stat().st_mode & 0o077 == 0


def test_a_damaged_file_is_deleted(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    path.write_bytes(b"no database at all " * 100)
    assert read_keys(path) == []


def test_a_locked_file_is_not_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pkg.cache_file.WAIT_SECONDS", 0.01)
    path = tmp_path / "cache.db"
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute(SCHEMA)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        open_cache_file(path, SCHEMA)
    holder.execute("ROLLBACK")
    holder.close()
    assert path.is_file()


def test_a_cache_is_in_the_users_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert find_cache_file("x.db").name == "x.db"
