"""The terms of a server's graph are fetched once per generation and cached."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from contract.units import READER, WRITER, prepare

from pkg.graph.neo4j.searching import CACHED_FILES, ServerTerms, find_terms_cache, find_terms_file
from pkg.model import Label
from pkg.terms.term_weights import weigh_terms
from pkg.units import format_id


@dataclass
class FakeView:
    """The metadata of a generation."""

    stamp: str
    ready: list[str] = field(default_factory=lambda: ["demo"])


class FakeReader:
    """Fake reader of the fragments of a graph, which counts requests."""

    def __init__(self, text: str, stamp: str) -> None:
        (unit,) = prepare("demo", {"a.py": text})
        self.fragment = unit.parts[0].fragment
        self.view = FakeView(stamp)
        self.asked = 0

    def stream(self, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        self.asked += 1
        assert self.fragment is not None
        return [{"id": format_id(self.fragment.key), "source": "demo", "terms": self.fragment.terms}]


@pytest.fixture(autouse=True)
def start_process() -> None:
    """Forget the terms that the process holds."""
    find_terms_cache.cache_clear()


def open_texts(reader: FakeReader, address: str = "neo4j://host") -> ServerTerms:
    return ServerTerms(reader, address, lambda ids: [], lambda node_id: [])  # type: ignore[arg-type]


def count_matches(texts: ServerTerms, question: str, label: Label = Label.FUNCTION) -> int:
    return len(texts.open_terms(label).search(weigh_terms(question), 9, None).matches)


def test_a_second_process_reads_the_terms_from_the_cache() -> None:
    reader = FakeReader(READER, "first")
    assert count_matches(open_texts(reader), "settings") == 2
    find_terms_cache.cache_clear()
    assert count_matches(open_texts(reader), "settings") == 2
    assert reader.asked == 1
    assert find_terms_file("neo4j://host").is_file()


def test_the_stores_of_a_process_share_the_terms_of_a_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))  # as for a user without a folder
    reader = FakeReader(READER, "first")
    one, two = (open_texts(reader).open_terms(Label.FUNCTION) for _ in range(2))
    assert one is two
    assert reader.asked == 1


def test_terms_are_fetched_again_for_another_graph() -> None:
    reader = FakeReader(READER, "first")
    texts = open_texts(reader)
    assert count_matches(texts, "copy") == 0
    reader.fragment, reader.view = FakeReader(WRITER, "").fragment, FakeView("second")
    assert count_matches(texts, "copy") == 1
    assert count_matches(texts, "copy") == 1
    assert reader.asked == 2


def test_graphs_at_different_addresses_have_files_of_their_own() -> None:
    for text, address in ((READER, "neo4j://one"), (WRITER, "neo4j://two"), (READER, "neo4j://one")):
        texts = open_texts(FakeReader(text, f"stamp of {address}"), address)
        assert (count_matches(texts, "copy") > 0) == (text == WRITER)
    assert find_terms_file("neo4j://one") != find_terms_file("neo4j://two")


def test_the_files_of_the_last_graphs_are_kept() -> None:
    for number in range(CACHED_FILES + 2):
        assert count_matches(open_texts(FakeReader(READER, "first"), f"neo4j://host-{number}"), "settings") == 2
        os.utime(find_terms_file(f"neo4j://host-{number}"), (number, number))
    open_texts(FakeReader(READER, "first"))
    kept = [number for number in range(CACHED_FILES + 2) if find_terms_file(f"neo4j://host-{number}").exists()]
    assert kept == list(range(2, CACHED_FILES + 2))


def test_a_graph_without_a_stamp_is_never_cached() -> None:
    reader = FakeReader(READER, "")
    texts = open_texts(reader)
    for _ in range(2):
        assert count_matches(texts, "settings") == 2
    assert reader.asked == 2
    assert not find_terms_file("neo4j://host").exists()


def test_imports_are_fetched_on_request() -> None:
    texts = open_texts(FakeReader(READER, "first"))
    assert count_matches(texts, "loads", Label.IMPORT) == 1


def test_an_unwritable_cache_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert count_matches(open_texts(FakeReader(READER, "first")), "settings") == 2
