from __future__ import annotations

import pytest
from graphs import make_store

from pkg.retrieval.long.question_mentions import MAX_SAME_NAMED, PathIndex, find_mentions
from pkg.retrieval.question import parse_question

PATHS = ["shop/cart.py", "shop/stock/cart.py", "shop/__init__.py", "setup.py"]


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/usr/lib/python3/site-packages/shop/cart.py", ["shop/cart.py"]),
        ("C:/env/shop/stock/cart.py", ["shop/stock/cart.py"]),
        ("cart.py", ["shop/cart.py", "shop/stock/cart.py"]),
        ("/other/project/cart.py", []),
        ("/srv/checkout/setup.py", ["setup.py"]),
        ("/usr/lib/python3/threading.py", []),
        ("", []),
    ],
)
def test_a_path_of_another_machine_matches_by_its_longest_end(path: str, found: list[str]) -> None:
    assert PathIndex(PATHS).match_end(path) == found


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("shop.cart.Cart.add", ["shop/cart.py"]),
        ("shop.stock.cart", ["shop/stock/cart.py"]),
        ("other.cart", []),
        ("cart", []),
    ],
)
def test_a_dotted_name_finds_its_module(name: str, found: list[str]) -> None:
    assert PathIndex(PATHS).match_module(name) == found


BODY = "def {}(self):\n    return 1\n"
ISSUE = """\
rare_name is wrong
The call of `rare_name` and of `common_name` is wrong.

Traceback (most recent call last):
  File "/srv/site-packages/shop/deep.py", line 1, in deep_call
  File "/usr/lib/python3/threading.py", line 5, in run
ValueError: this is said at some length, so that the question is a long one, with several lines and many words
"""


def test_rare_names_point_at_files_and_common_ones_at_none() -> None:
    common = {f"shop/c{n}.py": BODY.format("common_name") for n in range(MAX_SAME_NAMED + 1)}
    store = make_store({"shop/rare.py": BODY.format("rare_name"), "shop/deep.py": BODY.format("deep_call"), **common})
    mentions = find_mentions(store, parse_question(ISSUE), None)
    assert mentions.definers == {"shop/rare.py": 1.0, "shop/deep.py": 1.0}
    assert [path for _, path in mentions.frames] == ["shop/deep.py"]
    assert {node.name for node in store.get(mentions.functions)} == {"rare_name", "deep_call"}


def test_a_trace_of_another_project_points_at_nothing() -> None:
    store = make_store({"app/main.py": BODY.format("main"), "app/deep.py": BODY.format("other")})
    mentions = find_mentions(store, parse_question(ISSUE), None)
    assert not mentions.frames
    assert not mentions.paths
