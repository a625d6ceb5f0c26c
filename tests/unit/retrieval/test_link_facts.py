"""Claims about links are compared with the graph, in their direction."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from trees import write_tree

import pkg
from pkg.api import open_graph
from pkg.retrieval.deps.link_facts import LinkClaim, LinkFacts, LinkVerb

FILES = {
    "shop/prices.py": "def find_price(item):\n    return item.price\n",
    "shop/orders.py": (
        "from shop.prices import find_price\n\n\nclass Base:\n    pass\n\n\nclass Order(Base):\n"
        "    def total(self, hook):\n        hook.settle()\n        return find_price(self)\n"
    ),
    "shop/bank.py": "def settle():\n    pass\n",
}


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LinkFacts]:
    folder = tmp_path_factory.mktemp("links")
    write_tree(folder / "code", FILES)
    address = f"sqlite:///{folder / 'graph.db'}"
    pkg.build_graph(folder / "code", store=address)
    with open_graph(address) as graph:
        yield LinkFacts(graph.store)


@pytest.mark.parametrize(
    ("verb", "start", "end", "holds"),
    [
        ("calls", "Order.total", "find_price", True),
        ("calls", "Order", "find_price", True),
        ("calls", "find_price", "Order.total", False),
        ("inherits from", "Order", "Base", True),
        ("inherits from", "Base", "Order", False),
        ("imports", "shop/orders.py", "shop/prices.py", True),
        ("imports", "shop/prices.py", "shop/orders.py", False),
        ("is defined in", "find_price", "shop/prices.py", True),
        ("is defined in", "find_price", "shop.prices", True),
        ("is defined in", "total", "Order", True),
        ("is defined in", "find_price", "shop/orders.py", False),
    ],
)
def test_a_claim_holds_if_the_graph_has_the_link(
    facts: LinkFacts, verb: LinkVerb, start: str, end: str, holds: bool
) -> None:
    fact = facts.check(LinkClaim(verb, start, end))
    assert fact is not None
    assert fact.holds is holds
    negated = facts.check(LinkClaim(verb, start, end, is_negated=True))
    assert negated is not None
    assert negated.holds is not holds


def test_a_link_that_holds_has_its_place(facts: LinkFacts) -> None:
    fact = facts.check(LinkClaim("calls", "Order.total", "find_price"))
    assert fact is not None
    assert fact.place == "shop/orders.py:11"


def test_an_unknown_name_and_an_unbound_call_are_not_judged(facts: LinkFacts) -> None:
    assert facts.check(LinkClaim("calls", "Order.total", "print_bill")) is None
    assert facts.check(LinkClaim("calls", "print_bill", "find_price")) is None
