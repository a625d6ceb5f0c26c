"""After a change of fixtures the tests that ask for them are resolved again: no text speaks of where they stand."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unit.resolve.test_changes import Tree, edit_at_random, follow

SUITE = {
    "shop.py": "class Shop:\n    def open(self):\n        pass\n\n    def close(self):\n        pass\n",
    "stock.py": (
        "import pytest\nfrom shop import Shop\n\n\n@pytest.fixture(name='full')\ndef stock():\n    return Shop()\n"
    ),
    "conftest.py": (
        "import pytest\nfrom shop import Shop\nfrom stock import stock\n\n\n@pytest.fixture\ndef shop():\n"
        "    opened = Shop()\n    yield opened\n    opened.close()\n"
    ),
    "tests/conftest.py": (
        "import pytest\n\n\n@pytest.fixture\ndef door(shop):\n    return shop.open\n\n\n"
        "@pytest.fixture(name='key')\ndef make_key():\n    pass\n"
    ),
    "tests/test_shop.py": "def test_open(shop):\n    shop.open()\n\n\ndef test_full(stock, key):\n    stock.close()\n",
    "tests/test_door.py": (
        "import pytest\n\n\nclass TestDoor:\n    @pytest.fixture\n    def shop(self, shop):\n        return shop\n\n"
        "    @pytest.mark.usefixtures('shop')\n    def test_door(self, door):\n        door()\n"
    ),
} | {f"other_{letter}.py": f"def lone_{letter}():\n    pass\n" for letter in "abcdef"}
NEARER = (
    "import pytest\n\n\nclass Near:\n    def open(self):\n        pass\n\n\n"
    "@pytest.fixture\ndef shop():\n    return Near()\n"
)


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param({"tests/conftest.py": NEARER}, id="a nearer one"),
        pytest.param({"conftest.py": "import pytest\n\n\ndef shop():\n    pass\n"}, id="no fixture any more"),
        pytest.param({"conftest.py": SUITE["conftest.py"].replace("def shop", "def store")}, id="another name"),
        pytest.param(
            {"tests/conftest.py": SUITE["tests/conftest.py"].replace("make_key", "make_keys")}, id="another function"
        ),
        pytest.param({"tests/deep/__init__.py": "", "tests/deep/conftest.py": NEARER}, id="one of another folder"),
    ],
)
def test_who_asks_for_a_fixture_that_changes_is_resolved_again(texts: dict[str, str]) -> None:
    tree = Tree(SUITE)
    tree.change(SUITE | texts)
    assert tree.links == Tree(SUITE | texts).links


def test_tests_that_ask_for_other_fixtures_are_left_alone() -> None:
    tree = Tree(SUITE | {"tests/test_plain.py": "def test_plain(tmp_path):\n    tmp_path.exists()\n"})
    tree.change(tree.texts | {"tests/conftest.py": SUITE["tests/conftest.py"].replace("door", "gate")})
    assert "tests/test_door.py" in tree.resolved
    assert "tests/test_plain.py" not in tree.resolved


def test_who_asks_for_a_fixture_of_another_name_than_its_function_stands_on_its_file() -> None:
    text = SUITE["tests/conftest.py"]
    assert "def door(" in text
    tree = Tree(SUITE)
    tree.change(SUITE | {"tests/conftest.py": text.replace("def door(", "def make_key(")})
    assert tree.links == Tree(tree.texts).links


@settings(max_examples=min(30, settings().max_examples // 2), deadline=None)
@given(st.integers(0, 10**6))
def test_links_after_changes_of_a_suite_are_those_of_a_build_from_nothing(seed: int) -> None:
    source = random.Random(seed)
    follow(SUITE, lambda texts: edit_at_random(texts, source), 5)
