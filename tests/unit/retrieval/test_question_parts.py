from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.retrieval.long.long_question import Part, is_long
from pkg.retrieval.long.question_parts import read_parts
from pkg.retrieval.question import MAX_TEXT, parse_question

ISSUE = """\
Cart.add_item loses the price
### What happened?

<!-- please fill in -->
The price is gone when an item is added twice, see `shop/cart.py`.

```python
>>> from shop import Cart
>>> Cart().add_item(1)
None
```

    indented_call(1)

Traceback (most recent call last):
  File "/srv/shop/cart.py", line 12, in add_item
ValueError: no price

- [x] I have searched the tracker

### Environment

shop: 1.2.3
python: 3.9.1
OS: Darwin
"""


def test_an_issue_is_taken_apart() -> None:
    parts = read_parts(ISSUE)
    assert parts[Part.TITLE] == "Cart.add_item loses the price"
    assert "added twice" in parts[Part.PROSE]
    assert parts[Part.CODE].splitlines() == ["from shop import Cart", "Cart().add_item(1)", "    indented_call(1)"]
    assert parts[Part.OUTPUT] == "None"
    assert parts[Part.ERROR] == "ValueError: no price"


@pytest.mark.parametrize("boilerplate", ["What happened", "fill in", "searched the tracker", "1.2.3", "Darwin", "###"])
def test_boilerplate_is_in_no_part(boilerplate: str) -> None:
    assert not any(boilerplate in text for text in read_parts(ISSUE).values())


@pytest.mark.parametrize(
    "text",
    [
        "where is the price of an item added up",
        "from typing import List\n\n\ndef mean(numbers: List[float]) -> float:\n" + '    """Give the mean."""\n' * 20,
        "Write a function to find the shortest path. " * 20,
    ],
)
def test_a_short_question_and_mere_code_have_no_parts(text: str) -> None:
    assert not is_long(text)
    assert not parse_question(text).parts


def test_a_long_question_names_things_however_many() -> None:
    names = [f"name_{letter}" for letter in "abcdefghijklmn"]
    told = "\n".join(f"`{name}` is one." for name in names)
    question = parse_question(ISSUE.replace("### Environment", f"{told}\n\n### Environment"))
    assert {*names, "Cart.add_item", "shop"} <= {*question.mentioned}
    assert not question.names


def test_a_long_question_asks_for_no_tests() -> None:
    assert not parse_question(ISSUE.replace("Cart.add_item", "The test of pytest")).asks_tests


def test_a_long_question_keeps_its_frames() -> None:
    assert [frame.function for frame in parse_question(ISSUE).frames] == ["add_item"]


@given(st.text(max_size=300))
def test_any_text_can_be_taken_apart(text: str) -> None:
    question = parse_question(f"Title {text}\n\n{ISSUE}\n{text}")
    assert Part.TITLE in question.parts


@pytest.mark.parametrize("text", ["查找最短路径的函数。\n\n为什么这里会出错?\n" * 10, "найти путь\n\nгде он\n" * 20])
def test_a_long_question_in_another_language_has_terms(text: str) -> None:
    assert parse_question(text).parts[Part.PROSE].terms


def test_control_characters_are_no_words() -> None:
    question = parse_question(ISSUE.replace(" ", " \x00\x1b"))
    assert "price" in question.parts[Part.TITLE].terms


@pytest.mark.parametrize(
    "piece",
    [ISSUE, "a", "a.", "a/", "(", "f(", "# ", "[", "<a ", "a, ", "x = ", "\n", "```\n", " ", "查找", "A: ", "\ud800"],
)
def test_a_text_of_27_mb_is_read_at_once(piece: str) -> None:
    text = f"title\nbody\n{piece * (27_000_000 // len(piece))}"
    question = parse_question(text)
    assert len(question.text) == MAX_TEXT


@pytest.mark.parametrize("piece", ["a", "f(", "# ", "[", "<a ", "a, ", " ", "A: ", "=", "*", "a/"])
def test_long_lines_are_read_at_once(piece: str) -> None:
    line = piece * (900 // len(piece))
    parse_question("title\n\nbody\n" + f"{line}\n" * 100)
