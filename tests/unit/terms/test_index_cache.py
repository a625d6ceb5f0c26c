"""The terms of a generation are inverted once: in memory for one process, in a file for later ones."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from contract.units import READER, prepare

from pkg.errors import StoreError
from pkg.model import Label
from pkg.terms.index_cache import TextCache
from pkg.terms.index_segment import StoredTerms, TextSegment
from pkg.terms.term_weights import weigh_terms


class Fragments:
    """Fragments of a file that count how often they are read."""

    def __init__(self, text: str) -> None:
        (unit,) = prepare("demo", {"a.py": text})
        self.fragment = unit.parts[0].fragment
        self.asked = 0

    def list_stored(self) -> Iterator[StoredTerms]:
        self.asked += 1
        assert self.fragment is not None
        yield self.fragment.key, "demo", self.fragment.terms


@pytest.fixture
def fragments() -> Fragments:
    return Fragments(READER)


def open_cache(path: Path) -> TextCache:
    return TextCache(lambda: path)


def count_matches(cache: TextCache, fragments: Fragments, stamp: str, label: Label = Label.FUNCTION) -> int:
    segment = cache.open_terms(stamp, label, fragments.list_stored)
    return len(segment.search(weigh_terms("settings loads"), 9, None).matches)


def test_later_processes_read_the_file_in_a_new_folder(tmp_path: Path, fragments: Fragments) -> None:
    path = tmp_path / "cache" / "terms"
    assert [count_matches(open_cache(path), fragments, "first") for _ in range(3)] == [2, 2, 2]
    assert fragments.asked == 1


def test_an_existing_file_is_read(tmp_path: Path, fragments: Fragments) -> None:
    open_cache(tmp_path / "terms").write("first", fragments.list_stored)
    assert count_matches(open_cache(tmp_path / "terms"), fragments, "first") == 2
    assert fragments.asked == 1


def test_imports_are_inverted_once_in_a_generation_and_have_no_file(tmp_path: Path, fragments: Fragments) -> None:
    cache = open_cache(tmp_path / "terms")
    assert [count_matches(cache, fragments, "first", Label.IMPORT) for _ in range(2)] == [1, 1]
    assert (fragments.asked, list(tmp_path.iterdir())) == (1, [])
    assert count_matches(cache, fragments, "second", Label.IMPORT) == 1
    assert fragments.asked == 2


def test_without_a_stamp_nothing_is_cached(tmp_path: Path, fragments: Fragments) -> None:
    cache = open_cache(tmp_path / "terms")
    assert [count_matches(cache, fragments, "") for _ in range(2)] == [2, 2]
    assert (fragments.asked, list(tmp_path.iterdir())) == (2, [])


def test_where_no_file_can_be_written_the_terms_stay_in_memory(tmp_path: Path, fragments: Fragments) -> None:
    (tmp_path / "file").touch()
    cache = open_cache(tmp_path / "file" / "terms")
    assert [count_matches(cache, fragments, "first") for _ in range(2)] == [2, 2]
    assert fragments.asked == 1


def test_threads_that_ask_at_once_read_the_terms_once(tmp_path: Path, fragments: Fragments) -> None:
    cache, started = open_cache(tmp_path / "terms"), Barrier(4)

    def list_slowly() -> list[StoredTerms]:
        stored = list(fragments.list_stored())
        time.sleep(0.05)
        return stored

    def ask() -> TextSegment:
        started.wait()
        return cache.open_terms("first", Label.FUNCTION, list_slowly)

    with ThreadPoolExecutor(4) as pool:
        found = [each.result() for each in [pool.submit(ask) for _ in range(4)]]
    assert len({id(segment) for segment in found}) == fragments.asked == 1


def test_after_a_failed_read_the_next_thread_reads(tmp_path: Path, fragments: Fragments) -> None:
    cache = open_cache(tmp_path / "terms")

    def fail() -> list[StoredTerms]:
        raise StoreError("no answer")

    with pytest.raises(StoreError):
        cache.open_terms("first", Label.FUNCTION, fail)
    assert count_matches(cache, fragments, "first") == 2
