"""Claims of a sentence about links between names."""

from __future__ import annotations

import pytest

from pkg.generation.ask.link_claims import list_link_claims
from pkg.retrieval.deps.link_facts import LinkClaim


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
