from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pools import make_bare_pool

from pkg.model import Label, Outline
from pkg.retrieval import features
from pkg.retrieval.candidate_pool import Pool, Scores, standard_deviation
from pkg.retrieval.features import FEATURES, measure_features
from pkg.retrieval.question import parse_question


def outline(qualname: str, path: str = "shop/cart.py", kind: str | None = "function", lines: int = 4) -> Outline:
    label = Label.BLOCK if kind == "body" else Label.FUNCTION
    node_id, place = f"{path}:{qualname}", (path, qualname.split(".")[-1], qualname)
    return Outline(node_id, label, "demo", *place, kind, lines, qualname, node_id, 0.0)


def make_pool(text: str, *outlines: Outline, dense: list[float] | None = None) -> Pool:
    question, count = parse_question(text), len(outlines)
    if dense:
        outlines = tuple(each._replace(cosine=cosine) for each, cosine in zip(outlines, dense, strict=True))
    words, rarities = np.zeros((count, len(question.weights))), np.ones(len(question.weights))
    return make_bare_pool(question, outlines, words, rarities, np.zeros(count))


def flags(measured: Scores) -> list[float]:
    return [float(value) for value in measured]


def test_missing_words_of_the_question_are_counted() -> None:
    pool = make_pool("add to cart", outline("Cart.add"), outline("Cart.drop"))
    held = {term: column for column, term in enumerate(pool.question.weights)}
    words = np.zeros((2, len(held)))
    words[0, held["add"]] = words[0, held["cart"]] = words[1, held["cart"]] = 1.0
    pool = replace(pool, words=words)
    assert flags(features.words_missing(pool)) == [1.0, 2.0]


def test_methods_and_module_functions_differ() -> None:
    assert flags(features.is_method(make_pool("cart", outline("Cart.add"), outline("add")))) == [1.0, 0.0]


def test_blocks_are_ranked_among_those_of_their_function() -> None:
    cart, stock = outline("Cart.add"), outline("Stock.add")
    blocks = [replace_name(outline("Cart.add", kind="body"), name) for name in ("body", "body/if[0]", "body/if[1]")]
    pool = make_pool("add to cart", *blocks, outline("Stock.add", kind="body"), dense=[0.5, 0.9, 0.1, 0.2])
    pool = replace(pool, owners=(cart, cart, cart, stock))
    assert flags(features.rank_inside(pool)) == pytest.approx([1 / 2, 1.0, 1 / 3, 1.0])
    assert flags(features.blocks_inside(pool)) == pytest.approx([math.log(3)] * 3 + [0.0])


def test_abbreviations_are_measured_against_the_words_themselves() -> None:
    pool = make_pool("cart", outline("add"), outline("pay"))
    pool = replace(pool, words=np.array([[0.5], [2.0]]), abbreviated=np.array([1.0, 0.0]))
    assert flags(features.abbreviated(pool)) == [0.5, 0.0]


def replace_name(block: Outline, name: str) -> Outline:
    return block._replace(id=f"{block.id}:{name}", name=name)


def test_the_weaker_score_is_the_lower_of_both() -> None:
    pool = make_pool("cart", *(outline(name) for name in "abc"), dense=[0.9, 0.5, 0.1])
    pool = replace(pool, words=np.array([[0.0], [1.0], [2.0]]))
    both = zip(flags(features.dense(pool)), flags(features.lexical(pool)), strict=True)
    assert flags(features.weaker(pool)) == [min(pair) for pair in both]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("how is Cart.add used", [1.0, 0.5, 0.0]),
        ("what does `add` do", [1.0, 1.0, 0.0]),
        ("how is cart.total_price used", [0.0, 0.0, 0.0]),
        ("add to cart", [0.0, 0.0, 0.0]),
    ],
)
def test_an_identifier_that_is_named_leads_to_its_function(text: str, wanted: list[float]) -> None:
    pool = make_pool(text, outline("Cart.add"), outline("Stock.add", "shop/stock.py"), outline("Cart.remove"))
    assert flags(features.asked_name(pool)) == wanted


def test_a_line_that_is_named_leads_to_its_function_and_block() -> None:
    cart = outline("Cart.add")
    there, beside = (replace_name(outline("Cart.add", kind="body"), name) for name in ("body/if[0]", "body/if[1]"))
    pool = make_pool("why does cart.py:36 fail", there, beside, outline("Stock.add"))
    pool = replace(pool, owners=(cart, cart, outline("Stock.add")), on_line=frozenset({cart.id, there.id}))
    assert flags(features.asked_line(pool)) == [2.0, 1.0, 0.0]


def test_a_class_or_module_that_is_named_leads_to_its_functions() -> None:
    pool = make_pool("methods of ShopCart in shop.stock", outline("ShopCart.add"), outline("count", "shop/stock.py"))
    assert flags(features.asked_scope(pool)) == [1.0, 1.0]


@pytest.mark.parametrize("text", ["what is in cart.py", "what is in shop/cart.py", "what is in shop/"])
def test_a_named_file_or_folder_leads_to_its_functions(text: str) -> None:
    pool = make_pool(text, outline("Cart.add"), outline("Cart.add", "old_cart.py"))
    assert flags(features.asked_file(pool)) == [1.0, 0.0]


def test_a_name_with_dots_leads_to_a_package() -> None:
    pool = make_pool("what is in shop.cart", outline("add", "shop/cart/__init__.py"), outline("add", "shop/old.py"))
    assert flags(features.asked_file(pool)) == [1.0, 0.0]


