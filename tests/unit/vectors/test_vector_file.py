"""Vector codes in a file: round trips and damage."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.private_files import LEFTOVER_SECONDS
from pkg.vectors.exact import Row, make_segment
from pkg.vectors.quantised import pack_vectors
from pkg.vectors.vector_file import has_sound_index, read_index, write_index


def make_rows(count: int, dimension: int) -> list[Row]:
    random = np.random.default_rng(count)
    packed = pack_vectors(random.normal(size=(count, dimension)))
    return [(n + 1, -n * 2**50, n * 2**40, n % 300, n // 3, n % 9, data) for n, data in enumerate(packed)]


def write(path: Path, counts: dict[str, int], dimension: int, stamp: str = "stamp") -> None:
    write_index(path, stamp, dimension, counts, lambda label: iter(make_rows(counts[label], dimension)), {})


@given(
    counts=st.dictionaries(st.sampled_from(["Function", "Block", "Import"]), st.sampled_from([0, 1, 2, 63, 64, 5000])),
    dimension=st.integers(1, 40),
    stamp=st.text(max_size=40),
)
def test_round_trip(counts: dict[str, int], dimension: int, stamp: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "codes")
        write(path, counts, dimension, stamp)
        index = read_index(path)
        assert index is not None
        assert (index.stamp, set(index.segments)) == (stamp, set(counts))
        for label, segment in index.segments.items():
            made = make_segment(iter(make_rows(counts[label], dimension)), dimension)
            assert np.array_equal(segment.codes, made.codes)
            assert all(np.array_equal(segment.columns[name], made.columns[name]) for name in made.columns)


@pytest.mark.parametrize("counts", [{"Function": 100, "Block": 50}, {"Function": 3}, {"Function": 100, "Block": 0}])
def test_a_truncated_file_is_not_read_unless_its_data_is_whole(tmp_path: Path, counts: dict[str, int]) -> None:
    path = tmp_path / "codes"
    write(path, counts, 7)
    whole = path.read_bytes()
    for size in [*range(0, 8192, 977), *range(8192, len(whole), 37)]:
        path.write_bytes(whole[:size])
        index = read_index(path)
        if index is not None:  # only padding after the last column is missing
            columns = [column for segment in index.segments.values() for column in segment.columns.values()]
            assert sorted({len(column) for column in columns}) == sorted(set(counts.values()))


def test_a_failed_write_keeps_only_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "codes"
    write(path, {"Function": 3}, 7)
    before = path.read_bytes()

    def fail(label: str) -> Iterator[Row]:
        yield from make_rows(2, 7)
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        write_index(path, "new", 7, {"Function": 3}, fail, {})
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["codes"]


def test_temporary_files_of_a_killed_process_are_removed_and_others_kept(tmp_path: Path) -> None:
    path = tmp_path / "graph[1].db-vectors"
    running, gone = os.getppid(), start_and_kill()
    left = [f"graph[1].db-vectors.{gone}.tmp", "graph[1].db-vectors.1.tmp"]
    kept = [
        f"graph[1].db-vectors.{running}.tmp", f"graph1.db-vectors.{gone}.tmp", "graph[1].db", "graph[1].db-vectors.tmp"
    ]  # fmt: skip
    for name in (*left, *kept):
        (tmp_path / name).write_bytes(b"half")
    past = (tmp_path / left[1]).stat().st_mtime - LEFTOVER_SECONDS - 60
    os.utime(tmp_path / left[1], (past, past))
    write(path, {"Function": 3}, 7)
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([*kept, path.name])


def start_and_kill() -> int:
    """Return the number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        process.kill()
    return process.pid


@given(st.integers(0), st.integers(1, 255))
def test_a_changed_byte_is_detected(place: int, difference: int) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "codes")
        write(path, {"Function": 40, "Block": 9}, 7)
        assert has_sound_index(path)
        content = bytearray(path.read_bytes())
        header = content.index(b"\n", 20)
        covered = [at for at, byte in enumerate(content) if (byte and at >= 8192) or at < header]
        content[covered[place % len(covered)]] ^= difference
        path.write_bytes(content)
        assert not has_sound_index(path)
