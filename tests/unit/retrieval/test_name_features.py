from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pools import make_bare_pool

from pkg.model import Label, Outline
from pkg.retrieval import name_features
from pkg.retrieval.candidate_pool import Pool, Scores
from pkg.retrieval.question import parse_question


def ask(text: str, *qualnames: str, path: str = "shop/cart.py") -> Pool:
    question, count = parse_question(text), len(qualnames)
    outlines = tuple(
        Outline(name, Label.FUNCTION, "demo", path, name.split(".")[-1], name, "function", 4, name, name, 0.0)
        for name in qualnames
    )
    words, rarities = np.zeros((count, len(question.weights))), np.ones(len(question.weights))
    return make_bare_pool(question, outlines, words, rarities, np.zeros(count))


def flags(measured: Scores) -> list[float]:
    return [float(value) for value in measured]


def test_a_name_with_the_words_of_the_question_matches_fully() -> None:
    pool = ask("add items", "Cart.add_item", "Cart.add", "Cart.remove")
    assert flags(name_features.name_cover(pool)) == [1.0, 0.5, 0.0]
    assert flags(name_features.name_share(pool)) == [1.0, 1.0, 0.0]
    assert flags(name_features.name_match(pool)) == [1.0, 0.5, 0.0]


def test_the_names_of_classes_are_shared_with_the_question_too() -> None:
    assert flags(name_features.qualname_share(ask("add to the cart", "Cart.add", "Stock.add"))) == [1.0, 0.5]


def test_words_of_a_name_count_in_the_order_of_the_question() -> None:
    pool = ask("swap two rows of a matrix", "swap_matrix_rows", "swap_rows", "rows_swap", "swap")
    assert flags(name_features.name_order(pool)) == [1.0, 1.0, 0.0, 0.0]


def test_the_first_word_of_a_name_may_be_that_of_the_question_or_another_of_it() -> None:
    pool = ask("swap two rows", "swap_all", "rows_swap", "all_rows")
    assert flags(name_features.name_start(pool)) == [1.0, 0.0, 0.0]
    assert flags(name_features.name_verb(pool)) == [1.0, 1.0, 0.0]


def test_class_and_path_cover_other_words() -> None:
    cart, book = ask("cart of shop", "Cart.add"), ask("cart of shop", "total", path="bank/book.py")
    assert name_features.scope_cover(cart)[0] > name_features.scope_cover(book)[0] == 0


def test_a_name_gains_by_learned_words() -> None:
    pool = ask("determine whether the list is empty", "is_empty", "has_items", "plot_table")
    empty, items, table = flags(name_features.name_gain(pool))
    assert empty > items > table
    unsaid = flags(name_features.name_gain_unsaid(pool))
    assert unsaid[0] == 0.0
    assert unsaid[1] == pytest.approx(items)


def test_the_mean_gain_is_the_gain_of_one_word() -> None:
    pool = ask("count the rows", "count_rows", "__", "count_rows_of_all_the_tables_that_there_are")
    means, lengths = flags(name_features.name_gain_mean(pool)), flags(name_features.name_length(pool))
    assert lengths == [2.0, 0.0, 9.0]
    assert means[0] == pytest.approx(flags(name_features.name_gain(pool))[0] / 2)
    assert means[1] == 0.0
    assert means[0] > means[2]


@given(st.text(max_size=30), st.lists(st.text(max_size=12), min_size=1, max_size=5))
def test_any_question_measures_any_name(text: str, names: list[str]) -> None:
    pool = ask(text, *names)
    for feature in (name_features.name_gain, name_features.name_order):
        assert all(math.isfinite(value) and value >= 0 for value in flags(feature(pool)))
