"""The terms of a generation are inverted once: in memory for one process, in a file for later ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from contract.units import READER, prepare

from pkg.model import Label
from pkg.terms.index_cache import TextCache
from pkg.terms.index_segment import StoredTerms
from pkg.terms.term_weights import weigh_terms


class Fragments:
    """Fragments of a file that count how often they are read."""

    def __init__(self, text: str) -> None:
        (unit,) = prepare("demo", {"a.py": text})
        self.fragment = unit.parts[0].fragment
        self.asked = 0

    def list_stored(self) -> list[StoredTerms]:
        self.asked += 1
        assert self.fragment is not None
        return [(self.fragment.key, "demo", self.fragment.terms)]


@pytest.fixture
def fragments() -> Fragments:
    return Fragments(READER)


def open_cache(path: Path, fragments: Fragments) -> TextCache:
    return TextCache(lambda: path, fragments.list_stored)


def count_matches(cache: TextCache, stamp: str, label: Label = Label.FUNCTION) -> int:
    return len(cache.open_terms(stamp, label).search(weigh_terms("settings loads"), 9, None).matches)


def test_later_processes_read_the_file_in_a_new_folder(tmp_path: Path, fragments: Fragments) -> None:
    path = tmp_path / "cache" / "terms"
    assert [count_matches(open_cache(path, fragments), "first") for _ in range(3)] == [2, 2, 2]
    assert fragments.asked == 1


def test_an_existing_file_is_read(tmp_path: Path, fragments: Fragments) -> None:
    open_cache(tmp_path / "terms", fragments).write("first")
    assert count_matches(open_cache(tmp_path / "terms", fragments), "first") == 2
    assert fragments.asked == 1


def test_imports_are_inverted_once_in_a_generation_and_have_no_file(tmp_path: Path, fragments: Fragments) -> None:
    cache = open_cache(tmp_path / "terms", fragments)
    assert [count_matches(cache, "first", Label.IMPORT) for _ in range(2)] == [1, 1]
    assert (fragments.asked, list(tmp_path.iterdir())) == (1, [])
    assert count_matches(cache, "second", Label.IMPORT) == 1
    assert fragments.asked == 2


def test_without_a_stamp_nothing_is_cached(tmp_path: Path, fragments: Fragments) -> None:
    cache = open_cache(tmp_path / "terms", fragments)
    assert [count_matches(cache, "") for _ in range(2)] == [2, 2]
    assert (fragments.asked, list(tmp_path.iterdir())) == (2, [])


def test_where_no_file_can_be_written_the_terms_stay_in_memory(tmp_path: Path, fragments: Fragments) -> None:
    (tmp_path / "file").touch()
    cache = open_cache(tmp_path / "file" / "terms", fragments)
    assert [count_matches(cache, "first") for _ in range(2)] == [2, 2]
    assert fragments.asked == 1
