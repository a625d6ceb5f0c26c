"""Samples of programs are parsed in the notations of judges and people; a description of the input is not a sample."""

from __future__ import annotations

import pytest

from pkg.rerank.candidates import RerankOptions
from pkg.rerank.case import make_case

READER = "a, b = map(int, input().split())\nprint(a + b)"


def read(query: str, *answers: str) -> list[tuple[str, object]]:
    case = make_case(query, (), RerankOptions(), None, answers=answers or (READER,))
    return [(each.source, each.expected) for each in case.examples]


@pytest.mark.parametrize(
    "query",
    [
        "Sample Input:\n1 2\nSample Output:\n3\n",
        "Input\n\nTwo numbers are given as A B.\n\nOutput\n\nPrint the sum.\n\n"
        "Sample Input 1\n\n1 2\n\nSample Output 1\n\n3\n",
        "-----Input-----\nThe line holds two numbers.\n\n-----Output-----\nPrint the sum.\n\n"
        "-----Examples-----\nInput\n1 2\n\nOutput\n3\n\n-----Note-----\nNothing.\n",
        "### Input\n```\n1 2\n```\n### Output\n```\n3\n```\n",
        "**Input:**\n1 2\n\n**Output:**\n3\n\nExplanation: one and two.\n",
        "Input: 1 2 -> Output: 3\n",
        "Input: 1 2\nOutput: 3\n",
        "stdin: 1 2\nstdout: 3\n",
        "Example 1:\nInput: `1 2`\nOutput: `3`\n",
    ],
    ids=range(9),
)
def test_a_sample_is_read(query: str) -> None:
    assert read(query) == [("1 2\n", "3")]


def test_several_samples_of_several_lines_are_read() -> None:
    query = "Sample Input 1:\n2\n5 6\nSample Output 1:\n5\n6\n\nSample Input 2:\n1\n7\nSample Output 2:\n7\n"
    assert read(query) == [("2\n5 6\n", "5\n6"), ("1\n7\n", "7")]


def test_answers_that_read_nothing_are_no_programs() -> None:
    assert read("Input: 1 2\nOutput: 3\n", "def add(a, b):\n    return a + b") == []


def test_a_named_function_stays_the_entry_point_if_an_answer_reads_input() -> None:
    query = "def add(a, b):\n    '''Input: a = 1, b = 2\n    Output: 3\n    '''\n"
    assert read(query, "def add(a, b):\n    return a + b\nprint(add(int(input()), 2))") == [("add(1, 2)", 3)]
