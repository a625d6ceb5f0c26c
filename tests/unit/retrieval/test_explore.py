"""Exploration with the real build and the real search over a small shop."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from trees import write_tree

from pkg.api import Graph, build_graph, open_graph
from pkg.errors import QueryError, UsageError
from pkg.retrieval.explore import Exploration, write_exploration
from pkg.retrieval.token_count import count_tokens

LONG = "".join(f"    total += item.weight_{number} * {number}\n" for number in range(80))
FILES = {
    "shop/prices.py": (
        "TAX_RATE = 0.2\n\n\n"
        'def find_price(item):\n    """Find the price of an item."""\n    return add_tax(item.price)\n\n\n'
        'def add_tax(amount):\n    """Add the tax to an amount."""\n    return amount * (1 + TAX_RATE)\n'
    ),
    "shop/orders.py": (
        "from shop.middle import relay\n\n\n"
        'def place_order(cart):\n    """Place the order of a cart."""\n    return relay(cart)\n'
    ),
    "shop/middle.py": "from shop.posting import post_parcel\n\n\ndef relay(thing):\n    return post_parcel(thing)\n",
    "shop/posting.py": (
        'def post_parcel(thing):\n    """Post the parcel of an order of a cart."""\n    return thing\n\n\n'
        f'def weigh_parcel(item):\n    """Weigh a heavy parcel."""\n    total = 0\n{LONG}    return total\n'
    ),
    "tests/test_prices.py": (
        "from shop.prices import find_price\n\n\ndef test_price():\n    assert find_price(None) == 1\n"
    ),
    "shop/bills.py": (
        "from shop.prices import find_price\n\n\n"
        "def bill(items):\n    return sum(map(find_price, items)) + find_price(items[0])\n"
    ),
}


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    folder = tmp_path_factory.mktemp("explore")
    store = f"sqlite:///{folder}/graph.db"
    build_graph(write_tree(folder / "repo", FILES), store=store)
    with open_graph(store) as opened:
        yield opened


def name(found: Exploration) -> dict[str, str]:
    return {piece.place.qualname: piece.form for piece in found.pieces}


def test_pieces_come_with_calls_between_them_and_callers(graph: Graph) -> None:
    found = graph.explore("how is the price of an item found, with tax")
    assert {"find_price": "code", "add_tax": "code"}.items() <= name(found).items()
    assert ("find_price", "add_tax", 6) in [(link.start.qualname, link.end.qualname, link.line) for link in found.calls]
    text = write_exploration(found)
    assert "shop/prices.py:4-6  find_price\ndef find_price(item):" in text
    assert "find_price (shop/prices.py:6) -> add_tax (shop/prices.py:9)" in text


def test_a_constant_that_a_piece_reads_is_named(graph: Graph) -> None:
    found = graph.explore("add the tax to an amount", path="shop/prices.py")
    assert ("add_tax", "TAX_RATE", 11) in [(link.start.qualname, link.end.qualname, link.line) for link in found.uses]


def test_a_step_between_two_hits_comes_along(graph: Graph) -> None:
    found = graph.explore("place the order of a cart and post the parcel of an order of a cart")
    roles = {piece.place.qualname: piece.role for piece in found.pieces}
    assert {"place_order", "relay", "post_parcel"} <= roles.keys()
    starts = [(link.start.qualname, link.end.qualname) for link in found.calls]
    assert {("place_order", "relay"), ("relay", "post_parcel")} <= set(starts)


def test_long_code_is_shown_by_its_deciding_lines_or_its_head(graph: Graph) -> None:
    abridged = graph.explore("weigh a heavy parcel", budget=300)
    (piece,) = [piece for piece in abridged.pieces if piece.place.qualname == "weigh_parcel"]
    assert piece.form == "lines"
    assert piece.content.startswith("def weigh_parcel(item):\n    total = 0\n    total += item.weight_0 * 0\n")
    assert piece.content.endswith("    ...\n    return total")
    found = graph.explore("weigh a heavy parcel", budget=100)
    (piece,) = [piece for piece in found.pieces if piece.place.qualname == "weigh_parcel"]
    assert (piece.form, piece.content, piece.summary) == ("head", "def weigh_parcel(item):", "Weigh a heavy parcel.")
    assert name(graph.explore("weigh a heavy parcel", budget=0))["weigh_parcel"] == "code"


@pytest.mark.parametrize("budget", [60, 120, 400])
def test_the_budget_holds_and_excess_code_is_named(graph: Graph, budget: int) -> None:
    found = graph.explore("how is the price of an item found, with tax", budget=budget)
    shown = [write_exploration(found).split("\n\nOver the budget")[0]]
    titles = count_tokens("Calls between them: Called by: Uses:")
    assert found.tokens <= budget
    assert count_tokens(shown[0]) <= budget + titles
    everything = graph.explore("how is the price of an item found, with tax", budget=0)
    assert len(found.pieces) + len(found.left_out) == len(everything.pieces)


def test_tests_are_the_last_callers_and_held_back_on_request(graph: Graph) -> None:
    found = graph.explore("find the price of an item", path="shop/prices.py")
    callers = [link.start.path for link in found.callers if link.end.qualname == "find_price"]
    assert callers[0] == "shop/bills.py"
    assert callers[-1] == "tests/test_prices.py"
    assert not [piece for piece in graph.explore("test price", tests="no").pieces if "test" in piece.place.path]


def test_changed_files_are_reported_and_fresh_reads_them(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/graph.db"
    build_graph(write_tree(tmp_path / "repo", FILES), store=store)
    changed = FILES["shop/prices.py"].replace("add_tax", "put_tax")
    write_tree(tmp_path / "repo", {"shop/prices.py": changed})
    with open_graph(store) as opened:
        found = opened.explore("how is the price of an item found, with tax")
        assert [(each.path, each.state) for each in found.stale] == [("shop/prices.py", "changed")]
        found = opened.explore("how is the price of an item found, with tax", fresh=True)
    assert not found.stale
    assert "put_tax" in name(found)


def test_pieces_of_several_sources_name_theirs(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/graph.db"
    for name_of_source, word in (("one", "first"), ("two", "second")):
        code = f"def find_price(item):\n    return item.{word}\n"
        build_graph(write_tree(tmp_path / name_of_source, {"m.py": code}), store=store)
    with open_graph(store) as opened:
        text = write_exploration(opened.explore("find the price of an item"))
    assert "m.py:1-2  find_price  (one)" in text
    assert "m.py:1-2  find_price  (two)" in text


def test_a_misfit_is_reported(graph: Graph) -> None:
    found = graph.explore("bake a chocolate cake with cream")
    assert found.fits is False
    assert "nothing fits" in found.notes[0]


def test_bad_input_is_refused(graph: Graph) -> None:
    with pytest.raises(QueryError):
        graph.explore("   ")
    with pytest.raises(UsageError, match="budget is -1"):
        graph.explore("price", budget=-1)
    with pytest.raises(QueryError):
        graph.explore("price", path="nowhere/*")
