"""The line that tells where a piece of code stands."""

from __future__ import annotations

import pytest

from pkg.encode.headings import Headings, make_heading
from pkg.model import Label, Node, Source


@pytest.mark.parametrize(
    ("path", "qualname", "heading"),
    [
        ("shop/cart.py", "Cart.add", "shop/cart Cart.add"),
        ("cart.pyi", "add", "cart add"),
        ("shop/__init__.py", "add", "shop add"),
        ("__init__.py", "add", "__init__ add"),
        ("shop/v1.2/cart.py", "add", "shop/v1.2/cart add"),
        ("script", "main", "script main"),
        ("", "read_rows", "read_rows"),
        ("größe/\udcff.py", "ändern", "größe/? ändern"),
    ],
)
def test_a_heading_is_the_module_and_the_qualified_name(path: str, qualname: str, heading: str) -> None:
    assert make_heading(path, qualname) == heading


@pytest.mark.parametrize(("source", "heading"), [("shop", "shop/cart Cart.add"), ("rows", "Cart.add")])
def test_a_stored_node_has_the_path_of_its_file_in_the_heading_but_not_the_name_of_its_row(
    source: str, heading: str
) -> None:
    headings = Headings([Source("shop", "repository", "/shop"), Source("rows", "corpus", "/rows.jsonl")])
    where = (0, 12, 1, 1, 0)
    node = Node("1", Label.FUNCTION, source, "shop/cart.py", "add", "Cart.add", None, *where, "def add(): 0", "2")
    assert headings.of(node) == heading
