from __future__ import annotations

import json
from pathlib import Path

import pytest

from pkg.errors import InputError, PathError
from pkg.model import Skip
from pkg.rerank.candidates import Task
from pkg.rerank.tasks import read_oracle, read_tasks


def write(path: Path, *lines: object) -> str:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return str(path)


def test_a_line_is_a_task_with_all_its_fields(tmp_path: Path) -> None:
    line = {"task_id": "t", "query": "q", "candidates": ["a", {"id": "x", "text": "b"}], "language": "Python", "set": 3}
    (task,) = read_tasks(write(tmp_path / "t.jsonl", line))
    assert isinstance(task, Task)
    assert (task.id, task.query, task.extra) == ("t", "q", {"set": 3})
    assert [(each.id, each.text) for each in task.candidates] == [(0, "a"), ("x", "b")]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not JSON"),
        ({"candidates": ["a"]}, "no field query"),
        ({"query": 3, "candidates": ["a"]}, "no field query"),
        ({"query": "q"}, "no candidates"),
        ({"query": "q", "candidates": []}, "no candidates"),
        ({"query": "q", "candidates": "a"}, "no candidates"),
        ({"query": "q", "candidates": [{"code": "a"}]}, "candidate 0 has no text"),
        ({"query": "q", "candidates": ["a"], "examples": "f"}, "expected a list"),
        ({"query": "q", "candidates": ["a"], "language": "rust"}, "expected python"),
    ],
)
def test_a_bad_line_is_skipped_and_the_next_one_read(tmp_path: Path, line: object, reason: str) -> None:
    first, second = read_tasks(write(tmp_path / "t.jsonl", line, {"query": "q", "candidates": ["a"]}))
    assert isinstance(first, Skip)
    assert first.path == "line 1"
    assert reason in first.reason
    assert isinstance(second, Task)


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PathError, match="expected a corpus file"):
        list(read_tasks(str(tmp_path / "none.jsonl")))


def test_hidden_tests_are_read_by_task(tmp_path: Path) -> None:
    path = write(tmp_path / "o.jsonl", {"task_id": "t", "tests": ["assert f()"]}, {"id": 3, "tests": "assert g()"})
    assert read_oracle(path) == {"t": ["assert f()"], 3: "assert g()"}


@pytest.mark.parametrize("line", ["{", {"id": "t"}, {"tests": []}])
def test_a_line_without_tests_is_an_error(tmp_path: Path, line: object) -> None:
    with pytest.raises(InputError, match="line 1"):
        read_oracle(write(tmp_path / "o.jsonl", line))
