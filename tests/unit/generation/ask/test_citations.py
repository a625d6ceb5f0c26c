"""The cited pieces exist and support the statements of an answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.generation.ask.citations import check_statements, list_link_claims, split_statements
from pkg.generation.ask.repository_answer import Statement
from pkg.retrieval.deps.link_facts import LinkClaim
from pkg.retrieval.evidence.evidence import Evidence, PlacedLine

PRICES = Evidence(
    "code", "shop", "shop/prices.py", 8, 10, "function find_price",
    'def find_price(item):\n    """Find the price of an item."""\n    return add_tax(item.price)',
)  # fmt: skip
CALLERS = Evidence(
    "links", "shop", "shop/prices.py", 8, 8, "callers of find_price",
    "Order.total calls find_price (shop/orders.py:11)\nbill calls find_price (shop/bills.py:5)",
    lines=(
        PlacedLine("shop/orders.py", 11, "Order.total calls find_price", "Order.total"),
        PlacedLine("shop/bills.py", 5, "bill calls find_price", "bill"),
    ),
)  # fmt: skip
PIECES = {1: PRICES, 2: CALLERS}


def check(text: str) -> tuple[Statement, ...]:
    return check_statements(text, PIECES, "How is the price found?")


def test_a_citation_of_a_supporting_piece_is_supported() -> None:
    (statement,) = check("`find_price` finds the price of an item and calls add_tax [1].")
    assert [(each.number, each.state, each.places) for each in statement.citations] == [
        (1, "supported", ("shop/prices.py:8",))
    ]


def test_a_citation_of_no_piece_is_missing() -> None:
    (statement,) = check("The price of an item is found [7].")
    assert [each.state for each in statement.citations] == ["missing"]
    assert statement.citations[0].is_wrong


def test_a_citation_of_an_unrelated_piece_is_unsupported() -> None:
    (statement,) = check("Customers log in with a password that is hashed [1].")
    assert [each.state for each in statement.citations] == ["unsupported"]
    assert not statement.is_supported


def test_a_supporting_piece_has_the_names_of_the_statement() -> None:
    (statement,) = check("The price of an item is found by `look_up_price` in `PriceTable` [1].")
    assert [each.state for each in statement.citations] == ["unsupported"]
    assert statement.unknown_names == ("look_up_price", "PriceTable")


def test_the_places_of_links_are_those_that_the_statement_names() -> None:
    (statement,) = check("`Order.total` calls `find_price` [2].")
    assert statement.citations[0].places == ("shop/orders.py:11",)


def test_a_statement_without_citation_gets_the_supporting_piece_as_added() -> None:
    (statement,) = check("find_price returns add_tax of the price of the item.")
    assert [(each.number, each.is_added, each.state) for each in statement.citations] == [(1, True, "supported")]


def test_an_unsupported_statement_gets_no_citation() -> None:
    (statement,) = check("Customers log in with a password.")
    assert statement.citations == ()


def test_several_numbers_are_parsed_in_all_notations() -> None:
    for written in ("[1][2]", "[1, 2]", "[1-2]", "[1] [2]", "[1; 2]"):
        (statement,) = check(f"Order.total calls find_price {written}.")
        assert [each.number for each in statement.citations] == [1, 2], written


def test_a_citation_after_the_full_stop_belongs_to_the_sentence_before() -> None:
    assert split_statements("It finds the price. [1] It adds the tax. [2]") == [
        "It finds the price. [1]",
        "It adds the tax. [2]",
    ]


def test_list_items_and_fenced_code_are_statements() -> None:
    text = "Callers:\n- `bill` [2]\n2. `Order.total` [2]\n```python\nfind_price(item)\nx = [1]\n```\nThat is all."
    assert split_statements(text) == [
        "Callers:",
        "`bill` [2]",
        "`Order.total` [2]",
        "```python\nfind_price(item)\nx = [1]\n```",
        "That is all.",
    ]


def test_a_huge_range_is_truncated() -> None:
    (statement,) = check("It finds the price of an item [1-999].")
    assert len(statement.citations) <= 21


@given(st.text(max_size=300))
def test_any_text_is_split_and_checked_without_losing_a_word(text: str) -> None:
    joined = "".join("".join(split_statements(text)).split())
    check(text)
    assert set(joined) <= set("".join(text.split()))


@pytest.mark.parametrize(
    ("statement", "claims"),
    [
        ("`bill` calls `find_price`.", [LinkClaim("calls", "bill", "find_price")]),
        ("`find_price` is called by `bill`.", [LinkClaim("calls", "bill", "find_price")]),
        ("The function bill() invokes the method Order.total.", [LinkClaim("calls", "bill", "Order.total")]),
        ("`bill` does not call `find_price`.", [LinkClaim("calls", "bill", "find_price", True)]),
        ("`bill` never calls `find_price`.", [LinkClaim("calls", "bill", "find_price", True)]),
        ("`find_price` is not called by `bill`.", [LinkClaim("calls", "bill", "find_price", True)]),
        ("`Card` inherits from `Payment`.", [LinkClaim("inherits from", "Card", "Payment")]),
        ("`Payment` is a base class of `Card`.", [LinkClaim("inherits from", "Card", "Payment")]),
        ("shop/orders.py imports shop/prices.py.", [LinkClaim("imports", "shop/orders.py", "shop/prices.py")]),
        ("`bill` is defined in `shop/bills.py`.", [LinkClaim("is defined in", "bill", "shop/bills.py")]),
        (
            "`bill` calls `find_price`, `add_tax` and the function `print_bill`.",
            [LinkClaim("calls", "bill", name) for name in ("find_price", "add_tax", "print_bill")],
        ),
        ("`bill` calls the bank, because `find_price` needs it.", []),
        ("The price is found.", []),
        ("`bill` is old; when the shop opens, it calls `find_price`.", []),
    ],
)
def test_claims_have_their_direction(statement: str, claims: list[LinkClaim]) -> None:
    assert list(list_link_claims(statement)) == claims
