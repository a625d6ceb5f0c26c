"""Reordering the best candidates by a model that reads question and code together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from fakes import FakeEncoder, FakeStore
from graphs import make_store
from toy_sentences import Uses, install_sentences

from pkg.encode.sentence import load_pair_model
from pkg.model import Label
from pkg.retrieval.query import QueryOptions, run_query
from pkg.retrieval.ranking import Ranked
from pkg.retrieval.second_look import RERANK_DEPTH, open_model_order, rerank_hits

CODE = "".join(f"def read_{'x' * number}():\n    return {number}\n\n\n" for number in range(1, 80))


@pytest.fixture(name="store")
def demo() -> FakeStore:
    return make_store({"shop/read.py": CODE})


@pytest.fixture
def uses() -> Iterator[Uses]:
    load_pair_model.cache_clear()
    with install_sentences() as noted:
        yield noted


class LengthModel:
    """A model that prefers longer texts."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        self.asked += texts
        return [len(text) / 1000 for text in texts]


def rank_all(store: FakeStore) -> list[Ranked]:
    nodes = sorted(store.nodes([Label.FUNCTION]), key=lambda node: node.start)
    return [Ranked(node.id, 1 - place / 100, 0.5, node.content_hash) for place, node in enumerate(nodes)]


def test_the_order_is_that_of_the_model(store: FakeStore) -> None:
    ranked = rank_all(store)[:10]
    found = rerank_hits(store, LengthModel(), "read", ranked)
    assert [each.id for each in found] == [each.id for each in reversed(ranked)]
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)
    assert {each.cosine for each in found} == {0.5}


def test_equal_scores_keep_their_order(store: FakeStore) -> None:
    class Indifferent:
        def score(self, query: str, texts: Sequence[str]) -> list[float]:
            return [0.5] * len(texts)

    ranked = rank_all(store)[:10]
    assert [each.id for each in rerank_hits(store, Indifferent(), "read", ranked)] == [each.id for each in ranked]


def test_the_model_reads_paths_and_only_the_best_candidates(store: FakeStore) -> None:
    model = LengthModel()
    rerank_hits(store, model, "read", rank_all(store))
    assert len(model.asked) == RERANK_DEPTH
    assert model.asked[0] == "shop/read read_x\ndef read_x():\n    return 1"


def test_candidates_that_the_model_does_not_read_follow(store: FakeStore) -> None:
    ranked = rank_all(store)
    assert rerank_hits(store, LengthModel(), "read", ranked)[RERANK_DEPTH:] == tuple(ranked[RERANK_DEPTH:])
    assert rerank_hits(store, LengthModel(), "read", []) == ()


def test_a_query_orders_its_hits_by_the_model(store: FakeStore, uses: Uses) -> None:
    plain = run_query(store, FakeEncoder(), "return", QueryOptions(mode="function", ranking="dense"))
    options = QueryOptions(mode="function", top_k=2, ranking="dense")
    result = run_query(store, FakeEncoder(), "return", options, open_model_order("m"))
    lengths = [len(text) for _, text in uses.pairs]
    assert len(lengths) == RERANK_DEPTH
    assert [len(f"shop/read {hit.qualname}\n{hit.content}") for hit in result.hits] == sorted(lengths)[:-3:-1]
    assert result.explain[0] == f"the best {RERANK_DEPTH} candidates were ordered by the model m"
    assert plain.coverage.searched == result.coverage.searched
