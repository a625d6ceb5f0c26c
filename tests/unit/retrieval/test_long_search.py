"""Long questions through the whole search: parts, mentions, and exclusion of tests."""

from __future__ import annotations

import pytest
from fakes import FakeEncoder, FakeStore
from graphs import make_store
from long_questions import FILES, ISSUE

from pkg.model import Label, NodeFilter
from pkg.retrieval.long.long_search import FEATURES, encode_parts, load_long_weights
from pkg.retrieval.query_options import RANKINGS
from pkg.retrieval.question import parse_question
from pkg.retrieval.search import Found, find_nodes


@pytest.fixture(name="store")
def shop() -> FakeStore:
    return make_store(FILES)


def find(store: FakeStore, text: str, mode: str = "function", k: int = 3, **where: object) -> Found:
    encoder, question = FakeEncoder(), parse_question(text)
    query, parts = encoder.encode_query(question.text), encode_parts(encoder, question)
    return find_nodes(store, question, query, mode, k, NodeFilter(**where), "linear", parts)  # type: ignore[arg-type]


def names(store: FakeStore, found: Found) -> list[str]:
    return [node.qualname for node in store.get([each.id for each in found.ranked])]


def test_the_subject_of_an_issue_comes_first(store: FakeStore) -> None:
    assert {"Cart.add_item", "round_price"} & {*names(store, find(store, ISSUE, k=2))}


def test_tests_are_held_back_unless_they_alone_are_wanted(store: FakeStore) -> None:
    assert "test_add_item" not in names(store, find(store, ISSUE, k=50))
    assert names(store, find(store, ISSUE, k=50, tests=True)) == ["test_add_item"]


@pytest.mark.parametrize("mode", ["block", "function", "both"])
@pytest.mark.parametrize("k", [1, 4])
def test_k_asked_is_k_found_in_falling_order(store: FakeStore, mode: str, k: int) -> None:
    found = find(store, ISSUE, mode, k)
    assert len(found.ranked) == k
    scores = [each.score for each in found.ranked]
    assert scores == sorted(scores, reverse=True)
    labels = {node.label for node in store.get([each.id for each in found.ranked])}
    assert labels <= {"block": {Label.BLOCK}, "function": {Label.FUNCTION}, "both": {Label.BLOCK, Label.FUNCTION}}[mode]


def test_kinds_narrow_the_blocks_of_a_long_question(store: FakeStore) -> None:
    found = find(store, ISSUE, "block", 50, kinds=frozenset({"while"}))
    assert {node.kind for node in store.get([each.id for each in found.ranked])} == {"while"}


def test_a_path_restricts_the_mentions_of_a_question(store: FakeStore) -> None:
    found = find(store, ISSUE, k=50, paths=("lang/*",))
    assert names(store, found) == ["translate"]


def test_a_file_whose_name_is_a_glob_is_searched(store: FakeStore) -> None:
    found = find(store, ISSUE.replace("shop/prices.py", "shop/[odd].py").replace("round_price", "odd_name"), k=50)
    assert "odd_name" in names(store, found)


def test_the_score_has_its_parts(store: FakeStore) -> None:
    (first,) = find(store, ISSUE, k=1).ranked
    assert [name for name, _ in first.parts] == [*FEATURES, "offset"]
    assert 0 < first.score < 1


def test_there_is_a_weight_for_each_feature() -> None:
    assert len(load_long_weights().values) == len(FEATURES)


@pytest.mark.parametrize("ranking", RANKINGS)
def test_a_short_question_takes_the_short_way(store: FakeStore, ranking: str) -> None:
    question = parse_question("add an item to the cart")
    query = FakeEncoder().encode_query(question.text)
    assert encode_parts(FakeEncoder(), question) == {}
    found = find_nodes(store, question, query, "function", 3, NodeFilter(), ranking, {})
    assert found == find_nodes(store, question, query, "function", 3, NodeFilter(), ranking)
    assert {"dense": set(), "rrf": set()}.get(ranking, {"in_test"}) <= {
        n for each in found.ranked for n, _ in each.parts
    }
