from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from trees import write_tree

import pkg
from pkg.cli import main
from pkg.errors import QueryError, UsageError

FILES = {
    "shop/cart.py": '''"""Carts of customers."""

from shop.prices import LIMIT, find_price


class Cart:
    """Hold items."""

    @property
    def total(self):
        """Give the price of all items."""
        return sum(find_price(item) for item in self.items)

    @total.setter
    def total(self, value):
        self.fixed = value

    def add(self, item):
        if len(self.items) > LIMIT:
            raise ValueError(item)
        self.items.append(item)
''',
    "shop/prices.py": """LIMIT = 20  # items of a cart


def find_price(
    item,
    discount=0,
):
    return unknown(item).price - discount
""",
    "shop/orders.py": "from shop.cart import Cart\nfrom shop.prices import find_price\n\n\n"
    + "".join(
        f"def order_{number}(item):\n    Cart().add(item)\n    return find_price(item)\n\n\n" for number in range(12)
    ),
}


@pytest.fixture(name="folder")
def repository(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "code", FILES)


@pytest.fixture(name="store")
def built(folder: Path, tmp_path: Path) -> str:
    address = f"sqlite:///{tmp_path / 'graph.db'}"
    pkg.build_graph(folder, store=address)
    return address


@pytest.fixture(name="graph")
def opened(store: str) -> Iterator[pkg.Graph]:
    with pkg.open_graph(store) as graph:
        yield graph


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


@pytest.mark.parametrize("name", ["find_price", "shop.prices.find_price", "shop/prices.py::find_price", "prices.py:5"])
def test_a_function_is_shown_with_its_source_place_and_signature(graph: pkg.Graph, name: str) -> None:
    (found,) = graph.show(name).definitions
    assert (found.path, found.start_line, found.end_line) == ("shop/prices.py", 4, 8)
    assert found.content == FILES["shop/prices.py"].partition("\n\n\n")[2].rstrip("\n")
    assert found.signature == "def find_price(\n    item,\n    discount=0,\n):"


def test_callers_and_callees_are_listed_in_short(graph: pkg.Graph) -> None:
    shown = graph.show("find_price")
    relations = Counter(each.relation for each in shown.links.found)
    assert relations == {"callers": 10, "importers": 2}  # the call of what is unknown is counted, not listed
    assert shown.links.left_out == (("callers", 3),)
    assert shown.links.coverage.unbound == 1
    assert len(graph.show("find_price", limit=0).links.found) == 15


def test_definitions_of_one_name_in_one_place_are_shown_together(graph: pkg.Graph) -> None:
    getter, setter = graph.show("Cart.total").definitions
    assert (getter.start_line, getter.docstring, setter.start_line) == (9, "Give the price of all items.", 14)
    assert getter.class_header == setter.class_header == "class Cart:"


def test_a_class_and_a_file_are_shown_whole(graph: pkg.Graph) -> None:
    (found,) = graph.show("Cart").definitions
    assert found.content.splitlines()[0] == "class Cart:"
    assert found.content.splitlines()[-1] == "        self.items.append(item)"
    (file,) = graph.show("shop/orders.py").definitions
    assert (file.content, file.start_line) == (FILES["shop/orders.py"], 1)
    assert file.content.splitlines()[file.end_line - 1] == ""


def test_a_constant_is_shown_with_its_readers(graph: pkg.Graph) -> None:
    shown = graph.show("LIMIT")
    assert [each.content for each in shown.definitions] == ["LIMIT = 20"]
    assert [(each.relation, each.link.start.qualname) for each in shown.links.found][:1] == [("readers", "Cart.add")]


def test_a_name_that_may_mean_several_things_is_not_guessed(folder: Path, store: str, graph: pkg.Graph) -> None:
    write_tree(folder, {"shop/other.py": "def find_price(item):\n    return 1\n"})
    with pytest.raises(QueryError, match=r"may be any of 2.*\n  shop/other.py:1  find_price"):
        graph.show("find_price", fresh=True)
    with pytest.raises(QueryError, match="did you mean: find_price"):
        graph.show("find_prices")
    with pytest.raises(UsageError, match="limit is -1"):
        graph.show("Cart", limit=-1)


def test_old_lines_are_marked(folder: Path, store: str) -> None:
    (folder / "shop" / "prices.py").write_text("# nothing left\n")
    result = run("show", "find_price", "--store", store)
    first, *_, coverage = map(json.loads, result.stdout.splitlines())
    assert first["type"] == "definition"
    assert first["is_stale"]
    assert [each["path"] for each in coverage["stale"]] == ["shop/prices.py"]
    assert "shop/prices.py changed; give --fresh" in result.stderr
    result = run("show", "find_price", "--store", store, "--fresh")
    assert result.exit_code == 1
    assert "no function, class, constant or file 'find_price'" in result.stderr
