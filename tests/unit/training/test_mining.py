"""Training data of a package: prose and code of functions, separated."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from mining import Mined, hash_code, is_question, list_identifiers, mine_file, read_wheel

TEXT = b'''
class Cart:
    def add(self, item):
        """Put an item into the cart.

        The total grows by its price.

        >>> cart.add(item)
        """
        # look whether the item is in stock
        if item.stock:
            self.items.append(item)  # at the end
        return len(self.items)


def outer():
    def inner():
        """Do something unrelated."""
    return inner
'''


def mine(text: bytes, path: str = "shop/cart.py") -> list[Mined]:
    return list(mine_file(path, text))


def test_prose_and_code_of_a_function_come_apart() -> None:
    found = mine(TEXT)[0]
    assert (found.path, found.qualname) == ("shop/cart.py", "Cart.add")
    assert found.paragraphs[:2] == ["Put an item into the cart.", "The total grows by its price."]
    assert found.comments == ["look whether the item is in stock"]
    assert found.code.split() == ["def", "add", "self", "item", "if", "stock", "items", "append", "return", "len"]


def test_a_comment_above_a_block_comes_with_the_block() -> None:
    ((comment, code),) = mine(TEXT)[0].blocks
    assert comment == "look whether the item is in stock"
    assert code.split() == ["if", "item", "stock", "self", "items", "append"]


def test_functions_inside_functions_are_left_out() -> None:
    assert [found.qualname for found in mine(TEXT)] == ["Cart.add", "outer"]


def test_a_constant_comes_with_the_prose_around_it() -> None:
    found = mine(
        b"# How long to wait for an answer.\nTIMEOUT = 30  # in seconds, of each request\n'Of the client alone.'\n"
    )
    (constant,) = found
    assert (constant.qualname, constant.code, constant.is_constant) == ("TIMEOUT", "TIMEOUT 30", True)
    assert constant.paragraphs == [
        "How long to wait for an answer.",
        "in seconds, of each request",
        "Of the client alone.",
    ]


def test_layout_comments_and_docstrings_make_no_other_code() -> None:
    bare = (
        b"class Cart:\n  def add(self, item):\n    if item.stock: self.items.append(item)\n    return len(self.items)\n"
    )
    assert mine(bare)[0].key == mine(TEXT)[0].key
    assert mine(bare.replace(b"stock", b"price"))[0].key != mine(TEXT)[0].key
    assert hash_code(b"a b") != hash_code(b"b a")


@pytest.mark.parametrize(
    "text", ["", "too short", "TODO: say what this does", "type: ignore this one here", "word " * 80]
)
def test_what_names_nothing_is_no_question(text: str) -> None:
    assert not is_question(text)
    assert is_question("Put an item into the cart.")


def test_identifiers_come_once_in_their_order() -> None:
    assert list_identifiers(b"b(a, b, c.a)") == "b a c"


def test_a_wheel_gives_its_own_files_that_are_text(tmp_path: Path) -> None:
    names = ["shop/cart.py", "shop/tests/test_cart.py", "shop/_vendor/six.py", "shop/api_pb2.py", "shop/data.txt"]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, "x = 1\n")
        archive.writestr("shop/latin.py", "# größe".encode("latin-1"))
    wheel = tmp_path / "shop.whl"
    wheel.write_bytes(buffer.getvalue())
    assert list(read_wheel(wheel)) == [("shop/cart.py", b"x = 1\n")]
