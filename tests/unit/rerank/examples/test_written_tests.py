"""Tests in a query become scripts: statements in order, with claims between them."""

from __future__ import annotations

import pytest

from pkg.rerank.candidates import Check, Example
from pkg.rerank.examples.example_search import find_entry, find_examples
from pkg.rerank.parsed_question import parse_question

ANSWER = "def area(side):\n    return side * side\n"
QUEUE = "class Queue:\n    def __init__(self):\n        self.items = []\n"


def read(query: str, answer: str = ANSWER) -> list[Example]:
    return list(find_examples(parse_question(query, [answer])))


def show(query: str, answer: str = ANSWER) -> list[str]:
    return [each.shown for each in read(query, answer)]


BOTH = ["area(3) == 9", "area(4) == 16"]


@pytest.mark.parametrize(
    "query",
    [
        "def test_area():\n    assert area(3) == 9\n    assert area(4) == 16\n",
        "Please write it.\n```python\nfrom shapes import area\n\n\ndef test_area():\n    assert area(3) == 9\n"
        "    assert area(4) == 16\n```\nThank you.",
        "class TestArea(unittest.TestCase):\n    def test_one(self):\n        self.assertEqual(area(3), 9)\n"
        "    def test_two(self):\n        self.assertEqual(16, area(4))\n",
        "class TestShapes:\n    class TestArea:\n        def test_it(self):\n            assert area(3) == 9\n"
        "            assert area(4) == 16\n",
        "@pytest.mark.parametrize(('side', 'expected'), [(3, 9), pytest.param(4, 16, id='four')], ids=str)\n"
        "def test_area(side, expected):\n    assert area(side) == expected\n",
        "CASES = [(3, 9), (4, 16)]\n@pytest.mark.parametrize('side,expected', CASES)\ndef test_area(side, expected):\n"
        "    got = area(side)\n    assert area(side) == expected\n",
        "class TestArea:\n    @parameterized.expand([(3, 9), (4, 16)])\n    def test_area(self, side, expected):\n"
        "        self.assertEqual(area(side), expected)\n",
        "def test_area():\n    for side, expected in [(3, 9), (4, 16)]:\n        assert area(side) == expected\n",
        "def test_area():\n    for side, expected in {3: 9, 4: 16}.items():\n        with self.subTest(side=side):\n"
        "            self.assertEqual(area(side), expected)\n",
        "def test_area():\n    for side, expected in zip([3, 4], (9, 16)):\n        assert area(side) == expected\n",
        "def check(candidate):\n    assert candidate(3) == 9\n    assert candidate(4) == 16\n\ncheck(area)\n",
        "def check(candidate):\n    assert candidate(3) == 9\n    assert candidate(4) == 16\n",
        "def verify(side, expected=9):\n    assert area(side) == expected\n\n"
        "def test_it():\n    verify(3)\n    verify(4, expected=16)\n",
        "def main():\n    assert area(3) == 9\n    assert area(4) == 16\n\nif __name__ == '__main__':\n    main()\n",
        "sides = [3, 4]\nexpected = [9, 16]\nassert area(3) == 9 and area(4) == 16\n",
    ],
    ids=range(15),
)
def test_every_way_to_write_a_test_shows_the_same(query: str) -> None:
    shown = [each.removeprefix("got = area(3); ").removeprefix("got = area(4); ") for each in show(query)]
    assert shown == BOTH


def test_what_a_test_expects_is_never_a_line_that_the_candidate_runs() -> None:
    query = "def test_it():\n    secret = 'the secret'\n    got = area(2)\n    assert got == secret\n    got.clear()\n"
    query += "    assert got != secret\n"
    for each in read(query):
        assert "the secret" not in "".join(each.before)


def test_statements_run_in_order_with_the_state_that_claims_leave() -> None:
    query = "q = Queue()\nq.put(1)\nassert q.get() == 1; assert q.empty()\n"
    first, second = read(query, QUEUE)
    assert (first.before, first.source) == (("q = Queue()", "q.put(1)"), "q.get()")
    assert second.before == (*first.before, "q.get()")


def test_what_sets_an_object_up_runs_before_each_test() -> None:
    query = (
        "class TestQueue(unittest.TestCase):\n    def setUp(self):\n        self.q = Queue()\n"
        "    def test_new(self):\n        self.assertTrue(self.q.empty())\n"
    )
    (example,) = read(query, QUEUE)
    assert example.before[-2:] == ("self = TestQueue()", "self.setUp()")


def test_a_fixture_gives_a_test_its_object() -> None:
    query = "@pytest.fixture\ndef q():\n    return Queue()\n\ndef test_new(q):\n    assert q.empty()\n"
    (example,) = read(query, QUEUE)
    assert example.before[-1] == "q = _make_q()"


def test_a_test_whose_arguments_nothing_gives_is_no_example() -> None:
    assert show("def test_area(unknown):\n    assert area(3) == unknown\n") == []


def test_a_test_that_is_skipped_is_no_example() -> None:
    assert show("@pytest.mark.skip\ndef test_area():\n    assert area(3) == 8\n") == []


