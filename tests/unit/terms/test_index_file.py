"""Text segments in a file: round trips and damage."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.model import Label
from pkg.private_files import LEFTOVER_SECONDS
from pkg.terms.index_file import MAGIC, has_sound_terms, read_text_segments, write_text_segments
from pkg.terms.index_segment import TextSegment, make_text_segments
from pkg.terms.packed_terms import NodeKeys, TermRows, pack_terms
from pkg.terms.words import hash_term

TERMS = {"read": 1.0, "write": 0.5, "file": 2.0}
NODES = st.lists(st.dictionaries(st.sampled_from([*TERMS, "other"]), st.integers(0, 255)), max_size=8)


def make_segment(fragments: list[tuple[str, list[dict[str, int]]]]) -> TextSegment:
    stored, number = [], 1
    for place, (source, nodes) in enumerate(fragments):
        pairs = [sorted((hash_term(term), weight) for term, weight in node.items()) for node in nodes]
        rows = TermRows(
            np.array([len(each) for each in pairs], np.int64),
            np.array([term for each in pairs for term, _ in each], np.uint32),
            np.array([weight for each in pairs for _, weight in each], np.uint8),
        )
        ids = np.arange(number, number + len(nodes), dtype=np.uint64)
        number += len(nodes)
        stored.append(
            (place, source, pack_terms([Label.FUNCTION] * len(nodes), NodeKeys(ids, ids % np.uint64(3)), rows))
        )
    return make_text_segments(stored, [(Label.FUNCTION,)])[0]


@given(st.lists(st.tuples(st.sampled_from(["one", "two", "größe\n"]), NODES), max_size=5), st.text(max_size=20))
def test_round_trip(fragments: list[tuple[str, list[dict[str, int]]]], stamp: str) -> None:
    made = make_segment(fragments)
    with TemporaryDirectory() as folder:
        path = Path(folder, "terms")
        write_text_segments(path, stamp, [made, made])
        segments = read_text_segments(path, stamp)
        assert segments is not None
        read = segments[1]
        assert read_text_segments(path, f"{stamp}!") is None
        assert (len(read), read.names) == (len(made), made.names)
        for source in (None, "one", "nowhere"):
            for found in (None, [0, 2]):
                keeps = [segment.filter(source, found) for segment in (read, made)]
                assert read.search(TERMS, 3, keeps[0]) == made.search(TERMS, 3, keeps[1])
        ids = [f"{number:016x}" for number in made.ids.tolist()]
        assert np.array_equal(read.split_ids(ids, TERMS).scores, made.split_ids(ids, TERMS).scores)
        assert [each.name for each in Path(folder).iterdir()] == ["terms"]


def test_a_truncated_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "terms"
    write_text_segments(path, "stamp", [make_segment([("one", [{"read": 5, "file": 9}] * 40)])])
    whole = path.read_bytes()
    for size in [*range(0, 200), *range(200, len(whole) - 64, 41)]:
        path.write_bytes(whole[:size])
        assert read_text_segments(path, "stamp") is None


@pytest.mark.parametrize(
    "header", [b"{}", b"[]", b"7", b'{"stamp": "stamp"}', b"\xff", b'{"stamp": "stamp", "counts": 1}']
)
def test_a_file_of_another_program_is_not_read(tmp_path: Path, header: bytes) -> None:
    path = tmp_path / "terms"
    for start in (b"", MAGIC):
        path.write_bytes(start + header + b"\n" + bytes(500))
        assert read_text_segments(path, "stamp") is None
    assert read_text_segments(tmp_path / "missing", "stamp") is None


def test_temporary_files_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    path, left = tmp_path / "terms", tmp_path / f"terms.{os.getppid()}.tmp"
    left.write_bytes(b"half")
    write_text_segments(path, "stamp", [make_segment([])])
    assert left.exists()  # its process may still be running
    long_ago = left.stat().st_mtime - LEFTOVER_SECONDS - 1
    os.utime(left, (long_ago, long_ago))
    write_text_segments(path, "stamp", [make_segment([])])
    assert [each.name for each in tmp_path.iterdir()] == ["terms"]


@given(st.integers(0), st.integers(1, 255))
def test_a_changed_byte_is_detected(place: int, difference: int) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "terms")
        write_text_segments(path, "stamp", [make_segment([("one", [{"read": 5, "file": 9}] * 40)])])
        assert has_sound_terms(path)
        content = bytearray(path.read_bytes())
        covered = [at for at, byte in enumerate(content) if byte or at < 200]  # bytes between columns are not covered
        content[covered[place % len(covered)]] ^= difference
        path.write_bytes(content)
        assert not has_sound_terms(path)
