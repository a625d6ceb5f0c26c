"""Answers about dependencies have one place per line, and count what the budget leaves out of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from shop_repository import open_shop
from trees import write_tree

import pkg
from pkg.api import Graph
from pkg.retrieval.token_count import count_tokens
from pkg.service.graph_service import GraphService, ServiceOptions
from pkg.service.operations.answer_sections import Section, fit_lines, fit_sections, share_budget
from pkg.service.operations.answer_texts import write_links


@pytest.fixture(name="graph", scope="module")
def _graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    with open_shop(Path(tmp_path_factory.mktemp("shop"))) as graph:
        yield graph


def test_callers_are_placed_at_their_calls_and_callees_at_their_definitions(graph: Graph) -> None:
    text, left_out = write_links(graph.deps("find_price"), 0)
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


def test_an_impact_is_ordered_by_distance_with_tests_last(graph: Graph) -> None:
    text, _ = write_links(graph.impact("add_tax"), 0)
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


def test_a_chain_gives_the_place_of_each_call(graph: Graph) -> None:
    text, _ = write_links(graph.deps("Order.total", question="path", to="add_tax"), 0)
    assert "Order.total (shop/orders.py:11) -> find_price (shop/prices.py:10) -> add_tax (shop/prices.py:13)" in text
    none, _ = write_links(graph.deps("add_tax", question="path", to="Order.total"), 0)
    assert none.startswith("no chain of at most 10 calls from shop/prices.py:13 add_tax")


def test_imports_of_one_statement_share_a_line(graph: Graph) -> None:
    text, _ = write_links(graph.deps("shop/orders.py", question="imports"), 0)
    assert "shop/orders.py:1 import json" in text
    assert "shop/orders.py:3 from shop/prices.py: find_price" in text


def test_a_short_budget_keeps_some_lines_of_every_kind(graph: Graph) -> None:
    text, left_out = write_links(graph.deps("find_price"), 70)
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
