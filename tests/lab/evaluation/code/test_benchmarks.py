from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from pkg.errors import InputError, PathError, UsageError
from pkg.lab.evaluation.code.benchmarks import BENCHMARKS, Benchmark, draw_items, read_benchmark
from pkg.lab.evaluation.code.hidden_tests import LIMITS, HiddenTests, Score, score_all
from pkg.sandbox.worker_pool import open_sandbox

HUMANEVAL = {
    "task_id": "HumanEval/0",
    "prompt": 'def add(a, b):\n    """Add.\n\n    >>> add(1, 2)\n    3\n    """\n',
    "entry_point": "add",
    "canonical_solution": "    return a + b\n",
    "test": "def check(candidate):\n    assert candidate(2, 3) == 5\n",
}
MBPP = {
    "task_id": 367,
    "text": "Write a function to find the root.",
    "code": "class Node:\r\n    pass\r\n\r\ndef find(node):\r\n    return node.data\r\n",
    "test_list": ["assert find(made) == 4", "assert find(other) == 5"],
    "test_setup_code": "made, other = Node(), Node()\r\nmade.data = 4\r\nother.data = 5",
}
PLUS = HUMANEVAL | {"base_input": [[1, 2]], "plus_input": [[0.1, 0.2], [[1], [2]]], "atol": 0}


def write_rows(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    return path


def score(benchmark: Benchmark, *codes: str) -> list[Score]:
    with open_sandbox() as sandbox:
        return list(score_all(HiddenTests(sandbox, LIMITS), ((code, benchmark.items[0]) for code in codes)))


def test_an_item_of_humaneval_asks_with_its_prompt_and_is_judged_by_its_check(tmp_path: Path) -> None:
    found = read_benchmark("humaneval", write_rows(tmp_path / "HumanEval.jsonl.gz", HUMANEVAL), is_any=True)
    (item,) = found.items
    assert (item.id, item.query, item.task, item.entry) == (
        "HumanEval/0",
        HUMANEVAL["prompt"],
        HUMANEVAL["prompt"],
        "add",
    )
    scores = score(found, item.reference, "def add(a, b):\n    return a - b", "def sub(a, b): pass", "def add(")
    assert [(each.passed, each.error) for each in scores] == [
        (True, ""), (False, "AssertionError"), (False, "NameError"), (False, "SyntaxError"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("shown", "task"),
    [
        (0, "Write a function to find the root.\nThe function is called `find`."),
        (1, "Write a function to find the root.\nassert find(made) == 4"),
        (3, "Write a function to find the root.\nassert find(made) == 4\nassert find(other) == 5"),
    ],
)
def test_an_item_of_mbpp_is_searched_for_by_its_text_alone_and_shows_some_tests(
    tmp_path: Path, shown: int, task: str
) -> None:
    found = read_benchmark("mbpp", write_rows(tmp_path / "mbpp.jsonl", MBPP), shown, is_any=True)
    assert (found.items[0].query, found.items[0].task) == ("Write a function to find the root.", task)
    assert [each.passed for each in score(found, found.items[0].reference)] == [True]  # its setup runs after the answer


def test_rows_outside_of_the_test_split_of_mbpp_are_left_out(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "mbpp.jsonl", MBPP, MBPP | {"task_id": 10}, MBPP | {"task_id": 511})
    assert [item.id for item in read_benchmark("mbpp", path, is_any=True).items] == ["MBPP/367"]


def test_the_tests_of_evalplus_compare_with_the_reference_on_all_inputs(tmp_path: Path) -> None:
    found = read_benchmark("humaneval+", write_rows(tmp_path / "HumanEvalPlus.jsonl.gz", PLUS), is_any=True)
    near = "def add(a, b):\n    return b + a if isinstance(a, list) is False else a + b"
    wrong = "def add(a, b):\n    return a + b if isinstance(a, int) else 0"
    assert [each.passed for each in score(found, found.items[0].reference, near, wrong)] == [True, True, False]


def test_rows_that_are_not_the_official_ones_are_refused_with_both_hashes(tmp_path: Path) -> None:
    path = write_rows(tmp_path / "mbpp.jsonl", MBPP)
    with pytest.raises(
        InputError, match=rf"1 rows of SHA-256 \w{{64}}; expected {BENCHMARKS['mbpp'].sha256}.*--any-data"
    ):
        read_benchmark("mbpp", path)


def test_what_is_no_benchmark_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no benchmark 'apps'; expected one of: humaneval"):
        read_benchmark("apps", tmp_path)
    with pytest.raises(PathError, match=r"no file of the benchmark in .*HumanEval.jsonl.gz"):
        read_benchmark("humaneval", tmp_path)
    (tmp_path / "HumanEval.jsonl").write_text('{"task_id": 1}\nnothing\n')
    with pytest.raises(InputError, match="line 2"):
        read_benchmark("humaneval", tmp_path)
    (tmp_path / "HumanEval.jsonl").write_text('{"task_id": 1}\n')
    with pytest.raises(InputError, match=r"a row of .* is none of humaneval: KeyError"):
        read_benchmark("humaneval", tmp_path, is_any=True)


def test_a_smaller_draw_is_a_part_of_a_larger_one(tmp_path: Path) -> None:
    rows = [HUMANEVAL | {"task_id": f"HumanEval/{number}"} for number in range(20)]
    found = read_benchmark("humaneval", write_rows(tmp_path / "HumanEval.jsonl", *rows), is_any=True)
    few, more = ({item.id for item in draw_items(found, count, 3).items} for count in (5, 9))
    assert few < more
    assert few != {item.id for item in draw_items(found, 5, 4).items}
    assert draw_items(found, 99, 3) is found
