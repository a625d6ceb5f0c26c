"""The folder of a package yields the edges of its parent, and an update those of a build from nothing."""

from __future__ import annotations

import io
import json
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import FEW_EXAMPLES, export_lines, open_graph_at, write_tree
from unit.indexing.test_edits import build_afresh, put_tree

from pkg.graph.store import GraphStore
from pkg.indexing.build import build, build_export
from pkg.model import Label, RelationType
from pkg.resolution import record_version
from pkg.retrieval.deps.names import find_target

CART = """import shop.tax.rates


class Cart:
    def total(self):
        return shop.tax.rates.rate(self)
"""
RATES = """from shop import Cart
import yaml


def rate(cart: Cart):
    yaml.load(cart)
    return cart.total()
"""
SHOP = {
    "shop/__init__.py": "from shop.cart import Cart\n",
    "shop/cart.py": CART,
    "shop/tax/__init__.py": "from .rates import rate\n",
    "shop/tax/rates.py": RATES,
    "shop/yaml.py": "def load(text):\n    return text\n",
    "shop/tests/test_cart.py": "from shop.tax import rate\nfrom shop import cart\n\nrate(cart.Cart())\n",
}
LINKS = (RelationType.CALLS, RelationType.INHERITS, RelationType.RESOLVES_TO, RelationType.UNRESOLVED)


Named = tuple[RelationType, tuple[str, str, str], tuple[str, str, str], int | None, str | None, str | None]


def list_edges(store: GraphStore, above: str = "") -> set[Named]:
    """Name the ends of all edges by their paths below a folder."""
    edges = list(store.edges(LINKS))
    ids = sorted({end for edge in edges for end in (edge.start, edge.end)})
    nodes = {node.id: node for node in store.get(ids)}

    def name(identity: str) -> tuple[str, str, str]:
        node = nodes[identity]
        qualname = "" if node.label is Label.FILE else node.qualname
        return node.label.value, f"{above}{node.path}" if node.path else "", qualname

    return {(edge.type, name(edge.start), name(edge.end), edge.line, edge.rule, edge.confidence) for edge in edges}


def test_the_folder_of_a_package_has_the_edges_of_its_parent(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "tree", SHOP)
    with closing(open_graph_at(tmp_path / "a.db")) as whole, closing(open_graph_at(tmp_path / "b.db")) as part:
        build(str(tree), whole)
        build(str(tree / "shop"), part)
        assert list_edges(part, "shop/") == list_edges(whole)
        assert len(list(part.edges([RelationType.CALLS]))) == 5


@pytest.mark.parametrize(("folder", "calls"), [("shop/tax", {("test", "rate")}), ("shop/tests", set())])
def test_a_folder_inside_of_a_package_has_the_calls_that_stay_in_it(
    tmp_path: Path, folder: str, calls: set[tuple[str, str]]
) -> None:
    test = "from shop.tax.rates import rate\n\n\ndef test():\n    rate(1)\n"
    tree = write_tree(tmp_path / "tree", {**SHOP, "shop/tax/test_rates.py": test})
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(tree / folder), store)
        found = {(edge[1][2], edge[2][2]) for edge in list_edges(store) if edge[0] is RelationType.CALLS}
        assert found == calls


STATES = st.fixed_dictionaries(
    {
        "__init__.py": st.booleans(),
        "big/__init__.py": st.booleans(),
        "big/repo/__init__.py": st.booleans(),
        "big/repo/alpha/app/__init__.py": st.booleans(),
        "big/repo/alpha/app/db.py": st.booleans(),
        "big/repo/beta/app/__init__.py": st.booleans(),
        "big/repo/beta/app/db.py": st.booleans(),
        "big/repo/beta/tests/test_db.py": st.booleans(),
        "big/repo/app.py": st.booleans(),
        "big/repo/src/app.py": st.booleans(),
        "big/repo/tests/test_all.py": st.booleans(),
        "big/repo/beta/celery.py": st.booleans(),
        "big/repo/beta/__init__.py": st.booleans(),
    }
)
DATABASE = "class Table:\n    pass\n\n\ndef connect():\n    return Table()\n"
TEST = """from app.db import connect, Table
from app import db
from celery import connect as other
import big.repo.alpha.app.db
import app


class Own(Table):
    pass


def test():
    connect()
    db.connect()
    other()
    app.connect()
    big.repo.alpha.app.db.connect()
"""
CELERY = "from celery import Celery\n\n\ndef connect():\n    return Celery()\n"


