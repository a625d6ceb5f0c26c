"""Reordering the best candidates by a second encoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from fakes import FakeEncoder, FakeStore
from graphs import make_store

from pkg.encode.registry import KINDS, load_encoder
from pkg.model import Label
from pkg.retrieval.query import QueryOptions, run_query
from pkg.retrieval.ranking import Ranked
from pkg.retrieval.second_look import LOOK_DEPTH, MAX_READ, look_again, names_encoder, open_model_order

CODE = "".join(f"def read_{'x' * number}():\n    return {number}\n\n\n" for number in range(1, 60))


@pytest.fixture(name="store")
def demo() -> FakeStore:
    return make_store({"shop/read.py": CODE})


class Prefers:
    """An encoder to which one text is near and all others are equally far."""

    name, dimension = "prefers", 2

    def __init__(self, word: str) -> None:
        self._word = word.encode()
        self.read: list[bytes] = []

    def encode(self, texts: Sequence[bytes], headings: Sequence[str] = ()) -> Any:
        self.read += texts
        rows = [[1.0, 0.0] if text.endswith(self._word) else [0.6, 0.8] for text in texts]
        return np.array(rows, np.float32)

    def encode_query(self, text: str) -> Any:
        return np.array([1.0, 0.0] if text else [0.0, 0.0], np.float32)


def rank_all(store: FakeStore, *scores: float) -> list[Ranked]:
    nodes = sorted(store.nodes([Label.FUNCTION]), key=lambda node: node.start)[: len(scores)]
    return [
        Ranked(node.id, score, 0.5, node.content_hash, parts=(("offset", 1.0),))
        for node, score in zip(nodes, scores, strict=True)
    ]


def test_a_near_text_passes_close_scores_but_not_a_clear_first(store: FakeStore) -> None:
    encoder: Any = Prefers("return 3")
    close = rank_all(store, 0.5, 0.49, 0.48, 0.47)
    assert [each.id for each in look_again(store, encoder, "q", close)] == [close[place].id for place in (2, 0, 1, 3)]
    clear = rank_all(store, 0.99, 0.1, 0.09, 0.08)
    assert [each.id for each in look_again(store, encoder, "q", clear)] == [clear[place].id for place in (0, 2, 1, 3)]


def test_scores_are_those_of_the_places(store: FakeStore) -> None:
    found = look_again(store, Prefers("return 3"), "q", rank_all(store, 0.5, 0.49, 0.48))
    assert [(each.score, each.parts) for each in found] == [(0.5, ()), (0.49, ()), (0.48, ())]


def test_only_the_best_are_read_and_the_others_follow(store: FakeStore) -> None:
    encoder: Any = Prefers("return 45")
    ranked = rank_all(store, *(0.9 - place / 100 for place in range(50)))
    found = look_again(store, encoder, "q", ranked)
    assert len(encoder.read) == LOOK_DEPTH
    assert all(len(text) <= MAX_READ for text in encoder.read)
    assert [each.id for each in found] == [each.id for each in ranked]


def test_a_question_without_known_words_keeps_the_order(store: FakeStore) -> None:
    ranked = rank_all(store, 0.5, 0.4)
    assert look_again(store, Prefers("return 2"), "", ranked) == tuple(ranked)


def test_a_model_is_an_encoder_by_its_kind() -> None:
    assert all(
        names_encoder(each) for each in ("minilm", "minilm:folder", "st:name", "openai:name@http://localhost/v1")
    )
    assert not any(names_encoder(each) for each in ("cross-encoder/ms-marco", "folder/of/model", "minilm-cross"))
    assert set(KINDS) == {each for each in KINDS if names_encoder(each)}


def test_a_query_is_reordered_and_says_so(store: FakeStore, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = Prefers("return 7")
    monkeypatch.setattr("pkg.retrieval.second_look.load_encoder", lambda name: encoder)
    options = QueryOptions(mode="function", top_k=2, ranking="rrf", hops=0)
    found = run_query(store, FakeEncoder(), "read xxxxxxx", options, open_model_order("minilm"))
    assert found.hits[0].qualname == "read_xxxxxxx"
    assert "the best 30 candidates were ordered by their scores and the encoder minilm together" in found.explain


def test_an_encoder_of_the_default_install_can_look_again(store: FakeStore) -> None:
    ranked = rank_all(store, *(0.5 for _ in range(20)))
    found = look_again(store, load_encoder("static"), "read", ranked)
    assert {each.id for each in found} == {each.id for each in ranked}
