from __future__ import annotations

import pytest

from pkg.rerank.extraction import extract_code
from pkg.rerank.parsed_question import parse_question

ADD = parse_question('from typing import List\n\ndef add(xs: List[int]) -> int:\n    """Add numbers."""\n')
CODE = "def add(xs):\n    return sum(xs)"


@pytest.mark.parametrize(
    "text",
    [
        CODE,
        f"\ufeff{CODE}\r\n",
        f"Sure! Here it is:\n\n```python\n{CODE}\n```\nHope that helps.",
        f"```\n{CODE}\n```",
        f"[PYTHON]\n{CODE}\n[/PYTHON]",
        f"Here is the code:\n\n{CODE}\n\nThis adds all numbers.",
        f"```python\n{CODE}\n```\nA test:\n```python\nassert add([1]) == 2\n```",
        f"```bash\npip install it\n```\n```python\n{CODE}\n```",
        f"```python\n{CODE}",
    ],
)
def test_the_code_of_an_answer_is_found(text: str) -> None:
    assert extract_code(text, ADD).code == CODE


@pytest.mark.parametrize("text", ["    return sum(xs)\n", "return sum(xs)", "\n    return sum(xs)"])
def test_an_answer_that_continues_the_query_is_appended_to_it(text: str) -> None:
    found = extract_code(text, ADD)
    assert found.code.startswith("from typing import List\n\ndef add(xs: List[int]) -> int:")
    assert found.code.endswith("    return sum(xs)")
    assert found.note == "continues the query"


def test_a_body_of_several_lines_without_indentation_is_moved_under_its_header() -> None:
    found = extract_code("total = 0\nfor x in xs:\n    total += x\nreturn total", ADD)
    assert found.code.endswith("    for x in xs:\n        total += x\n    return total")


@pytest.mark.parametrize(
    "text", ["return w * h", "    return w * h", "```python\n    return w * h\n```", "area = w * h\nreturn area"]
)
def test_a_body_without_its_header_gets_the_one_that_the_query_tells(text: str) -> None:
    found = extract_code(text, parse_question("Write a function area(w, h) for the area of a rectangle."))
    assert found.code.startswith("def area(w, h):\n    ")
    assert found.note == "its header is missing and was added"


@pytest.mark.parametrize("text", ["w * h", "print(w * h)", "It is w times h.", "return"])
def test_what_is_no_body_gets_no_header(text: str) -> None:
    question = parse_question("Write a function area(w, h) for the area of a rectangle.")
    assert "def" not in extract_code(text, question).code or text == "return"


def test_code_that_python_refuses_is_given_without_the_prose_around_it() -> None:
    found = extract_code("Sure:\n```python\ndef add(xs)\n    return sum(xs)\n```\nDone.", ADD)
    assert (found.code, found.note) == ("def add(xs)\n    return sum(xs)", "taken from a fence")


def test_imports_of_the_query_are_added_to_code_that_needs_them_and_to_no_other() -> None:
    assert extract_code("def add(xs: List[int]):\n    return 0", ADD).code.startswith("from typing import List\n")
    assert extract_code(CODE, ADD).code == CODE


def test_definitions_of_the_query_are_there_for_the_answer() -> None:
    question = parse_question('def twice(x):\n    return 2 * x\n\ndef f(x):\n    """Four times."""\n')
    assert "def twice" in extract_code("def f(x):\n    return twice(twice(x))", question).code


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"{CODE}\n\nprint(add([1,", CODE),
        ("def add(xs):\n    total = 0\n    for x in xs:\n        total +=", "def add(xs):\n    total = 0"),
        (f"```python\n{CODE}\n\ndef test(", CODE),
        (
            "def aid(x):\n    return x\n\ndef add(xs):\n    y = 1\n    return [",
            "def aid(x):\n    return x\n\ndef add(xs):\n    y = 1",
        ),
    ],
)
def test_of_a_truncated_answer_the_part_before_the_break_is_kept(text: str, kept: str) -> None:
    assert extract_code(text, ADD).code.rstrip() == kept


def test_a_cut_inside_of_what_is_kept_is_marked() -> None:
    assert extract_code("def add(xs):\n    total = 0\n    total +=", ADD).is_cut
    assert extract_code("    total = 0\n    return (", ADD).is_cut
    assert extract_code(f"{CODE}\n\nprint(add([1,", ADD).is_cut
    assert extract_code(f"```python\n{CODE}\n\nprint(add([1,", ADD).is_cut
    assert extract_code(f"<think>\n{CODE}", ADD).is_cut
    assert not extract_code(CODE, ADD).is_cut


@pytest.mark.parametrize("rest", ["print(add([1]))", "This adds.", "Note: it is short", ">>> add([1])\n1", "Done!"])
def test_text_after_complete_code_is_not_an_incomplete_end(rest: str) -> None:
    assert not extract_code(f"{CODE}\n\n{rest}", ADD).is_cut
    assert not extract_code(f"    return sum(xs)\n\n{rest}", ADD).is_cut


def test_several_fences_that_need_each_other_are_taken_together() -> None:
    text = "```python\ndef aid(x):\n    return x\n```\nand\n```python\ndef add(xs):\n    return aid(sum(xs))\n```"
    code = extract_code(text, ADD).code
    assert "def aid" in code
    assert "def add" in code


@pytest.mark.parametrize("text", ["", "I cannot help with that.", "\0", "x" * 300_000, "\ud800", "def add(xs"])
def test_a_text_without_code_is_given_back(text: str) -> None:
    assert extract_code(text, ADD).code == text
