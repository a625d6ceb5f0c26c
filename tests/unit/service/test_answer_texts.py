"""A definition over the budget is outlined or cut, its callers keep their share, and the rest is named."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from shop_repository import open_shop
from trees import write_tree

import pkg
from pkg.api import Graph, build_graph, open_graph
from pkg.retrieval.deps.answer_sections import Section, fit_lines, fit_sections, share_budget
from pkg.retrieval.show import Definition
from pkg.retrieval.token_count import count_tokens
from pkg.service.graph_service import GraphService, ServiceOptions
from pkg.service.operations.answer_texts import (
    list_inside,
    write_explored,
    write_links,
    write_nearest,
    write_ranking,
    write_shown,
)

LONG = "".join(f"    total = total + {number} * amount\n" for number in range(200))
CODE = (
    f'class Till:\n    """A till."""\n\n    def open(self):\n        """Open it."""\n        return count(1)\n\n'
    f"    def close(self):\n        return count(2)\n\n\ndef count(amount):\n    total = 0\n{LONG}    return total\n"
)


@pytest.fixture(name="graph", scope="module")
def _graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    folder = Path(tmp_path_factory.mktemp("till"))
    store = f"sqlite:///{folder}/graph.db"
    build_graph(write_tree(folder / "repo", {"till.py": CODE}), store=store)
    with open_graph(store) as graph:
        yield graph


def show(graph: Graph, name: str, budget: int) -> tuple[str, tuple[str, ...]]:
    def outline(each: Definition) -> list[str]:
        return list_inside(graph.outline(each.path, budget=0), each)

    return write_shown(graph.show(name), budget, outline)


def test_a_function_over_the_budget_shows_its_first_lines_and_callers(graph: Graph) -> None:
    text, left_out = show(graph, "count", 300)
    assert count_tokens(text) <= 300
    assert text.startswith("till.py:12-214  count\ndef count(amount):\n    total = 0")
    assert "callers:\n  till.py:6 Till.open\n  till.py:9 Till.close" in text
    first = int(left_out[0].split("-")[0].removeprefix("lines "))
    assert f"total + {first - 15} * amount" in text
    assert f"total + {first - 14} * amount" not in text
    budget = int(left_out[0].rpartition(" ")[2])
    assert show(graph, "count", budget)[1] == ()


def test_a_class_and_a_file_over_the_budget_are_outlined(graph: Graph) -> None:
    text, left_out = show(graph, "Till", 60)
    assert "  1: class Till:  A till." in text
    assert "    4: def open(self) -> None:" in text or "    4: def open(self):  Open it." in text
    assert "return count(1)" not in text
    assert "show one of its definitions" in left_out[0]
    text, left_out = show(graph, "till.py", 100)
    assert "  12: def count(amount):" in text
    assert "the code of till.py" in left_out[0]


def test_a_definition_within_the_budget_is_whole(graph: Graph) -> None:
    text, left_out = show(graph, "Till.open", 100)
    assert text == (
        'till.py:4-6  Till.open\nin class Till:\ndef open(self):\n        """Open it."""\n        return count(1)\n'
        "callees:\n  till.py:12 count\nno callers found: the source has no call expression of open"
    )
    assert left_out == ()


def test_an_exploration_names_calls_by_their_line(graph: Graph) -> None:
    text = write_explored(graph.explore("open the till and count"))
    assert "calls:\n  till.py:6 Till.open -> count" in text
    assert "till.py:4-6  Till.open\n" in text


def test_a_question_that_nothing_fits_lists_places_only(graph: Graph) -> None:
    found = replace(graph.explore("open the till and count"), fits=False, notes=("nothing fits: why",))
    first, second, *places = write_nearest(found)
    assert (first, second) == ("nothing fits: why", "nearest places; show one, or ask in words of the code:")
    assert "  till.py:4 Till.open" in places
    assert list(write_nearest(replace(found, pieces=(), notes=()))) == ["nothing found"]


def test_a_ranking_gives_the_reason_of_each_candidate() -> None:
    candidate = {"rank": 1, "same_as": None, "dropped": None, "reason": "", "why": "2 of 2 hold"}
    line = {
        "chosen": 1,
        "fallback": False,
        "notes": ["no sandbox"],
        "candidates": [
            candidate | {"id": 0, "rank": 2, "dropped": "syntax", "reason": "line 1"},
            candidate | {"id": 1},
            candidate | {"id": 2, "rank": 3, "same_as": 1},
        ],
    }
    assert list(write_ranking(line)) == [
        "chosen: candidate 1",
        "candidate 1: 2 of 2 hold",
        "candidate 0: dropped at syntax: line 1",
        "candidate 2: 2 of 2 hold (same code as 1)",
        "no sandbox",
    ]


@pytest.fixture(name="shop", scope="module")
def _shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    with open_shop(Path(tmp_path_factory.mktemp("shop"))) as shop:
        yield shop


def test_callers_are_placed_at_their_calls_and_callees_at_their_definitions(shop: Graph) -> None:
    text, left_out = write_links(shop.deps("find_price"), 0)
    assert text.split("\n") == [
        "shop/prices.py:8 find_price",
        "callers:",
        "  shop/orders.py:11 Order.total",
        "  tests/test_prices.py:5 test_price",
        "importers:",
        "  shop/orders.py:3",
        "  tests/test_prices.py:1",
        "callees:",
        "  shop/prices.py:13 add_tax",
    ]
    assert left_out == ()


def test_an_impact_is_ordered_by_distance_with_tests_last(shop: Graph) -> None:
    text, _ = write_links(shop.impact("add_tax"), 0)
    assert text.split("\n") == [
        "shop/prices.py:13 add_tax: 5 places may break, 2 of them in tests",
        "1 step away:",
        "  shop/prices.py:8 find_price",
        "2 steps away:",
        "  shop/orders.py:9 Order.total, module code",
        "tests:",
        "  tests/test_prices.py:4 test_price, module code",
    ]


def test_an_impact_lists_entries_on_request(tmp_path: Path) -> None:
    code = "import click\n\n\n@click.command('sum-up')\ndef add_up():\n    return count()\n"
    code += "\n\ndef count():\n    return 1\n"
    store = f"sqlite:///{tmp_path}/graph.db"
    pkg.build_graph(write_tree(tmp_path / "repo", {"sums.py": code}), store=store)
    service = GraphService(ServiceOptions(store))
    assert "entered by" not in service.run("impact", {"names": ["count"]}).text
    assert "sums.py:4 command sum-up" in service.run("impact", {"names": ["count"], "entries": True}).text


def test_a_chain_gives_the_place_of_each_call(shop: Graph) -> None:
    text, _ = write_links(shop.deps("Order.total", question="path", to="add_tax"), 0)
    assert "Order.total (shop/orders.py:11) -> find_price (shop/prices.py:10) -> add_tax (shop/prices.py:13)" in text
    none, _ = write_links(shop.deps("add_tax", question="path", to="Order.total"), 0)
    assert none.startswith("no chain of at most 10 calls from shop/prices.py:13 add_tax")


def test_imports_of_one_statement_share_a_line(shop: Graph) -> None:
    text, _ = write_links(shop.deps("shop/orders.py", question="imports"), 0)
    assert "shop/orders.py:1 import json" in text
    assert "shop/orders.py:3 from shop/prices.py: find_price" in text


def test_a_short_budget_keeps_some_lines_of_every_kind(shop: Graph) -> None:
    text, left_out = write_links(shop.deps("find_price"), 70)
    assert "callers" in text
    assert "callees" in text
    assert count_tokens(text) <= 70
    assert left_out


@given(st.lists(st.integers(0, 500), max_size=8), st.integers(1, 1000))
def test_a_budget_is_shared_completely_and_not_exceeded(costs: list[int], budget: int) -> None:
    rooms = share_budget(costs, budget)
    assert sum(rooms) <= budget
    assert all(room <= cost for room, cost in zip(rooms, costs, strict=True))
    if sum(costs) <= budget:
        assert rooms == costs
    elif costs:
        assert sum(rooms) > budget - len(costs)


@example([["a", "a", "a", "a", "a", "a a a a"], [], ["a"], ["a", "a", "a"]], 31)
@given(st.lists(st.lists(st.text("ab c", min_size=1), max_size=6), max_size=4), st.integers(0, 60))
def test_sections_fit_their_budget_and_count_omitted_lines(parts: list[list[str]], budget: int) -> None:
    sections = [Section(f"kind{number}", lines, len(lines) + number) for number, lines in enumerate(parts)]
    text, left_out = fit_sections(sections, budget)
    assert not budget or count_tokens(text) <= budget
    shown = sum(line.startswith("  ") for line in text.split("\n"))
    missing = sum(int(each.split(" ")[0]) for each in left_out)
    assert shown + missing == sum(each.total for each in sections)


def test_no_line_follows_one_that_was_too_long() -> None:
    assert fit_lines(["one", "two three four", "five"], 2) == ("one", 2)
    assert fit_lines(["one", "two"], 0) == ("one\ntwo", 0)
