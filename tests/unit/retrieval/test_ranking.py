from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pools import make_bare_pool

from pkg.api import build_graph, open_graph
from pkg.errors import StoreError
from pkg.model import Label, Outline
from pkg.retrieval import ranking
from pkg.retrieval.candidate_pool import Pool
from pkg.retrieval.features import FEATURES
from pkg.retrieval.question import parse_question
from pkg.retrieval.ranking import OTHER, Ranked, load_weights, merge_ranked, rank_linear, rank_reciprocal

COSINES = st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=30)


def make_pool(cosines: list[float], contents: list[str] | None = None) -> Pool:
    question = parse_question("add to the cart")
    names = contents or [str(number) for number in range(len(cosines))]
    outlines = tuple(
        Outline(identity, Label.FUNCTION, "demo", "cart.py", "work", "work", "function", 3, content, identity, cosine)
        for identity, content, cosine in zip(map("{:016x}".format, range(len(names))), names, cosines, strict=True)
    )
    words = np.zeros((len(cosines), len(question.weights)))
    return make_bare_pool(question, outlines, words, words.sum(axis=0), words.sum(axis=1))


@given(COSINES)
def test_scores_fall_with_the_rank_and_lie_between_0_and_1(cosines: list[float]) -> None:
    ranked = rank_linear(make_pool(cosines), Label.FUNCTION, 99)
    scores = [each.score for each in ranked]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert sorted(each.id for each in ranked) == [f"{number:016x}" for number in range(len(cosines))]


@given(COSINES)
def test_the_parts_of_a_score_add_up_to_it(cosines: list[float]) -> None:
    for each in rank_linear(make_pool(cosines), Label.FUNCTION, 99):
        total = sum(value for _, value in each.parts)
        assert each.score == pytest.approx(1 / (1 + np.exp(-total)), abs=1e-8)


@given(COSINES, st.floats(0, 1))
def test_a_higher_cosine_never_lowers_a_score(cosines: list[float], gain: float) -> None:
    for each in rank_linear(make_pool(cosines), Label.FUNCTION, 99):
        assert each.score <= each.raise_score(gain) <= 1


def test_equal_candidates_are_ordered_by_id() -> None:
    ranked = rank_linear(make_pool([0.5, 0.5, 0.5]), Label.FUNCTION, 99)
    assert [each.id for each in ranked] == ["0" * 15 + digit for digit in "012"]


def test_equal_content_collapses_into_the_best() -> None:
    ranked = rank_linear(make_pool([0.1, 0.9, 0.5], ["same", "same", "other"]), Label.FUNCTION, 99)
    assert [(each.id[-1], each.same_content) for each in ranked] == [("1", 1), ("2", 0)]


def test_only_the_first_k_are_returned() -> None:
    assert [each.id[-1] for each in rank_linear(make_pool([0.1, 0.9, 0.5]), Label.FUNCTION, 2)] == ["1", "2"]


def test_reciprocal_ranks_prefer_matches_of_both_searches() -> None:
    pool = make_pool([0.9, 0.8, 0.1, 0.0])
    words = np.zeros((4, len(pool.question.weights)))
    words[:, 0] = [0.0, 3.0, 2.0, 1.0]
    ranked = rank_reciprocal(replace(pool, words=words), 99)
    assert ranked[0].id[-1] == "1"
    assert ranked[0].raise_score(0.5) == ranked[0].score


def test_merging_collapses_a_block_and_a_function_of_equal_content() -> None:
    functions = [Ranked("a", 0.9, 0.5, "same", 2), Ranked("b", 0.2, 0.5, "other")]
    blocks = [Ranked("c", 0.4, 0.5, "same"), Ranked("d", 0.3, 0.5, "third")]
    merged = merge_ranked([functions, blocks])
    assert [(each.id, each.same_content) for each in merged] == [("a", 3), ("d", 0), ("b", 0)]


def test_the_weights_that_are_shipped_name_every_feature() -> None:
    rows = json.loads(ranking.WEIGHTS.read_text("utf-8"))
    for label, features in FEATURES.items():
        for name, row in rows.items():
            assert set(row[label.value]["weights"]) == {feature.__name__ for feature in features}
            assert len(load_weights(name)[label].values) == len(features)


@pytest.mark.parametrize(
    ("encoder", "row"),
    [("static", "static"), ("static@1f2e3d4c", "static"), ("minilm", OTHER), ("openai:NAME@URL", OTHER), ("", OTHER)],
)
def test_encoders_that_nothing_was_learned_for_share_weights(encoder: str, row: str) -> None:
    assert load_weights(encoder) == load_weights(row)
    assert (load_weights(encoder) == load_weights("static")) == (row == "static")


def test_weights_of_other_features_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rows = json.loads(ranking.WEIGHTS.read_text("utf-8"))
    weights = rows[OTHER]["Function"]["weights"]
    weights["colour"] = weights.pop("dense")
    broken = tmp_path / "ranker.json"
    broken.write_text(json.dumps(rows), "utf-8")
    monkeypatch.setattr(ranking, "WEIGHTS", broken)
    ranking._load_rows.cache_clear()
    with pytest.raises(StoreError, match=r"colour.*expected.*dense"):
        load_weights("static")
    ranking._load_rows.cache_clear()


def test_a_graph_is_ranked_by_the_weights_for_its_encoder(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def find_price(cart):\n    return cart.price\n")
    store = f"sqlite:///{tmp_path}/graph.db"
    build_graph(tmp_path / "a.py", store=store)
    with open_graph(store) as graph:
        name = graph.store.encoder()[0]
        result = graph.query("find the price of a cart", mode="function", declarations=False, prune="none")
        assert f"offset {load_weights(name)[Label.FUNCTION].offset:+.2f}" in "\n".join(result.explain)
    assert load_weights(name) == load_weights("static")