def test_tests_are_marked_unless_the_question_asks_for_them() -> None:
    outlines = outline("test_add", "tests/test_cart.py"), outline("add")
    assert flags(features.in_test(make_pool("add to cart", *outlines))) == [1.0, 0.0]
    assert flags(features.in_test(make_pool("tests of adding to cart", *outlines))) == [0.0, 0.0]
    assert flags(features.in_test(make_pool("test the connection of a cart", *outlines))) == [1.0, 0.0]


def test_special_and_private_functions_are_marked() -> None:
    pool = make_pool("cart", outline("Cart.__init__"), outline("Cart._load"), outline("Cart.load"))
    assert flags(features.is_special(pool)) == [1.0, 0.0, 0.0]
    assert flags(features.is_private(pool)) == [0.0, 1.0, 0.0]


def test_scores_are_measured_by_the_spread_of_the_best() -> None:
    cosines = [0.9, 0.5, 0.1]
    pool = make_pool("cart", *(outline(name) for name in "abc"), dense=cosines)
    unit = standard_deviation(pool.dense)
    assert unit == pytest.approx(np.std(cosines))
    assert flags(features.dense(pool)) == pytest.approx([0.4 / unit, 0.0, -0.4 / unit])


def test_equal_scores_say_nothing_and_rank_alike() -> None:
    pool = make_pool("cart", *(outline(name) for name in "abc"), dense=[0.5, 0.5, 0.5])
    assert standard_deviation(pool.dense) == math.inf
    assert flags(features.dense(pool)) == [0.0, 0.0, 0.0]
    assert flags(features.dense_rank(pool)) == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("label", list(FEATURES))
@pytest.mark.parametrize("text", ["add to cart", "добавить в корзину", "加入购物车", "🚀", "???"])
def test_every_feature_has_a_number_for_every_candidate(label: Label, text: str) -> None:
    pool = make_pool(text, outline("Cart.add"), outline("body", kind="body"), dense=[0.2, 0.1])
    measured = measure_features(pool, label)
    assert measured.shape == (2, len(FEATURES[label]))
    assert np.isfinite(measured).all()


def test_a_pool_without_candidates_has_no_rows() -> None:
    assert measure_features(make_pool("cart"), Label.FUNCTION).shape == (0, len(FEATURES[Label.FUNCTION]))


def ask(text: str, *qualnames: str, path: str = "shop/cart.py") -> Pool:
    question, count = parse_question(text), len(qualnames)
    outlines = tuple(
        Outline(name, Label.FUNCTION, "demo", path, name.split(".")[-1], name, "function", 4, name, name, 0.0)
        for name in qualnames
    )
    words, rarities = np.zeros((count, len(question.weights))), np.ones(len(question.weights))
    return make_bare_pool(question, outlines, words, rarities, np.zeros(count))


def test_a_name_with_the_words_of_the_question_matches_fully() -> None:
    pool = ask("add items", "Cart.add_item", "Cart.add", "Cart.remove")
    assert flags(features.name_cover(pool)) == [1.0, 0.5, 0.0]
    assert flags(features.name_share(pool)) == [1.0, 1.0, 0.0]
    assert flags(features.name_match(pool)) == [1.0, 0.5, 0.0]


def test_the_names_of_classes_are_shared_with_the_question_too() -> None:
    assert flags(features.qualname_share(ask("add to the cart", "Cart.add", "Stock.add"))) == [1.0, 0.5]


def test_words_of_a_name_count_in_the_order_of_the_question() -> None:
    pool = ask("swap two rows of a matrix", "swap_matrix_rows", "swap_rows", "rows_swap", "swap")
    assert flags(features.name_order(pool)) == [1.0, 1.0, 0.0, 0.0]


def test_the_first_word_of_a_name_may_be_that_of_the_question_or_another_of_it() -> None:
    pool = ask("swap two rows", "swap_all", "rows_swap", "all_rows")
    assert flags(features.name_start(pool)) == [1.0, 0.0, 0.0]
    assert flags(features.name_verb(pool)) == [1.0, 1.0, 0.0]


def test_class_and_path_cover_other_words() -> None:
    cart, book = ask("cart of shop", "Cart.add"), ask("cart of shop", "total", path="bank/book.py")
    assert features.scope_cover(cart)[0] > features.scope_cover(book)[0] == 0


def test_a_name_gains_by_learned_words() -> None:
    pool = ask("determine whether the list is empty", "is_empty", "has_items", "plot_table")
    empty, items, table = flags(features.name_gain(pool))
    assert empty > items > table
    unsaid = flags(features.name_gain_unsaid(pool))
    assert unsaid[0] == 0.0
    assert unsaid[1] == pytest.approx(items)


def test_the_mean_gain_is_the_gain_of_one_word() -> None:
    pool = ask("count the rows", "count_rows", "__", "count_rows_of_all_the_tables_that_there_are")
    means, lengths = flags(features.name_gain_mean(pool)), flags(features.name_length(pool))
    assert lengths == [2.0, 0.0, 9.0]
    assert means[0] == pytest.approx(flags(features.name_gain(pool))[0] / 2)
    assert means[1] == 0.0
    assert means[0] > means[2]


@given(st.text(max_size=30), st.lists(st.text(max_size=12), min_size=1, max_size=5))
def test_any_question_measures_any_name(text: str, names: list[str]) -> None:
    pool = ask(text, *names)
    for feature in (features.name_gain, features.name_order):
        assert all(math.isfinite(value) and value >= 0 for value in flags(feature(pool)))
