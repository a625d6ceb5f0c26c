"""Small repositories in an embedded store with hand-written links, so that no resolver is needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from pkg.encode.encoder import Encoder
from pkg.encode.registry import load_encoder
from pkg.graph.embedded.embedded_store import EmbeddedStore
from pkg.graph.store import GraphStore
from pkg.indexing.inputs import LoadedUnit, hash_text
from pkg.indexing.prepare import Preparer
from pkg.model import Edge, Label, Node, RelationType, Source
from pkg.units import UnboundCall, UnitGraph, UnitLinks, format_id, hash_key, name_library

LinkRow = tuple[str, str, str, int | None, str | None, str | None]
"""Type, start, end, line, rule, confidence. Ends: path, path::qualname, path@N for the import on line N, lib:name."""
UnboundRow = tuple[str, str, int, str]
"""Owner (path or path::qualname), expression, line, reason."""


@lru_cache(maxsize=1)
def encoder() -> Encoder:
    return load_encoder("static")


def make_linked_store(
    path: Path,
    files: Mapping[str, str],
    links: Iterable[LinkRow] = (),
    unbound: Iterable[UnboundRow] = (),
    source: str = "shop",
) -> EmbeddedStore:
    """Return an embedded store of files and their links."""
    store = EmbeddedStore(path, create=True)
    fill_store(store, files, links, unbound, source)
    return store


def fill_store(
    store: GraphStore,
    files: Mapping[str, str],
    links: Iterable[LinkRow] = (),
    unbound: Iterable[UnboundRow] = (),
    source: str = "shop",
) -> None:
    """Fill a store with files and their links."""
    store.ensure_schema(encoder().name, encoder().dimension)
    with store.write() as writer:
        writer.put_source(Source(source, "repository", f"/src/{source}"), "first")
        for unit in _prepare(source, files):
            writer.replace_file(unit)
        names = writer.missing_names(source)
        if names:
            vectors = encoder().encode([name.encode() for name in names]).astype("f2")
            writer.put_names(source, dict(zip(names, vectors, strict=True)))
    put_rows(store, links, unbound, source)


def put_rows(
    store: GraphStore, links: Iterable[LinkRow], unbound: Iterable[UnboundRow] = (), source: str = "shop"
) -> None:
    """Replace the links and unbound calls of files."""
    ids = list_named_ids(store, source)
    edges: dict[str, list[Edge]] = {}
    calls: dict[str, list[UnboundCall]] = {}
    libraries: dict[str, set[str]] = {}
    for kind, start, end, line, rule, confidence in links:
        path = _path_of(start)
        if end.startswith("lib:"):
            libraries.setdefault(path, set()).add(end[4:])
        last = name_library(source, end[4:]) if end.startswith("lib:") else ids[end]
        edges.setdefault(path, []).append(Edge(RelationType(kind), ids[start], last, line, rule, confidence))
    for owner, expression, line, reason in unbound:
        here = calls.setdefault(_path_of(owner), [])
        identity = format_id(hash_key(source, owner, expression, str(line), str(len(here))))
        here.append(UnboundCall(identity, ids[owner], expression, line, reason))
    units = [
        UnitLinks(path, tuple(edges.get(path, ())), tuple(calls.get(path, ())), tuple(sorted(libraries.get(path, ()))))
        for path in sorted(edges.keys() | calls.keys())
    ]
    with store.write() as writer:
        writer.put_links(source, units)


def list_named_ids(store: GraphStore, source: str = "shop") -> dict[str, str]:
    """Return the ids of files, definitions and imports by the names that rows use."""
    nodes = store.nodes((Label.FILE, Label.CLASS, Label.FUNCTION, Label.IMPORT), source)
    return {_name(node): node.id for node in nodes}


def _name(node: Node) -> str:
    if node.label is Label.FILE:
        return node.path
    return f"{node.path}@{node.start_line}" if node.label is Label.IMPORT else f"{node.path}::{node.qualname}"


def _path_of(name: str) -> str:
    return name.partition("::")[0].partition("@")[0]


def _prepare(source: str, files: Mapping[str, str]) -> list[UnitGraph]:
    loaded = [
        LoadedUnit(path, hash_text(text.encode()), Label.FILE, hash_text(text.encode()), text.encode())
        for path, text in files.items()
    ]
    units, _ = Preparer(source, encoder()).prepare(loaded)
    return units


SHOP = {
    "shop/prices.py": """\
