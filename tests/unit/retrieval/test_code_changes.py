"""Pieces of code that differ between two texts."""

from __future__ import annotations

import pytest

from pkg.model import Label
from pkg.retrieval.deps.changed_targets import compare_code

OLD = '''\
"""A shop."""
import os
from decimal import Decimal

LIMIT = 3
TAX = Decimal("0.2")


class Cart(list):
    size = 1

    def add(self, item):
        """Add it."""
        return item

    def total(self):
        def rate():
            return TAX
        return sum(self) * rate()


def load(path):
    return os.stat(path)


print(LIMIT)
'''


def compare(*edits: tuple[str, str]) -> dict[str, str]:
    new = OLD
    for before, after in edits:
        assert before in new
        new = new.replace(before, after)
    found = compare_code(OLD.encode(), new.encode())
    assert not found.is_whole
    return {piece.qualname or piece.label.value: piece.how for piece in found.pieces}


@pytest.mark.parametrize(
    ("before", "after", "pieces"),
    [
        ("return item", "return item or 1", {"Cart.add": "changed"}),
        ("return TAX", "return 1", {"Cart.total.rate": "changed"}),
        ("sum(self) * rate()", "rate()", {"Cart.total": "changed"}),
        ("size = 1", "size = 2", {"Cart.size": "changed"}),
        ("Cart(list)", "Cart(dict)", {"Cart": "changed"}),
        ("LIMIT = 3", "LIMIT = 4", {"LIMIT": "changed"}),
        ("print(LIMIT)", "print(TAX)", {"Module": "changed"}),
        ("def load(path):\n    return os.stat(path)\n", "", {"load": "deleted"}),
        ("def load", "def read", {"load": "deleted", "read": "added"}),
        ("import os\n", "import posix as os\n", {"load": "uses a changed import"}),
        ("from decimal import Decimal", "from shop import *", {"Module": "uses a changed import",
                                                              "TAX": "uses a changed import"}),
        ('"""Add it."""', '"""Add an item."""', {}),
        ('"""A shop."""', '"""A better shop."""', {}),
        ("return item\n", "return item  # as it is\n\n\n", {}),
    ],
)  # fmt: skip
def test_only_differences_are_listed(before: str, after: str, pieces: dict[str, str]) -> None:
    assert compare((before, after)) == pieces


def test_moved_code_is_unchanged() -> None:
    moved = "def load(path):\n    return os.stat(path)\n"
    assert compare((moved, ""), ("class Cart", f"{moved}\n\nclass Cart")) == {}


def test_a_line_that_moves_out_of_a_block_is_a_change() -> None:
    old, new = b"def f(a):\n    if a:\n        b()\n        c()\n", b"def f(a):\n    if a:\n        b()\n    c()\n"
    assert compare_code(old, new).pieces == ((Label.FUNCTION, "f", "changed"),)


def test_a_file_that_comes_or_goes_is_all_of_its_pieces() -> None:
    assert {piece.how for piece in compare_code(None, OLD.encode()).pieces} == {"added"}
    assert {piece.how for piece in compare_code(OLD.encode(), None).pieces} == {"deleted"}


def test_a_text_that_does_not_parse_is_changed_as_a_whole() -> None:
    assert compare_code(OLD.encode(), b"def f(:\n").is_whole
