"""The line that tells where a piece of code stands."""

from __future__ import annotations

import pytest

from pkg.encode.headings import make_heading


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
