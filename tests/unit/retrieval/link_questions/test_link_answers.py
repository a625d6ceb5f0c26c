"""Questions about links are answered from the graph: all meanings of a name, by relation and confidence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from scripted_model import ScriptedModel
from trees import write_tree

import pkg
from pkg.api import Graph, open_graph
from pkg.retrieval.link_questions.link_answers import answer_link_question, write_link_answers
from pkg.retrieval.token_count import count_tokens
from pkg.service.graph_service import GraphService, ServiceOptions

FILES = {
    "shop/__init__.py": "from shop.cart import Cart\n",
    "shop/base.py": (
        "import json\n\n\nclass Base:\n    def save(self):\n        return json.dumps(self.total())\n\n"
        "    def total(self):\n        return 0\n"
    ),
    "shop/cart.py": (
        "from shop.base import Base\nfrom shop.prices import find_price\n\nMAX_ITEMS = 9\n\n\nclass Cart(Base):\n"
        "    def total(self):\n        return find_price(MAX_ITEMS)\n\n\ndef fill(unknown):\n    unknown.remove()\n"
        "    return Cart().save()\n"
    ),
    "shop/prices.py": (
        "class Tariff:\n    def remove(self):\n        return 1\n\n\ndef find_price(item):\n    return item\n\n\n"
        "def spare():\n    return 2\n"
    ),
    "shop/bank.py": "def find_price(account):\n    return account\n\n\nrate = find_price(1)\n",
    "tests/test_cart.py": "from shop.cart import fill\n\n\ndef test_fill():\n    assert fill(None) == 9\n",
}


@pytest.fixture(name="graph", scope="module")
def _graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    folder = tmp_path_factory.mktemp("links")
    store = f"sqlite:///{folder / 'graph.db'}"
    pkg.build_graph(write_tree(folder / "repo", FILES), store=store)
    with open_graph(store) as graph:
        yield graph


def answer(graph: Graph, text: str) -> str:
    found = answer_link_question(graph.store, text)
    return "" if found is None else write_link_answers(found)


@pytest.mark.parametrize(
    ("text", "relation", "lines"),
    [
        ("who calls fill?", "callers of shop.cart.fill (shop/cart.py:12)", ["tests/test_cart.py:5 test_fill"]),
        ("who calls shop.Cart.save", "callers of shop.base.Base.save, which Cart inherits", ["shop/cart.py:14 fill"]),
        ("where is MAX_ITEMS used?", "readers of shop.cart.MAX_ITEMS", ["shop/cart.py:9 Cart.total"]),
        ("who creates Cart objects?", "callers of shop.cart.Cart", ["shop/cart.py:14 fill"]),
        ("which classes inherit from Base", "subclasses of shop.base.Base", ["shop/cart.py:7 Cart"]),
        ("what are the bases of Cart?", "bases of shop.cart.Cart", ["shop/base.py:4 Base"]),
        ("which methods override Base.total", "overriding methods of shop.base.Base.total", ["cart.py:8 Cart.total"]),
        ("which files import shop.base?", "importers of shop/base.py", ["shop/cart.py:1 from shop.base import Base"]),
        ("which files import json?", "importers of the library json", ["shop/base.py:1 import json"]),
        ("what does shop/cart.py import", "imports of shop/cart.py", ["cart.py:2 from shop.prices import find_price"]),
        ("what does Cart.total call?", "callees of shop.cart.Cart.total", ["shop/prices.py:6 find_price"]),
        ("where is fill defined?", "definition of shop.cart.fill", ["shop/cart.py:12 fill (function): def fill("]),
        ("which tests cover Cart.save?", "tests that reach shop.base.Base.save", ["tests/test_cart.py:4 test_fill"]),
        ("what breaks if I change fill?", "what may break if it changes: shop.cart.fill", ["test_cart.py:4 test_fill"]),
        ("does fill call Base.save?", "calls from shop.cart.fill to shop.base.Base.save", ["a direct call"]),
        ("is Cart a subclass of Base?", "inheritance from shop.cart.Cart to shop.base.Base", ["shop/base.py:4 Base"]),
    ],
)  # fmt: skip
def test_the_answer_names_its_relation_and_places(graph: Graph, text: str, relation: str, lines: list[str]) -> None:
    written = answer(graph, text)
    assert relation in written.split("\n")[0]
    for line in lines:
        assert line in written


def test_all_meanings_of_a_name_are_answered(graph: Graph) -> None:
    written = answer(graph, "who calls find_price?")
    assert written.startswith("'find_price' has 2 meanings in the graph; all are answered")
    assert "shop/cart.py:9 Cart.total" in written
    assert "callers of shop.bank.find_price" in written


def test_a_place_chooses_among_meanings(graph: Graph) -> None:
    written = answer(graph, "who calls find_price in shop.prices?")
    assert "bank" not in written
    assert "shop/cart.py:9 Cart.total" in written


def test_an_unresolved_call_is_named_as_one(graph: Graph) -> None:
    written = answer(graph, "who calls Tariff.remove?")
    assert (
        "calls of the name remove that could not be resolved, each of which may be one:\n  shop/cart.py:13 fill"
        in written
    )
    assert "\ncallers:" not in written


def test_an_empty_answer_says_so(graph: Graph) -> None:
    assert "no callers found" in answer(graph, "is spare used anywhere?")
    assert "no class of the graph inherits from it" in answer(graph, "what are the subclasses of Tariff?")
    assert "no chain of at most 10 calls" in answer(graph, "does Tariff.remove call fill?")


def test_results_in_a_place_count_those_elsewhere(graph: Graph) -> None:
    written = answer(graph, "Which functions in shop/bank.py call fill?")
    assert "test_fill" not in written
    assert "0 in shop/bank.py, and 1 elsewhere" in written


def test_results_in_other_files_leave_out_the_own_one(graph: Graph) -> None:
    written = answer(graph, "is Cart used outside of its own file?")
    assert "shop/__init__.py:1 from shop.cart import Cart" in written
    assert "2 in other files, and 1 elsewhere" in written


def test_a_class_may_be_described_by_words_of_its_name(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'graph.db'}"
    code = "class _HeaderPolicyBase:\n    pass\n\n\nclass Header(_HeaderPolicyBase):\n    pass\n"
    pkg.build_graph(write_tree(tmp_path / "repo", {"http.py": code}), store=store)
    with open_graph(store) as graph:
        assert "http.py:5 Header" in answer(graph, "which classes build on the header policy class?")


def test_an_unknown_name_is_left_to_the_search(graph: Graph) -> None:
    assert answer_link_question(graph.store, "who calls Basket.total?") is None
    assert graph.explore("who calls Basket.total?").links is None


def test_explore_and_ask_answer_from_the_graph(graph: Graph) -> None:
    explored = graph.explore("who calls fill?")
    assert explored.links is not None
    assert (explored.pieces, explored.fits) == ((), True)
    answered = graph.ask("who calls fill?")
    assert "tests/test_cart.py:5 test_fill" in answered.text
    assert answered.places == ["tests/test_cart.py:5"]


def test_the_model_is_not_asked_about_links(graph: Graph) -> None:
    model = ScriptedModel(["Nothing calls `fill` [1]."])
    answered = graph.ask("who calls fill?", model)
    assert model.asked == []
    assert "tests/test_cart.py:5 test_fill" in answered.text
    assert not answered.is_refused


def test_facts_about_links_stand_before_the_answer_of_a_model(graph: Graph) -> None:
    model = ScriptedModel(["`find_price` returns the item [2]."])
    answered = graph.ask("What does the price of an item return, and who calls `fill`?", model)
    assert len(model.asked) == 1
    assert answered.text.startswith("Read from the graph: callers of shop.cart.fill")
    assert answered.statements[0].verdict == "supported"


def test_globs_leave_a_question_to_the_search(graph: Graph) -> None:
    assert graph.explore("who calls fill?", path="shop/*").links is None


def test_the_service_answers_by_the_same_way(graph: Graph) -> None:
    service = GraphService(ServiceOptions(store=graph.store.address))
    for name, argument in (("explore", "text"), ("ask", "question")):
        found = service.run(name, {argument: "who calls fill?"})
        assert "tests/test_cart.py:5 test_fill" in found.text
    (line, *_) = service.run("explore", {"text": "who calls fill?"}).lines
    assert (line["type"], line["relation"]) == ("links", "callers")


def test_an_answer_keeps_the_budget_and_says_what_it_leaves_out(graph: Graph) -> None:
    service = GraphService(ServiceOptions(store=graph.store.address))
    for name, argument in (("explore", "text"), ("ask", "question")):
        text = service.run(name, {argument: "what breaks if I change shop/base.py?", "budget": 100}).text
        assert count_tokens(text) <= 100
        assert "left out: " in text
