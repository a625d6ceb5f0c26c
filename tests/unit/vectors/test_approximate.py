"""The approximate index agrees with the exact scan, and leaves to it the queries that it cannot answer."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from contract.units import encode, encoder, fill
from hypothesis import given
from hypothesis import strategies as st
from trees import STORE_FILES
from usearch.index import Index

from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.model import Label, Match, Matches, NodeFilter
from pkg.retrieval.query import QueryOptions, run_query
from pkg.vectors.approximate import MAX_HITS, find_changes
from pkg.vectors.exact import Segment, make_segment
from pkg.vectors.quantised import pack_vectors

VERBS = ("read", "write", "parse", "send", "close", "merge", "sort", "draw", "count", "check")
NOUNS = ("file", "date", "socket", "table", "color", "graph", "token", "price", "user", "image")
QUESTIONS = ("parse a date", "send the image to a user", "count tokens", "close the socket", "sort prices")


def make_file(noun: str, verbs: tuple[str, ...] = VERBS) -> str:
    return "\n".join(f"def {verb}_{noun}({noun}):\n    if {noun}:\n        return {verb}({noun})\n" for verb in verbs)


FILES = {f"{noun}.py": make_file(noun) for noun in NOUNS}


def open_indexed(path: Path) -> EmbeddedStore:
    """Open a store that has an index for any number of vectors."""
    return EmbeddedStore(path, create=True, approximate_above=0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Path of a filled, indexed and closed store."""
    place = tmp_path / "graph.db"
    with closing(open_indexed(place)) as store:
        fill(store, FILES)
    return place


def index_of(path: Path) -> Path:
    return path.with_name("graph.db-vectors-function")


def ask(store: EmbeddedStore, k: int = 10, where: NodeFilter | None = None) -> list[Matches]:
    return [store.vector_search(Label.FUNCTION, encode(question), k, where) for question in QUESTIONS]


def search(path: Path, k: int = 10) -> list[Matches]:
    with closing(open_indexed(path)) as store:
        return ask(store, k)


def search_exactly(path: Path, k: int = 10) -> list[Matches]:
    with closing(EmbeddedStore(path)) as store:
        return ask(store, k)


def list_matches(found: list[Matches]) -> list[tuple[Match, ...]]:
    return [each.matches for each in found]


def test_the_index_finds_what_the_exact_scan_finds(path: Path) -> None:
    near, exact = search(path), search_exactly(path)
    assert list_matches(near) == list_matches(exact)
    assert [each.searched for each in near] == [each.searched for each in exact]
    assert all(each.is_approximate for each in near)
    assert not any(each.is_approximate for each in exact)


def test_a_label_below_the_threshold_has_no_index(path: Path) -> None:
    with closing(EmbeddedStore(path, approximate_above=50)) as store:
        fill(store, {"date.py": make_file("date", VERBS[:3])})
        assert index_of(path).exists()
        assert sum(index_of(path).name in name for name in store.stats().bytes) == 1
    with closing(EmbeddedStore(path, approximate_above=500)) as store:
        fill(store, FILES)
    assert sorted(each.name for each in path.parent.iterdir()) == STORE_FILES