import json


def find_price(item):
    return load()[item]


def load():
    return json.load(open())


def count(n):
    return n and count(n - 1)
""",
    "shop/cart.py": """\
from .prices import find_price
from . import prices


class Cart:
    def add(self, item):
        self.check(item)
        return find_price(item)

    def check(self, item):
        item.run()


class BigCart(Cart):
    def check(self, item):
        return True
""",
    "shop/main.py": """\
from shop.cart import Cart


def main():
    cart = Cart()
    cart.add('pen')
    unknown.find_price(1)


main()
""",
    "tests/test_cart.py": """\
from shop.cart import BigCart


def test_add():
    BigCart().add('pen')
""",
    "shop/spare.py": """\
from shop import missing

__all__ = ['export']


def export():
    pass


@register
def hook():
    pass


def _left():
    pass


def run_me():
    pass


class Visitor(Base):
    def visit(self):
        pass
""",
}
"""A shop: a file of prices, carts above it, a main function above those, a test, and an unused file."""

SHOP_LINKS: tuple[LinkRow, ...] = (
    ("CALLS", "shop/prices.py::find_price", "shop/prices.py::load", 5, "module", "certain"),
    ("CALLS", "shop/prices.py::count", "shop/prices.py::count", 13, "module", "certain"),
    ("CALLS", "shop/cart.py::Cart.add", "shop/cart.py::Cart.check", 7, "self", "certain"),
    ("CALLS", "shop/cart.py::Cart.add", "shop/cart.py::BigCart.check", 7, "self", "possible"),
    ("CALLS", "shop/cart.py::Cart.add", "shop/prices.py::find_price", 8, "import", "certain"),
    ("CALLS", "shop/main.py::main", "shop/cart.py::Cart", 5, "import", "certain"),
    ("CALLS", "shop/main.py::main", "shop/cart.py::Cart.add", 6, "constructor", "likely"),
    ("CALLS", "shop/main.py", "shop/main.py::main", 10, "module", "certain"),
    ("CALLS", "tests/test_cart.py::test_add", "shop/cart.py::BigCart", 5, "import", "certain"),
    ("CALLS", "tests/test_cart.py::test_add", "shop/cart.py::Cart.add", 5, "constructor", "likely"),
    ("INHERITS", "shop/cart.py::BigCart", "shop/cart.py::Cart", 1, "module", "certain"),
    ("OVERRIDES", "shop/cart.py::BigCart.check", "shop/cart.py::Cart.check", None, None, None),
    ("RESOLVES_TO", "shop/prices.py@1", "lib:json", None, "module", "certain"),
    ("RESOLVES_TO", "shop/cart.py@1", "shop/prices.py::find_price", None, "function", "certain"),
    ("RESOLVES_TO", "shop/cart.py@2", "shop/prices.py", None, "module", "certain"),
    ("RESOLVES_TO", "shop/main.py@1", "shop/cart.py::Cart", None, "class", "certain"),
    ("RESOLVES_TO", "tests/test_cart.py@1", "shop/cart.py::BigCart", None, "class", "certain"),
)
SHOP_UNBOUND: tuple[UnboundRow, ...] = (
    ("shop/cart.py::Cart.check", "item.run", 11, "the type of item is not known"),
    ("shop/main.py::main", "unknown.find_price", 7, "unknown is not defined"),
    ("shop/main.py::main", "queue.run_me", 7, "queue is not defined"),
    ("shop/prices.py::load", "open", 9, "a builtin"),
)


def make_shop(path: Path) -> EmbeddedStore:
    """Fill a store with the shop."""
    return make_linked_store(path, SHOP, SHOP_LINKS, SHOP_UNBOUND)