def test_a_list_that_a_call_may_change_is_asked_for_after_the_call() -> None:
    (example,) = read("items = [3, 1]\narea(items)\nassert items == [1, 3]\n")
    assert (example.before, example.source, example.expected) == (("items = [3, 1]", "area(items)"), "items", [1, 3])


@pytest.mark.parametrize(
    ("query", "expected", "match"),
    [
        ("with pytest.raises(ValueError):\n    area(-1)\n", "ValueError", ""),
        ("with pytest.raises(ValueError, match='below'):\n    area(-1)\n", "ValueError", "below"),
        ("with pytest.raises((TypeError, ValueError)):\n    area(-1)\n", "TypeError or ValueError", ""),
        ("with self.assertRaises(errors.BadSide):\n    area(-1)\n", "BadSide", ""),
        ("with self.assertRaisesRegex(ValueError, 'below'):\n    area(-1)\n", "ValueError", "below"),
        ("self.assertRaises(ValueError, area, -1)\n", "ValueError", ""),
        ("self.assertRaises(ValueError, lambda: area(-1))\n", "ValueError", ""),
        ("try:\n    area(-1)\n    assert False, 'no error'\nexcept ValueError:\n    pass\n", "ValueError", ""),
        ("try:\n    area(-1)\nexcept ValueError:\n    pass\nelse:\n    raise AssertionError\n", "ValueError", ""),
        ("area(-1) should raise a ValueError\n", "ValueError", ""),
        ("`area(-1)` throws `ValueError`.\n", "ValueError", ""),
        ("area(-1) -> ValueError\n", "ValueError", ""),
    ],
)
def test_an_exception_that_is_wanted_is_read(query: str, expected: str, match: str) -> None:
    (example,) = read(query)
    assert (example.check, example.source) == (Check.RAISES, "area(-1)")
    assert (example.expected, example.match) == (expected, match)


def test_a_module_that_is_not_there_is_the_candidate() -> None:
    (example,) = read("import shapes\nassert shapes.area(3) == 9\n")
    assert example.before == ("try:\n    import shapes\nexcept ImportError:\n    import candidate as shapes",)


def test_a_name_that_people_use_without_an_import_is_imported_where_the_candidate_has_none() -> None:
    (example,) = read("assert area(Decimal('1.5')) == Decimal('2.25')\n")
    assert example.before == ("try:\n    Decimal\nexcept NameError:\n    from decimal import Decimal",)


def test_a_class_that_bears_the_name_of_a_known_one_is_the_wanted_one() -> None:
    first, second = read(
        "c = Counter()\nc.add('a')\nassert c.get('a') == 1\nassert Counter().get('a') == 0\n", "class Counter: ..."
    )
    assert first.before == ("c = Counter()", "c.add('a')")
    assert second.source == "Counter().get('a')"


@pytest.mark.parametrize(
    ("query", "answer", "entry"),
    [
        ("def border(side):\n    return area(side)\n\nWrite area. area(3) == 9", ANSWER, "area"),
        ("def test_area():\n    assert area(3) == 9\n", ANSWER, "area"),
        ('def area(side):\n    """Return it."""\n\ndef test_area():\n    assert area(3) == 9\n', ANSWER, "area"),
        ("Fix this:\n```python\ndef area(side):\n    return side\n```", ANSWER, "area"),
        ("Write the function `surface`. area(3) == 9", ANSWER, "area"),
        ("q = Queue()\nassert q.empty()\n", QUEUE, "Queue"),
    ],
)
def test_what_is_wanted_is_what_the_answers_define(query: str, answer: str, entry: str) -> None:
    question = parse_question(query, [answer])
    assert find_entry(question, find_examples(question)) == entry


def test_the_method_of_a_class_is_called_on_an_object() -> None:
    query = "Example:\nInput: n = 6, k = 2\nOutput: 8\n\nclass Solution:\n    def run(self, n: int, k: int) -> int:\n"
    assert show(query, "class Solution:\n    def run(self, n, k): ...") == ["Solution().run(6, 2) == 8"]


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("Write area. list(area(3)) == [1, 2]", "list(area(3)) == [1, 2]"),
        ("Write area. sorted(area(3)) -> [1, 2]", "sorted(area(3)) == [1, 2]"),
        ("Write area. ''.join(area('ab')) == 'ba'", "''.join(area('ab')) == 'ba'"),
        ("Write area. area(3).size == 9", "area(3).size == 9"),
        ("Write area. area(area(2)) == 16", "area(area(2)) == 16"),
    ],
)
def test_an_expression_around_the_call_is_read_in_words(query: str, shown: str) -> None:
    assert show(query) == [shown]


@pytest.mark.parametrize("query", ["area(side) == side ** 2", "max(area(side), 3) == 9", "grid(area(3)) == 9"])
def test_an_expression_that_reads_what_nothing_gives_is_no_example(query: str) -> None:
    assert show(f"Write area(side). {query}") == []