def test_an_index_is_updated_and_not_rebuilt(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    added: list[int] = []
    add = Index.add

    def add_counted(self: Index, keys: npt.NDArray[np.uint64], *given: Any, **named: Any) -> Any:
        added.extend(keys)
        return add(self, keys, *given, **named)

    monkeypatch.setattr(Index, "add", add_counted)
    with closing(open_indexed(path)) as store:
        with store.write() as writer:
            writer.delete_file("demo", "price.py")
        assert all(each.is_approximate for each in ask(store))
        fill(store, {"date.py": make_file("calendar", VERBS[:5])}, "second")
    assert len(added) == 5 + 2 * 5  # the new functions, each with two blocks; the index holds 85 functions
    near = search(path, 60)
    assert list_matches(near) == list_matches(search_exactly(path, 60))
    assert all(each.is_approximate for each in near)


def test_an_index_is_rebuilt_after_most_entries_are_removed(path: Path) -> None:
    with closing(open_indexed(path)) as store:
        with store.write() as writer:
            for noun in NOUNS[1:]:
                writer.delete_file("demo", f"{noun}.py")
        fill(store, {"pair.py": make_file("pair")}, "second")
    assert list_matches(search(path)) == list_matches(search_exactly(path))
    assert all(each.is_approximate for each in search(path))


DAMAGE: dict[str, Callable[[bytes], bytes | None]] = {
    "missing": lambda whole: None,
    "empty": lambda whole: b"",
    "cut short": lambda whole: whole[: len(whole) // 2],
    "without its last byte": lambda whole: whole[:-1],
    "garbage": lambda whole: b"\x93garbage" * 2000,
    "nothing but its end": lambda whole: whole[-51:],
    "cut in the middle": lambda whole: whole[:2000] + whole[-51:],
    "of another generation": lambda whole: whole[:-10] + b"0000000000",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_index_is_not_used_and_the_next_build_rebuilds_it(path: Path, damage: str) -> None:
    data = DAMAGE[damage](index_of(path).read_bytes())
    index_of(path).unlink()
    if data is not None:
        index_of(path).write_bytes(data)
    found = search(path)
    assert found == search_exactly(path)
    with closing(open_indexed(path)) as store:
        fill(store, {"more.py": make_file("more", VERBS[:2])}, "second")
        assert all(each.is_approximate for each in ask(store))


def test_search_works_where_the_index_cannot_be_written(path: Path) -> None:
    index_of(path).unlink()
    index_of(path).mkdir()
    with closing(open_indexed(path)) as store:
        fill(store, {"more.py": make_file("more", VERBS[:2])}, "second")
        assert list_matches(ask(store)) == list_matches(search_exactly(path))
    assert not list(path.parent.glob("*.tmp"))


def test_a_reader_of_the_old_generation_does_not_use_the_new_index(path: Path) -> None:
    with closing(EmbeddedStore(path, approximate_above=0)) as reader, reader.snapshot():
        before = search_exactly(path)
        with closing(open_indexed(path)) as store, store.write() as writer:
            writer.delete_file("demo", "date.py")
        assert list_matches(ask(reader)) == list_matches(before)


def test_filters_use_the_exact_scan(path: Path) -> None:
    with closing(open_indexed(path)) as store:
        for where in (NodeFilter(source="demo"), NodeFilter(paths=("*",))):
            found = ask(store, where=where)
            assert not any(each.is_approximate for each in found)
            assert list_matches(found) == list_matches(search_exactly(path))


def test_k_results_are_found_among_many_duplicates(path: Path) -> None:
    crowd = {f"copies/{number}.py": make_file("date", ("parse",)) for number in range(200)}
    with closing(open_indexed(path)) as store:
        fill(store, crowd, "crowd")
        found = store.vector_search(Label.FUNCTION, encode("parse a date"), 10)
    assert len(found.matches) == 10
    assert not found.is_approximate
    assert max(match.same_content for match in found.matches) >= 199


@pytest.mark.parametrize("k", [0, 1, 100, MAX_HITS + 1])
def test_any_number_of_hits(path: Path, k: int) -> None:
    found = search(path, k)
    assert list_matches(found) == list_matches(search_exactly(path, k))
    assert {len(each.matches) for each in found} == {min(k, 100)}


def test_a_query_of_zeros_uses_the_exact_scan(path: Path) -> None:
    nothing = np.zeros(encoder().dimension, np.float32)
    with closing(open_indexed(path)) as store:
        assert not store.vector_search(Label.FUNCTION, nothing, 5).is_approximate


@pytest.fixture
def without_usearch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "usearch", None)
    monkeypatch.setitem(sys.modules, "usearch.index", None)


@pytest.mark.usefixtures("without_usearch")
def test_without_the_extra_nothing_is_indexed(tmp_path: Path) -> None:
    place = tmp_path / "graph.db"
    with closing(open_indexed(place)) as store:
        fill(store, FILES)
    assert sorted(each.name for each in tmp_path.iterdir()) == STORE_FILES
    assert search(place) == search_exactly(place)


def test_search_works_without_the_extra(path: Path, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue("without_usearch")
    assert search(path) == search_exactly(path)


def test_an_answer_reports_that_it_is_approximate(path: Path) -> None:
    notes = []
    for filter_path in (None, "*"):
        with closing(open_indexed(path)) as store:
            result = run_query(store, encoder(), QUESTIONS[0], QueryOptions(mode="function", path=filter_path))
            notes.append([line for line in result.explain if "approximate index" in line])
    assert [len(each) for each in notes] == [1, 0]


@given(
    old=st.dictionaries(st.integers(1, 30), st.integers(0, 3), max_size=20),
    new=st.dictionaries(st.integers(1, 30), st.integers(0, 3), max_size=20),
)
def test_the_changes_lead_from_the_old_codes_to_the_new(old: dict[int, int], new: dict[int, int]) -> None:
    segments = [_make_segment(codes) for codes in (old, new)]
    gone, places = find_changes(*segments)
    came = segments[1].columns["number"][places].tolist()
    held = {number: code for number, code in old.items() if number not in set(gone.tolist())}
    assert held.keys().isdisjoint(came)
    assert held | {number: new[number] for number in came} == new
    assert len(gone) + len(came) == sum(
        (number in each) for number in {*old, *new} if old.get(number) != new.get(number) for each in (old, new)
    )


def _make_segment(codes: dict[int, int]) -> Segment:
    """Build a segment of numbers, each with one of four vectors."""
    packed = pack_vectors(np.eye(4))
    return make_segment(((n, n, n, 1, 1, 0, packed[codes[n]]) for n in sorted(codes)), 4)
