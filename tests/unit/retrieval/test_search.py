from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fakes import FakeEncoder, FakeStore
from graphs import make_store

from pkg.encode.encoder import Vectors
from pkg.errors import QueryError, UsageError
from pkg.graph.store import StoreStats
from pkg.model import Label, Matches, Node, NodeFilter, QueryResult, Source
from pkg.retrieval.query import run_query
from pkg.retrieval.query_options import QueryOptions
from pkg.retrieval.search import search_nodes

ZOO = """\
def feed_zebra(zebra):
    if zebra:
        zebra.feed(grass)
    return zebra


def outer():
    def inner(okapi):
        return okapi


def count_lions(lions):
    for lion in lions:
        lion.count()
"""


@pytest.fixture(name="store")
def zoo() -> FakeStore:
    return make_store({"zoo.py": ZOO, "copy.py": ZOO})


def encode(text: str) -> Vectors:
    query: Vectors = FakeEncoder().encode([text.encode()])[0]
    return query


def search(
    store: FakeStore, text: str, mode: str, k: int, where: NodeFilter | None = None
) -> tuple[Matches, list[Node]]:
    matches = search_nodes(store, encode(text), mode, k, where or NodeFilter())
    return matches, store.get([match.id for match in matches.matches])


def test_block_mode_looks_at_blocks_alone(store: FakeStore) -> None:
    _, nodes = search(store, "zebra feed grass", "block", 3)

    assert {node.label for node in nodes} == {Label.BLOCK}
    assert nodes[0].kind == "if"


def test_function_mode_looks_at_functions_alone(store: FakeStore) -> None:
    _, nodes = search(store, "zebra feed grass", "function", 2)

    assert {node.label for node in nodes} == {Label.FUNCTION}
    assert nodes[0].qualname == "feed_zebra"


def test_both_modes_are_merged_by_score_and_cut_to_k(store: FakeStore) -> None:
    matches, nodes = search(store, "zebra feed grass", "both", 4)

    scores = [match.score for match in matches.matches]
    assert scores == sorted(scores, reverse=True)
    assert {node.label for node in nodes} == {Label.BLOCK, Label.FUNCTION}
    assert len(nodes) == 4


def test_a_block_and_a_function_of_equal_content_collapse(store: FakeStore) -> None:
    matches, nodes = search(store, "inner okapi return", "both", 100)

    hashes = [node.content_hash for node in nodes]
    assert len(set(hashes)) == len(hashes)
    inner = [m for m, node in zip(matches.matches, nodes, strict=True) if node.content.startswith("def inner")]
    assert [match.same_content for match in inner] == [3]  # function and body of outer, in two files


def test_counts_of_both_labels_are_added(store: FakeStore) -> None:
    block, function, both = (search(store, "zebra", mode, 100)[0] for mode in ("block", "function", "both"))

    assert both.searched == block.searched + function.searched
    assert both.searched - both.filtered == len(both.matches) + both.folded


def test_block_kinds_do_not_narrow_functions(store: FakeStore) -> None:
    where = NodeFilter(kinds=frozenset({"for"}))

    _, nodes = search(store, "zebra", "both", 100, where)

    assert {node.kind for node in nodes if node.label is Label.BLOCK} == {"for"}
    assert {node.qualname for node in nodes if node.label is Label.FUNCTION} >= {"feed_zebra", "outer"}


@pytest.mark.parametrize("mode", ["block", "function", "both"])
def test_a_huge_k_returns_everything(store: FakeStore, mode: str) -> None:
    matches, _ = search(store, "zebra", mode, 10**9)

    assert len(matches.matches) == matches.searched - matches.folded


FEED = "def feed(zebra):\n    # приветствие\n    if zebra:\n        eat(grass)\n"


@pytest.fixture(name="shop")
def demo() -> FakeStore:
    return make_store(
        {"shop/cart.py": FEED, "shop/old/cart.py": FEED + "    return 1\n", "zoo.py": "def see(okapi): pass\n"}
    )


class Deaf(FakeEncoder):
    """An encoder that knows no word."""

    def encode_query(self, text: str) -> Any:
        return super().encode_query(text) * 0


def ask(shop: FakeStore, text: str, encoder: FakeEncoder | None = None, **options: Any) -> QueryResult:
    return run_query(shop, encoder or FakeEncoder(), text, QueryOptions(**options))


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
def test_a_path_that_matches_nothing_is_refused_with_suggestions(shop: FakeStore, path: str, nearest: str) -> None:
    with pytest.raises(QueryError) as caught:
        ask(shop, "feed a zebra", path=path)

    assert str(caught.value).startswith(f"no file matches the path {path!r}; expected a glob on the whole path below")
    assert nearest in str(caught.value)


def test_one_of_several_paths_that_matches_nothing_is_named(shop: FakeStore) -> None:
    with pytest.raises(QueryError, match=r"no file of source 'demo' matches the path 'zo.py'"):
        ask(shop, "feed a zebra", path=["shop/*", "zo.py"], source="demo")
    assert len(ask(shop, "feed a zebra", path=["shop/*", "zoo.py", "!nothing/*"], mode="function").hits) == 3


@pytest.mark.parametrize("path", ["", "!", ["shop/*", ""]])
def test_an_empty_path_is_wrong_use(shop: FakeStore, path: Any) -> None:
    with pytest.raises(UsageError, match="a path is empty"):
        ask(shop, "feed a zebra", path=path)


def test_words_unknown_to_the_encoder_are_found_in_code(shop: FakeStore) -> None:
    result = ask(shop, "zebra", Deaf(), mode="function")

    assert {hit.path for hit in result.hits[:2]} == {"shop/cart.py", "shop/old/cart.py"}
    with pytest.raises(QueryError, match="no word of the question 'zebra' is known to the encoder"):
        ask(shop, "zebra", Deaf(), ranking="dense")


def test_the_name_of_a_file_finds_its_code(shop: FakeStore) -> None:
    for encoder in (FakeEncoder(), Deaf()):
        assert ask(shop, "zoo.py", encoder, mode="function").hits[0].path == "zoo.py"
        assert ask(shop, "shop/old/cart.py", encoder, mode="function").hits[0].path == "shop/old/cart.py"


@pytest.mark.parametrize("text", ["как испечь пирог", "如何烤蛋糕", "nowhere.py", "\x1b[31m\x00"])
def test_an_unknown_question_is_refused_with_advice(shop: FakeStore, text: str) -> None:
    with pytest.raises(QueryError, match="ask with names or words that the code itself may use, in the language of"):
        ask(shop, text, Deaf())


class WithoutBlocks(FakeStore):
    """A shop without blocks, though it has functions."""

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
