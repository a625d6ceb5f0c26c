from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from linked import LinkRow, encoder, make_linked_store

from pkg.graph.store import GraphStore
from pkg.model import Helper, Label, Node
from pkg.retrieval.context import Excerpt
from pkg.retrieval.helpers import Completer, Completion
from pkg.retrieval.needed_helpers import MAX_HELPERS, HelperChooser, fold_body, fold_docstring, is_trivial
from pkg.retrieval.query import encode_question

LONG = "".join(f"    value_{i} = compute_value({i}, shift={i})\n" for i in range(20))
SHOP = f'''\
def total(cart):
    """Sum the prices of a cart."""
    rate = tax_rate(cart)
    audit(cart)
    with Session() as session:
        return sum_prices(cart) * rate + session.fee + _round_up(cart)


def sum_prices(cart):
    """Sum the prices of a cart.

    Prices are
    of
    several
    kinds.
    """
{LONG}    return cart


def audit(
    log: Log,
    zebra=None,
) -> None:
    """Write to the journal. Nothing else."""
{LONG}

def _round_up(elephant):
{LONG}

def tax_rate(cart):
    return 2


def wrap(cart):
    """Sum the prices of a cart."""
    return sum_prices(cart)


def wrap_twice(cart):
    sum_prices(cart)
    return sum_prices(cart)


class Session:
    @property
    def fee(self):
        """Give the fee."""
        return self._fee

    def __enter__(self):
        return self

    def __exit__(self, *args):
        close()
        return None

    def get_fee(self):
        return self._fee

    def double(self):
        return double(self._fee)
'''
CALLS = [
    ("tax_rate", 3), ("audit", 4), ("Session.__enter__", 5), ("Session.__exit__", 5),
    ("sum_prices", 6), ("Session.fee", 6), ("_round_up", 6),
]  # fmt: skip
WRAPPING = SHOP.split("\n").index("def wrap(cart):") + 3
LINKS: list[LinkRow] = [
    *(("CALLS", "shop.py::total", f"shop.py::{end}", line, "same module", "certain") for end, line in CALLS),
    ("CALLS", "shop.py::wrap", "shop.py::sum_prices", WRAPPING, "same module", "certain"),
    ("CALLS", "shop.py::wrap_twice", "shop.py::sum_prices", WRAPPING + 4, "same module", "certain"),
]


@pytest.fixture(name="store")
def shop(tmp_path: Path) -> Iterator[GraphStore]:
    with closing(make_linked_store(tmp_path / "graph.db", {"shop.py": SHOP}, LINKS)) as store:
        yield store


def find(store: GraphStore, qualname: str) -> Node:
    nodes = store.find_name(qualname.rpartition(".")[2])
    return next(node for node in nodes if node.qualname == qualname and node.label is not Label.CLASS)


def complete(store: GraphStore, node: Node, question: str = "sum the prices of a cart") -> Completion:
    chooser = HelperChooser(store, encode_question(encoder(), question))
    (found,) = Completer(store, encoder(), 1, chooser=chooser).complete([Excerpt(node)])
    return found


def by_name(found: Completion) -> dict[str, Helper]:
    return {helper.qualname: helper for helper in found.helpers}


def test_near_helpers_come_first_and_whole_except_long_docstrings(store: GraphStore) -> None:
    helper = complete(store, find(store, "total")).helpers[0]

    assert (helper.qualname, helper.is_folded) == ("sum_prices", True)
    assert helper.content.startswith(
        'def sum_prices(cart):\n    """Sum the prices of a cart."""  # ... lines 10-16 folded\n    value_0 = '
    )
    assert helper.content.endswith("return cart")
    assert ast.parse(helper.content)


def test_a_long_helper_that_is_about_something_else_is_shown_by_its_head(store: GraphStore) -> None:
    audit = by_name(complete(store, find(store, "total")))["audit"]

    assert audit.content == (
        "def audit(\n    log: Log,\n    zebra=None,\n) -> None:\n"
        '    """Write to the journal."""\n    pass  # ... lines 44-64 folded'
    )
    assert (audit.is_folded, audit.imports) == (True, ())


def test_a_short_helper_is_shown_whole(store: GraphStore) -> None:
    rate = by_name(complete(store, find(store, "total")))["tax_rate"]

    assert (rate.content, rate.is_folded) == ("def tax_rate(cart):\n    return 2", False)


def test_private_helpers_of_a_near_hit_are_whole(store: GraphStore) -> None:
    node = find(store, "total")

    assert not by_name(complete(store, node))["_round_up"].is_folded
    assert by_name(complete(store, node, "write zebra to the journal"))["_round_up"].is_folded


def test_trivial_helpers_are_excluded_and_reported(store: GraphStore) -> None:
    found = complete(store, find(store, "total"))

    assert {"Session.fee", "Session.__enter__"}.isdisjoint(by_name(found))
    assert "Session.__exit__" in by_name(found)
    told = "helpers excluded, which only return a value or do one thing: 2 (Session.__enter__, Session.fee)"
    assert told in found.explain


@pytest.mark.parametrize(
    ("name", "trivial"),
    [
        ("Session.fee", True), ("Session.__enter__", True), ("Session.get_fee", True), ("Session.__exit__", False),
        ("Session.double", False), ("tax_rate", False),
    ],
)  # fmt: skip
def test_trivial_methods_do_what_their_names_say(store: GraphStore, name: str, trivial: bool) -> None:
    assert is_trivial(find(store, name)) == trivial


def test_a_wrapped_function_comes_first_and_is_marked(store: GraphStore) -> None:
    question = "zebra in the zoo"  # nothing of it is near
    wrap = find(store, "wrap")
    (body,) = [node for node in store.subtree(wrap.id) if node.kind == "body"]

    for node in (wrap, body):
        (helper,) = complete(store, node, question).helpers
        assert (helper.qualname, helper.role) == ("sum_prices", "wrapped")
        assert helper.content.endswith("return cart")


def test_two_statements_are_no_wrapper(store: GraphStore) -> None:
    (helper,) = complete(store, find(store, "wrap_twice"), "zebra in the zoo").helpers

    assert (helper.role, helper.is_folded) == ("callee", True)
    assert helper.content.endswith(" folded")


def test_helpers_above_a_number_are_left_out_and_named(tmp_path: Path) -> None:
    count = MAX_HELPERS + 2
    calls = "".join(f"    step_{i}()\n" for i in range(count))
    steps = "".join(f"\n\ndef step_{i}():\n    return {i}\n" for i in range(count))
    links: list[LinkRow] = [
        ("CALLS", "a.py::run", f"a.py::step_{i}", i + 2, "same module", "certain") for i in range(count)
    ]
    with closing(make_linked_store(tmp_path / "graph.db", {"a.py": f"def run():\n{calls}{steps}"}, links)) as store:
        found = complete(store, find(store, "run"))

    assert len(found.helpers) == MAX_HELPERS
    assert any(line.startswith(f"helpers excluded, above {MAX_HELPERS}: 2 (") for line in found.explain)


def test_without_a_chooser_all_callees_come_whole(store: GraphStore) -> None:
    (found,) = Completer(store, encoder(), 1).complete([Excerpt(find(store, "total"))])

    assert len(found.helpers) == len(CALLS)
    assert not any(helper.is_folded for helper in found.helpers)


def test_nothing_is_folded_where_that_saves_nothing(store: GraphStore) -> None:
    assert fold_body(find(store, "tax_rate")) is None
    assert fold_docstring(find(store, "wrap")) is None