@FEW_EXAMPLES
@given(states=st.lists(STATES, min_size=2, max_size=4))
def test_a_build_after_roots_came_and_went_equals_a_fresh_build(
    tmp_path_factory: pytest.TempPathFactory, states: list[dict[str, bool]]
) -> None:
    folder = tmp_path_factory.mktemp("roots")
    tree = folder / "tree"
    repository = tree / "big/repo"
    with closing(open_graph_at(folder / "graph.db")) as store:
        for state in states:
            put_tree(tree, {path: choose_text(path) for path, is_there in state.items() if is_there})
            write_tree(repository, {"always.py": TEST})
            build(str(repository), store)
        assert store.check() == []
        assert export_lines(store) == build_afresh(repository, folder / "fresh.db")


def choose_text(path: str) -> str:
    if path.endswith("__init__.py"):
        return ""
    return TEST if "test" in path else CELERY if "celery" in path else DATABASE


def test_an_added_or_removed_parent_package_changes_only_edges(tmp_path: Path) -> None:
    shop = write_tree(tmp_path / "shop", {"__init__.py": "", "a.py": "def f(): pass\n"})
    write_tree(shop, {"b.py": "from big.shop.a import f\n\n\ndef g():\n    f()\n"})
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        counts = []
        for above in ("", "big"):
            place = shop.rename(write_tree(tmp_path / above, {"__init__.py": ""} if above else {}) / "shop")
            report = build(str(place), store, source=f"shop of {above}")
            counts.append((report.written, len(list(store.edges([RelationType.CALLS], report.source)))))
        assert counts == [(3, 0), (3, 1)]
        (tmp_path / "big/__init__.py").unlink()
        report = build(str(place), store, source="shop of big")
        assert (report.written, report.unchanged) == (0, 3)
        assert not list(store.edges([RelationType.CALLS], "shop of big"))
        assert {source.name: source.package for source in store.sources()}["shop of big"] == "shop"
        generation = store.generation()
        assert build(str(place), store, source="shop of big").generation == generation


def test_an_export_of_a_package_builds_the_same_edges(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "tree", SHOP)
    with closing(open_graph_at(tmp_path / "a.db")) as store, closing(open_graph_at(tmp_path / "b.db")) as again:
        build(str(tree / "shop"), store)
        (tmp_path / "export.jsonl").write_text("".join(json.dumps(line) + "\n" for line in store.export()))
        build_export(str(tmp_path / "export.jsonl"), again)
        assert export_lines(again) == export_lines(store)
        assert again.sources()[0].package == "shop"


@pytest.mark.parametrize(
    "name", ["shop.tax.rates", "shop.tax.rates.rate", "tax.rates", "rates.rate", "shop/tax/rates.py", "tax/rates.py"]
)
def test_a_package_folder_is_queried_by_whole_names(tmp_path: Path, name: str) -> None:
    tree = write_tree(tmp_path / "tree", SHOP)
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(tree / "shop"), store)
        assert find_target(store, name).place.path == "tax/rates.py"
        assert find_target(store, "shop").place.path == "__init__.py"


def test_a_packed_package_calls_itself(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path, text in SHOP.items():
            archive.writestr(path.removeprefix("shop/"), text)
    (tmp_path / "shop-1.0.zip").write_bytes(packed.getvalue())
    write_tree(tmp_path / "tree", SHOP)
    with closing(open_graph_at(tmp_path / "a.db")) as store, closing(open_graph_at(tmp_path / "b.db")) as folder:
        build(str(tmp_path / "shop-1.0.zip"), store)
        build(str(tmp_path / "tree/shop"), folder)
        assert list_edges(store) == list_edges(folder)


def test_a_graph_with_links_of_another_version_is_resolved_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = write_tree(tmp_path / "tree", SHOP)
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        monkeypatch.setattr(record_version, "VERSION", record_version.VERSION - 1)
        build(str(tree), store)
        before = export_lines(store)
        monkeypatch.undo()
        report = build(str(tree), store)
        assert (report.written, report.unchanged) == (0, len(SHOP))
        assert not any(record_version.is_outdated(notes) for _, notes in store.link_notes("tree"))
        assert export_lines(store) == before
