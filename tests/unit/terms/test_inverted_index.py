"""The inverted index scores like a loop over all nodes."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.terms.inverted_index import LexicalIndex, find_top
from pkg.terms.packed_terms import TermRows, saturations
from pkg.terms.words import hash_term

TERMS = ("read", "write", "file", "path", "pars", "größe")
NODES = st.lists(st.dictionaries(st.sampled_from(TERMS), st.integers(0, 255)), max_size=40)


def make_index(nodes: list[dict[str, int]]) -> LexicalIndex:
    pairs = [pair for node in nodes for pair in sorted((hash_term(term), weight) for term, weight in node.items())]
    return LexicalIndex.from_postings(
        TermRows(
            np.array([len(node) for node in nodes], np.int64),
            np.array([term for term, _ in pairs], np.uint32),
            np.array([weight for _, weight in pairs], np.uint8),
        )
    )


@given(NODES, st.dictionaries(st.sampled_from([*TERMS, "unknown"]), st.floats(0, 3)))
def test_scores_are_those_of_a_plain_loop(nodes: list[dict[str, int]], question: dict[str, float]) -> None:
    expected = []
    for node in nodes:
        score = 0.0
        for term in node.keys() & question.keys():
            holders = sum(term in other for other in nodes)
            rarity = log(1 + (len(nodes) - holders + 0.5) / (holders + 0.5))
            score += question[term] * rarity * float(saturations()[node[term]])
        expected.append(score)
    assert make_index(nodes).score(question).tolist() == pytest.approx(expected, rel=1e-5, abs=1e-6)


@given(NODES)
def test_the_order_of_the_terms_of_a_question_changes_no_bit(nodes: list[dict[str, int]]) -> None:
    index = make_index(nodes)
    forward = index.score(dict.fromkeys(TERMS, 1.1))
    assert np.array_equal(forward, index.score(dict.fromkeys(reversed(TERMS), 1.1)))


def test_rare_terms_weigh_more() -> None:
    index = make_index([{"read": 9, "file": 9}, {"read": 9}, {"read": 9}])
    unknown, rare, common = index.weigh(["unknown", "file", "read"])
    assert unknown > rare > common > 0


def test_an_index_without_nodes_scores_nothing() -> None:
    assert make_index([]).score({"read": 1}).tolist() == []


@given(
    st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0]), max_size=30),
    st.integers(0, 12),
    st.lists(st.booleans(), min_size=30, max_size=30) | st.none(),
)
def test_the_top_holds_every_row_among_the_k_best(values: list[float], k: int, kept: list[bool] | None) -> None:
    keep = None if kept is None else np.array(kept[: len(values)], bool)
    found = find_top(np.array(values, np.float32), k, keep).tolist()
    allowed = [row for row, value in enumerate(values) if value > 0 and (keep is None or keep[row])]
    right = [row for row in allowed if sum(values[other] > values[row] for other in allowed) < k]
    assert sorted(found) == right
    assert [values[row] for row in found] == sorted((values[row] for row in right), reverse=True)
