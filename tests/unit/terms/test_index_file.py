"""Text segments in a file: round trips and damage."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pkg.model import Label
from pkg.private_files import LEFTOVER_SECONDS
from pkg.terms import index_file, index_writing, packed_terms
from pkg.terms.index_file import MAGIC, has_sound_terms, read_text_segments
from pkg.terms.index_segment import StoredTerms, TextSegment, make_text_segments
from pkg.terms.index_writing import Runs, write_terms
from pkg.terms.packed_terms import NodeKeys, TermRows, pack_terms
from pkg.terms.words import hash_term

TERMS = {"read": 1.0, "write": 0.5, "file": 2.0}
FEW_FIXTURES = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
GROUP = (Label.FUNCTION,)
NODES = st.lists(st.dictionaries(st.sampled_from([*TERMS, "other"]), st.integers(0, 255)), max_size=8)


def pack_fragments(fragments: list[tuple[str, list[dict[str, int]]]]) -> list[StoredTerms]:
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
    return stored


FORTY = pack_fragments([("one", [{"read": 5, "file": 9}] * 40)])


@pytest.fixture(params=["in memory", "in runs"], autouse=True)
def sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write also with tiny batches and runs."""
    if request.param == "in runs":
        monkeypatch.setattr(index_writing, "RUN", 3)
        monkeypatch.setattr(packed_terms, "GROUP_BYTES", 1)
        monkeypatch.setattr(index_file, "BLOCK_BYTES", 7)


def list_columns(segment: TextSegment) -> list[Any]:
    index = segment.index
    inverted = [index.terms, index.offsets, index.rows, index.weights, index.total]
    nodes = [segment.ids, segment.contents, segment.fragments, segment.sources, segment.labels, segment.names]
    return inverted + nodes


@FEW_FIXTURES
@given(st.lists(st.tuples(st.sampled_from(["one", "two", "größe\n"]), NODES), max_size=5), st.text(max_size=20))
def test_round_trip(fragments: list[tuple[str, list[dict[str, int]]]], stamp: str) -> None:
    stored = pack_fragments(fragments)
    (made,) = make_text_segments(stored, [GROUP])
    with TemporaryDirectory() as folder:
        path = Path(folder, "terms")
        write_terms(path, stamp, stored, [(Label.CLASS,), GROUP])
        segments = read_text_segments(path, stamp)
        assert segments is not None
        read = segments[1]
        assert read_text_segments(path, f"{stamp}!") is None
        for one, other in zip(list_columns(read), list_columns(made), strict=True):
            assert np.array_equal(one, other)
        for source in (None, "one", "nowhere"):
            for found in (None, [0, 2]):
                keeps = [segment.filter(source, found) for segment in (read, made)]
                assert read.search(TERMS, 3, keeps[0]) == made.search(TERMS, 3, keeps[1])
        ids = [f"{number:016x}" for number in made.ids.tolist()]
        assert np.array_equal(read.split_ids(ids, TERMS).scores, made.split_ids(ids, TERMS).scores)
        assert [each.name for each in Path(folder).iterdir()] == ["terms"]


def test_a_truncated_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "terms"
    write_terms(path, "stamp", FORTY, [GROUP])
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
    write_terms(path, "stamp", [], [GROUP])
    assert left.exists()  # its process may still be running
    long_ago = left.stat().st_mtime - LEFTOVER_SECONDS - 1
    os.utime(left, (long_ago, long_ago))
    write_terms(path, "stamp", [], [GROUP])
    assert [each.name for each in tmp_path.iterdir()] == ["terms"]


@FEW_FIXTURES
@given(st.integers(0), st.integers(1, 255))
def test_a_changed_byte_is_detected(place: int, difference: int) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "terms")
        write_terms(path, "stamp", FORTY, [GROUP])
        assert has_sound_terms(path)
        content = bytearray(path.read_bytes())
        covered = [at for at, byte in enumerate(content) if byte or at < 200]  # bytes between columns are not covered
        content[covered[place % len(covered)]] ^= difference
        path.write_bytes(content)
        assert not has_sound_terms(path)


@FEW_FIXTURES
@given(st.lists(st.lists(st.integers(0, (1 << 64) - 1), max_size=9), max_size=9))
def test_runs_are_merged_in_order(batches: list[list[int]]) -> None:
    with TemporaryFile() as file:
        runs = Runs(file)
        for each in batches:
            runs.add(np.array(each, np.uint64))
        merged = [number for piece in runs.merge() for number in piece.tolist()]
    assert merged == sorted(number for each in batches for number in each)
