from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fakes import FakeEncoder, FakeStore
from graphs import make_store

from pkg.errors import QueryError, UsageError
from pkg.graph.store import StoreStats
from pkg.model import QueryResult, Source
from pkg.retrieval.query import run_query
from pkg.retrieval.query_options import QueryOptions

FEED = "def feed(zebra):\n    # приветствие\n    if zebra:\n        eat(grass)\n"


@pytest.fixture(name="store")
def demo() -> FakeStore:
    return make_store(
        {"shop/cart.py": FEED, "shop/old/cart.py": FEED + "    return 1\n", "zoo.py": "def see(okapi): pass\n"}
    )


class Deaf(FakeEncoder):
    """An encoder that knows no word."""

    def encode_query(self, text: str) -> Any:
        return super().encode_query(text) * 0


def ask(store: FakeStore, text: str, encoder: FakeEncoder | None = None, **options: Any) -> QueryResult:
    return run_query(store, encoder or FakeEncoder(), text, QueryOptions(**options))


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        ("shop", "nearest: 'shop/*'"),
        ("./shop/", "nearest: 'shop/*'"),
        ("cart.py", "nearest: '*/cart.py'"),
        ("old", "nearest: '*/old/*'"),
        ("shop\\cart.py", "nearest: 'shop/cart.py'"),
        ("/srv/src/shop/old/cart.py", "nearest: 'shop/old/cart.py'"),
        ("Zoo.py", "nearest: '*zoo.py*'"),
        ("shop/crat.py", "nearest: 'shop/cart.py'"),
        ("shpo/*", "nearest: 'shop/*'"),
        ("*.rst", "pkg stats lists the sources and their roots"),
    ],
)
def test_a_path_that_matches_nothing_is_refused_with_suggestions(store: FakeStore, path: str, nearest: str) -> None:
    with pytest.raises(QueryError) as caught:
        ask(store, "feed a zebra", path=path)

    assert str(caught.value).startswith(f"no file matches the path {path!r}; expected a glob on the whole path below")
    assert nearest in str(caught.value)


def test_one_of_several_paths_that_matches_nothing_is_named(store: FakeStore) -> None:
    with pytest.raises(QueryError, match=r"no file of source 'demo' matches the path 'zo.py'"):
        ask(store, "feed a zebra", path=["shop/*", "zo.py"], source="demo")
    assert len(ask(store, "feed a zebra", path=["shop/*", "zoo.py", "!nothing/*"], mode="function").hits) == 3


@pytest.mark.parametrize("path", ["", "!", ["shop/*", ""]])
def test_an_empty_path_is_wrong_use(store: FakeStore, path: Any) -> None:
    with pytest.raises(UsageError, match="a path is empty"):
        ask(store, "feed a zebra", path=path)


def test_words_unknown_to_the_encoder_are_found_in_code(store: FakeStore) -> None:
    result = ask(store, "zebra", Deaf(), mode="function")

    assert {hit.path for hit in result.hits[:2]} == {"shop/cart.py", "shop/old/cart.py"}
    with pytest.raises(QueryError, match="no word of the question 'zebra' is known to the encoder"):
        ask(store, "zebra", Deaf(), ranking="dense")


def test_the_name_of_a_file_finds_its_code(store: FakeStore) -> None:
    for encoder in (FakeEncoder(), Deaf()):
        assert ask(store, "zoo.py", encoder, mode="function").hits[0].path == "zoo.py"
        assert ask(store, "shop/old/cart.py", encoder, mode="function").hits[0].path == "shop/old/cart.py"


@pytest.mark.parametrize("text", ["как испечь пирог", "如何烤蛋糕", "nowhere.py", "\x1b[31m\x00"])
def test_an_unknown_question_is_refused_with_advice(store: FakeStore, text: str) -> None:
    with pytest.raises(QueryError, match="ask with names or words that the code itself may use, in the language of"):
        ask(store, text, Deaf())


class WithoutBlocks(FakeStore):
    """A store without blocks, though it has functions."""

    def stats(self, source: str | None = None) -> StoreStats:
        return replace(super().stats(source), nodes={"Source": 1, "Function": 1200})

    def sources(self) -> tuple[Source, ...]:
        return (Source("shop", "repository", "/shop"),)


def test_a_graph_without_the_nodes_of_the_mode_names_a_mode_that_it_has_nodes_of() -> None:
    (note,) = ask(WithoutBlocks(), "see an okapi").coverage.notes
    assert note == "the graph holds no Block nodes; it holds 1,200 Function nodes: ask with mode 'function'"


def test_a_graph_without_code_suggests_a_build() -> None:
    with pytest.raises(QueryError, match="the graph memory:/// holds no code; run: pkg build PATH"):
        ask(FakeStore(), "see an okapi")
