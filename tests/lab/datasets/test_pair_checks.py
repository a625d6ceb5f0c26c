"""Pairs that do not name or quote their place are found."""

from __future__ import annotations

import pytest

from pkg.lab.datasets.dataset_rows import Place
from pkg.lab.datasets.pair_checks import Repository, find_file_fault, find_span_fault
from pkg.lab.datasets.pair_parsing import Pair

CODE = 'def load_cart(path):\n    """Read cart.json."""\n    return json.loads(path.read_text())'
PLACE = Place("shop", None, "store/cart.py", 10, 12, CODE)
SHOP = Repository(["store/cart.py", "store/prices.py", "README.md"])
QUESTION = "In cart.py of shop.store, lines 10 to 12: what does it do?"
ANSWER = "It reads the cart:\n```python\nreturn json.loads(path.read_text())\n```"


@pytest.mark.parametrize(
    ("question", "answer", "fault"),
    [
        (QUESTION, ANSWER, None),
        (QUESTION, "`load_cart` reads it.", None),
        (QUESTION, "It does this:\nreturn json.loads(path.read_text())", None),
        (QUESTION.replace("cart.py", "this file"), ANSWER, "a question without its file"),
        (QUESTION + " And basket.py?", ANSWER, "a question about a file that does not exist"),
        (QUESTION + " And store/prices.py, in README.md?", ANSWER, None),
        (QUESTION + " And wrong/prices.py?", ANSWER, "a question about a file that does not exist"),
        (QUESTION + " Why cart.json?", ANSWER, None),  # the code names it
        (QUESTION.replace("shop.store", "the shop"), ANSWER, "a question without its module"),
        (QUESTION.replace("10 to 12", "10 to 13"), ANSWER, "a question without its lines"),
        (QUESTION.replace("10 to 12", "110 to 12"), ANSWER, "a question without its lines"),
        (QUESTION, "It loads the cart from a path.", "an answer without code"),
        (QUESTION, "It prints:\n```python\nprint(1)\n```", "an answer that does not mention the span"),
    ],
)
def test_a_pair_about_lines(question: str, answer: str, fault: str | None) -> None:
    assert find_span_fault(Pair(question, answer), PLACE, SHOP) == fault


def test_a_pair_about_a_file_needs_neither_lines_nor_code() -> None:
    readme = Place("shop", None, "README.md", 1, 3, "# Shop\n\nInstall it with pip.")
    asked = "How is the shop installed, by README.md?"
    assert find_file_fault(Pair(asked, "With pip."), readme, SHOP) is None
    assert find_file_fault(Pair(asked, "No."), readme, SHOP) == "an answer that does not mention the span"
    assert find_file_fault(Pair("How?", "With pip."), readme, SHOP) == "a question without its file"
    assert find_file_fault(Pair(asked + " See setup.cfg", "With pip."), readme, SHOP) == (
        "a question about a file that does not exist"
    )
