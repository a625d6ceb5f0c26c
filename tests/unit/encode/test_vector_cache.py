"""The cache of vectors: what was put is found, by whoever asks, and nothing that happens to the file is an error."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.encode.vector_cache import VectorCache, make_key


def make_vectors(count: int, dimension: int = 4) -> dict[bytes, np.typing.NDArray[np.float32]]:
    return {f"key {number}".encode(): np.full(dimension, number, np.float32) for number in range(count)}


def find_all(cache: VectorCache, keys: list[bytes], dimension: int | None = 4) -> dict[bytes, list[float]]:
    return {key: vector.tolist() for key, vector in cache.find(keys, dimension).items()}


def test_stored_vectors_are_found_by_another_process(tmp_path: Path) -> None:
    first, second = VectorCache(tmp_path / "deep" / "cache.db"), VectorCache(tmp_path / "deep" / "cache.db")
    first.put(make_vectors(3))
    assert find_all(second, [b"key 2", b"key 9", b"key 0"]) == {b"key 0": [0.0] * 4, b"key 2": [2.0] * 4}


def test_more_keys_than_one_statement_takes_are_found(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "cache.db")
    cache.put(make_vectors(1203))
    assert len(cache.find([f"key {number}".encode() for number in range(1300)], 4)) == 1203


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
def test_numbers_come_back_to_the_bit(tmp_path_factory: pytest.TempPathFactory, values: list[float]) -> None:
    cache = VectorCache(tmp_path_factory.mktemp("cache") / "cache.db")
    cache.put({b"k": np.array(values, np.float32)})
    assert find_all(cache, [b"k"], None) == {b"k": values}
    cache.close()


def test_a_vector_of_another_length_is_not_found(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "cache.db")
    cache.put(make_vectors(1, dimension=3))
    assert find_all(cache, [b"key 0"], 4) == {}


def test_the_oldest_make_room_when_the_file_is_full(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "cache.db", limit=200_000)
    for number in range(60):
        cache.put({f"{number} {index}".encode(): np.zeros(100, np.float32) for index in range(20)})
    cache.close()
    assert (tmp_path / "cache.db").stat().st_size < 300_000
    cache = VectorCache(tmp_path / "cache.db")
    assert find_all(cache, [b"0 0"], None) == {}
    assert list(cache.find([b"59 19"], 100)) == [b"59 19"]


def test_a_damaged_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "cache.db").write_bytes(b"this is no database" * 100)
    cache = VectorCache(tmp_path / "cache.db")
    cache.put(make_vectors(1))
    assert find_all(cache, [b"key 0"]) == {b"key 0": [0.0] * 4}


def test_an_unusable_cache_finds_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = VectorCache(tmp_path / "file" / "cache.db")
    cache.put(make_vectors(1))
    assert find_all(cache, [b"key 0"]) == {}


def test_a_row_that_is_no_vector_is_not_found(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "cache.db")
    cache.put({b"nan": np.full(4, np.nan, np.float32)})
    with sqlite3.connect(tmp_path / "cache.db") as connection:
        connection.execute("INSERT INTO vector (key, data) VALUES (?, ?)", (b"odd", b"12345"))
    connection.close()
    assert find_all(cache, [b"nan", b"odd"]) == {}


def test_a_key_depends_on_all_of_its_parts() -> None:
    keys = {make_key("m", False, "a"), make_key("m", True, "a"), make_key("n", False, "a"), make_key("m", False, "b")}
    assert len(keys) == 4


def test_a_damaged_row_is_not_found(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "cache.db")
    cache.put(make_vectors(2))
    with sqlite3.connect(tmp_path / "cache.db") as connection:
        connection.execute("UPDATE vector SET data = ? WHERE key = ?", (np.ones(4, "<f4").tobytes(), b"key 0"))
    connection.close()
    assert list(find_all(cache, [b"key 0", b"key 1"])) == [b"key 1"]


def test_vectors_of_a_file_without_checksums_are_found(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "cache.db") as connection:
        connection.execute("CREATE TABLE vector (number INTEGER PRIMARY KEY, key BLOB UNIQUE, data BLOB)")
        connection.execute("INSERT INTO vector (key, data) VALUES (?, ?)", (b"old", np.ones(4, "<f4").tobytes()))
    connection.close()
    cache = VectorCache(tmp_path / "cache.db")
    cache.put(make_vectors(1))
    assert find_all(cache, [b"old", b"key 0"]) == {b"old": [1.0] * 4, b"key 0": [0.0] * 4}
