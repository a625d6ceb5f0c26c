"""Compare two states of code definition by definition: real builds of real trees and revisions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from git_trees import commit_all, make_repository
from trees import write_tree

from pkg.api import build_graph, diff_graphs
from pkg.cli import main
from pkg.errors import PathError, QueryError, StoreMissingError

BEFORE = {
    "shop/prices.py": (
        "RATE = 0.2\n\n\ndef find_price(item):\n    return item.price\n\n\n"
        "def old_price(item):\n    return 0\n\n\ndef add_tax(amount):\n    return amount * (1 + RATE)\n"
    ),
    "shop/cart.py": (
        "from shop.prices import add_tax, find_price\n\n\nclass Cart:\n    def total(self):\n"
        "        return sum(find_price(item) for item in self.items)\n"
    ),
}
AFTER = {
    "shop/prices.py": "RATE = 0.25\n\n\n# a comment that shifts lines\ndef find_price(item):\n    return item.price\n",
    "shop/taxes.py": "from shop.prices import RATE\n\n\ndef add_tax(amount):\n    return amount * (1 + RATE)\n",
    "shop/cart.py": (
        "from shop.prices import find_price\nfrom shop.taxes import add_tax\n\n\nclass Cart:\n    def total(self):\n"
        "        return add_tax(sum(find_price(item) for item in self.items))\n"
    ),
    "shop/gifts.py": "from shop.cart import Cart\n\n\nclass Gift(Cart):\n    pass\n",
}


@pytest.fixture
def sides(tmp_path: Path) -> tuple[str, str]:
    return str(write_tree(tmp_path / "a", BEFORE)), str(write_tree(tmp_path / "b", AFTER))


def test_differing_definitions_and_links_are_reported(sides: tuple[str, str]) -> None:
    found = diff_graphs(*sides)
    assert {(each.how, each.path, each.qualname) for each in found.definitions} == {
        ("changed", "shop/prices.py", "RATE"),
        ("removed", "shop/prices.py", "old_price"),
        ("moved", "shop/taxes.py", "add_tax"),
        ("changed", "shop/cart.py", "Cart.total"),
        ("added", "shop/gifts.py", "Gift"),
    }
    (moved,) = [each for each in found.definitions if each.how == "moved"]
    assert (moved.from_path, moved.from_qualname) == ("shop/prices.py", "add_tax")
    assert [(each.how, each.type, each.start, each.end) for each in found.links] == [
        ("gained", "CALLS", "shop/cart.py::Cart.total", "shop/taxes.py::add_tax"),
        ("gained", "INHERITS", "shop/gifts.py::Gift", "shop/cart.py::Cart"),
    ]
    assert found.count() == {"changed": 2, "removed": 1, "moved": 1, "added": 1, "gained": 2}
    back = diff_graphs(*reversed(sides))
    assert [each.how for each in back.links] == ["lost", "lost"]


def test_a_graph_equals_itself(sides: tuple[str, str]) -> None:
    found = diff_graphs(sides[1], sides[1])
    assert (found.definitions, found.links, found.same) == ((), (), 6)


def test_graphs_are_compared_source_by_source(sides: tuple[str, str], tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/graph.db"
    for name, side in zip("ab", sides, strict=True):
        build_graph(side, store=store, source=name)
    with pytest.raises(QueryError, match=r"2 sources in .*expected one of them named: a, b"):
        diff_graphs(store, store)
    with pytest.raises(QueryError, match="no source 'c' in"):
        diff_graphs(store, store, source=("a", "c"))
    found = diff_graphs(store, store, source=("a", "b"))
    assert found.count() == diff_graphs(*sides).count()


def test_revisions_of_the_current_folder_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_repository(tmp_path / "repo", BEFORE)
    write_tree(folder, AFTER)
    commit_all(folder)
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(main, ["diff", "HEAD~1", "HEAD"])
    *lines, last = map(json.loads, result.stdout.splitlines())
    assert {(each["how"], each["qualname"]) for each in lines if each["type"] == "definition"} >= {("added", "Gift")}
    assert (last["type"], last["a"], last["b"]) == ("diff", ".@HEAD~1", ".@HEAD")
    shown = CliRunner().invoke(main, ["diff", "HEAD~1", "HEAD", "--no-json", "--limit", "1"]).stdout
    assert "shop/cart.py\n  changed function Cart.total (line 6)\n" in shown
    assert "and 5 more; see --limit" in shown
    assert "no revision 'nowhere'" in CliRunner().invoke(main, ["diff", "nowhere", "HEAD"]).stderr
    assert sorted(each.name for each in folder.iterdir()) == [".git", "shop"]


def test_missing_sources_are_reported(sides: tuple[str, str], tmp_path: Path) -> None:
    with pytest.raises(PathError, match="no such file or folder"):
        diff_graphs(sides[0], str(tmp_path / "none"))
    with pytest.raises(StoreMissingError):
        diff_graphs(sides[0], f"sqlite:///{tmp_path}/nothing.db")
