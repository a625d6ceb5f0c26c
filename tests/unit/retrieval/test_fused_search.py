"""The search of pkg query as a whole: matches of both searches in one order."""

from __future__ import annotations

import pytest
from fakes import FakeEncoder, FakeStore
from graphs import make_store

from pkg.model import Label, NodeFilter
from pkg.retrieval.query_options import RANKINGS
from pkg.retrieval.question import parse_question
from pkg.retrieval.search import Found, find_nodes

SHOP = '''\
class Cart:
    def add_item(self, item):
        """Put something into the cart."""
        if item.price:
            self.items.append(item)
        return item

    def total(self):
        for item in self.items:
            yield item.price


class Stock:
    def add_item(self, item):
        self.count += 1
        return item
'''
OTHER = """\
def translate(text):
    # перевести текст на другой язык
    if text:
        return text.lower()  # 翻译文本
    return None  # 🚀


def run(value):
    while value:
        value = value.next
    return value
"""


@pytest.fixture(name="store")
def shop() -> FakeStore:
    return make_store({"shop/cart.py": SHOP, "lang/words.py": OTHER, "tests/test_words.py": OTHER + "\nX = 1\n"})


def find(
    store: FakeStore, text: str, mode: str = "function", k: int = 3, ranking: str = "linear", **where: object
) -> Found:
    query = FakeEncoder().encode_query(text)
    return find_nodes(store, parse_question(text), query, mode, k, NodeFilter(**where), ranking)  # type: ignore[arg-type]


def names(store: FakeStore, found: Found) -> list[str]:
    return [node.qualname for node in store.get([each.id for each in found.ranked])]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("how is Stock.add_item used", "Stock.add_item"),
        ("how is Cart.add_item used", "Cart.add_item"),
        ("what does total() give", "Cart.total"),
    ],
)
def test_a_function_that_is_named_comes_first(store: FakeStore, text: str, first: str) -> None:
    assert names(store, find(store, text))[0] == first


@pytest.mark.parametrize("ranking", RANKINGS)
@pytest.mark.parametrize("mode", ["block", "function", "both"])
@pytest.mark.parametrize("text", ["add an item", "перевести текст", "翻译文本", "🚀 rocket", "zzz qqq"])
def test_k_asked_is_k_found_in_falling_order(store: FakeStore, ranking: str, mode: str, text: str) -> None:
    labels = {"block": [Label.BLOCK], "function": [Label.FUNCTION], "both": [Label.BLOCK, Label.FUNCTION]}[mode]
    contents = {node.content_hash for node in store.nodes(labels)}
    for k in (1, 3, len(contents), len(contents) + 5):
        found = find(store, text, mode, k, ranking)
        scores = [each.score for each in found.ranked]
        assert len(scores) == min(k, len(contents))
        assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("text", ["перевести текст", "翻译文本"])
def test_comments_in_other_scripts_are_found_by_their_words(store: FakeStore, text: str) -> None:
    assert names(store, find(store, text))[0] == "translate"


def test_an_abbreviated_name_is_found_and_counts() -> None:
    crowd = "".join(f"def work_{number}(value):\n    return value + {number}\n\n\n" for number in range(200))
    store = make_store({"crowd.py": crowd, "ratio.py": "def den(value):\n    return value[1]\n"})
    found = find(store, "what stands below the line, the denominator", k=1)
    assert names(store, found) == ["den"]
    assert dict(found.ranked[0].parts)["abbreviated"] > 0


def test_equal_code_counts_once(store: FakeStore) -> None:
    found = find(store, "translate text", k=9)
    (first, *rest) = found.ranked
    assert first.same_content == 1
    assert "translate" not in names(store, Found(tuple(rest), 0, 0, 0))


@pytest.mark.parametrize("mode", ["block", "function", "both"])
@pytest.mark.parametrize("ranking", RANKINGS)
def test_filters_apply_to_both_searches(store: FakeStore, mode: str, ranking: str) -> None:
    found = find(store, "translate text, see shop/cart.py", mode, 50, ranking, paths=("lang/*",))
    paths = {node.path for node in store.get([each.id for each in found.ranked])}
    assert paths == {"lang/words.py"}


@pytest.mark.parametrize("ranking", RANKINGS)
def test_kinds_narrow_the_blocks_of_found_functions_too(store: FakeStore, ranking: str) -> None:
    found = find(store, "translate text", "block", 50, ranking, kinds=frozenset({"while"}))
    assert {node.kind for node in store.get([each.id for each in found.ranked])} == {"while"}


def test_a_file_that_is_named_brings_its_functions(store: FakeStore) -> None:
    found = find(store, "what is in lang/words.py", k=2)
    assert {node.path for node in store.get([each.id for each in found.ranked])} == {"lang/words.py"}


def test_the_cosine_stays_visible_under_every_ranking(store: FakeStore) -> None:
    cosines = {each.id: each.cosine for each in find(store, "add an item", k=9, ranking="dense").ranked}
    for ranking in RANKINGS:
        for each in find(store, "add an item", k=9, ranking=ranking).ranked:
            assert each.cosine == pytest.approx(cosines[each.id], abs=1e-6)


def test_a_graph_without_functions_has_no_hits() -> None:
    assert find(make_store({"a.py": "X = 1\n"}), "anything", "both") == Found((), 0, 0, 0)


@pytest.mark.parametrize("ranking", RANKINGS)
@pytest.mark.parametrize("mode", ["function", "block", "both"])
@pytest.mark.parametrize("by_function", [False, True])
def test_fewer_answers_are_the_first_of_more(mode: str, ranking: str, by_function: bool) -> None:
    words = ["item", "price", "cart", "stock", "order", "tax"]
    code = "".join(
        f"def add_{words[n % 6]}_{n}({words[n // 6 % 6]}):\n"
        f"    if {words[n // 36 % 6]}:\n        return {n}\n    run({n})\n\n\n"
        for n in range(400)
    )
    store = make_store({"shop.py": code})
    question, query = parse_question("add the price of an item"), FakeEncoder().encode_query("add the price of an item")
    found = [
        find_nodes(store, question, query, mode, k, NodeFilter(), ranking, by_function=by_function).ranked
        for k in (300, 120, 40, 25, 5)
    ]
    ids = [[each.id for each in ranked] for ranked in found]
    assert [len(each) for each in ids] == [300, 120, 40, 25, 5]
    assert all(ids[0][: len(each)] == each for each in ids)
    assert [each.score for each in found[0]] == sorted((each.score for each in found[0]), reverse=True)


def test_a_number_is_found_where_the_code_has_it() -> None:
    code = "".join(f"def answer_{n}(request):\n    return request.reply({n + 100})\n\n\n" for n in range(300))
    store = make_store({"web.py": code + "MOVED = 999\n"})
    found = find(store, "301", ranking="rrf", k=1)
    assert names(store, found) == ["answer_201"]
    assert names(store, find(store, "which reply has the number 357", k=1)) == ["answer_257"]
