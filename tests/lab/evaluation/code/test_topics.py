from __future__ import annotations

import random

import numpy as np
import pytest

from pkg.lab.evaluation.code.benchmarks import Item
from pkg.lab.evaluation.code.topics import OTHER_TOPIC, TOPICS, describe_tasks, find_topic, project


def make_item(query: str, entry: str = "solve") -> Item:
    return Item("task", query, query, entry, "", "")


@pytest.mark.parametrize(
    ("query", "topic"),
    [
        ("Write a function to find the perimeter of a cylinder.", "Geometry and measures"),
        ("Write a function to check if a string has an a followed by b's, by using regex.", TOPICS[0]),
        ("Write a python function to count vowels in the given string.", "Strings and text"),
        ("Write a function to find the largest prime factor of a number.", "Numbers and number theory"),
        ("Write a function to convert a decimal number to binary.", "Conversion and dates"),
        ("Write a python function to set all odd bits of a given number.", "Bits and logic"),
        ("Write a function to sort the given array by using merge sort.", "Sorting and searching"),
        ("Write a function to find the minimum cost path to reach (m, n).", "Optimisation and counting of ways"),
        ("Write a function to merge two dictionaries.", "Tuples, dictionaries and nested data"),
        ("Write a function to rotate a list by some elements.", "Lists and sequences"),
        ("", OTHER_TOPIC),
        ("Ein Satz ohne bekannte Begriffe", OTHER_TOPIC),
    ],
)
def test_a_task_has_the_topic_of_its_words(query: str, topic: str) -> None:
    assert find_topic(make_item(query)) == topic


def test_examples_and_the_order_of_words_do_not_count() -> None:
    text = 'def area(side):\n    """Give the area of a square.\n\n    >>> area("string of letters")\n    """\n'
    assert find_topic(make_item(text, "area")) == "Geometry and measures"
    words = ["count", "the", "largest", "even", "digit", "of", "each", "string", "in", "a", "sorted", "list"]
    shuffled = random.Random(0).sample(words, len(words))
    assert find_topic(make_item(" ".join(words))) == find_topic(make_item(" ".join(shuffled)))


def test_there_are_ten_topics() -> None:
    assert (len(TOPICS), OTHER_TOPIC in TOPICS) == (10, True)


def test_places_lie_along_what_differs_most() -> None:
    steps = np.arange(9, dtype=np.float32)
    vectors = np.zeros((9, 5), np.float32)
    vectors[:, 3] = steps  # largest variance
    vectors[:, 1] = steps % 2
    places = project(vectors)
    assert np.allclose(places[:, 0], steps - 4, atol=0.2)
    assert abs(places[:, 0].mean()) < 1e-3
    assert np.ptp(places[:, 1]) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("count", [1, 2, 30])
def test_any_number_of_tasks_has_places(count: int) -> None:
    items = [make_item(f"{word} of a number") for word in ("double", "triple", "halve") * 10][:count]
    facts = describe_tasks(items)
    assert len(facts) == count
    assert all(np.isfinite(each.place).all() for each in facts)
    assert facts == describe_tasks(items)
    if count > 3:
        assert facts[0].place == facts[3].place != facts[1].place
