from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from pkg.errors import PathError, UsageError
from pkg.model import Skip
from pkg.rerank.candidates import Candidate, RerankOptions, Task
from pkg.rerank.tasks import make_item_key, read_done, skip_done

TASK = Task("q", (Candidate(0, "a"),), id="t")


def test_a_task_is_known_again_by_all_that_decides_its_ranking() -> None:
    options = RerankOptions()
    key = make_item_key(TASK, options, False)
    assert key == make_item_key(replace(TASK, extra={"x": 1}), replace(options, jobs=7), False)
    others = [
        make_item_key(replace(TASK, query="other"), options, False),
        make_item_key(replace(TASK, candidates=(Candidate(0, "b"),)), options, False),
        make_item_key(TASK, replace(options, seed=1), False),
        make_item_key(TASK, options, True),
        make_item_key(Skip("line 1", "no"), options, False),
    ]
    assert len({key, *others}) == 6


def test_an_incomplete_line_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text('{"key": "a"}\n{"key": "b"}\n{"key": "c", "cho')
    assert read_done(path) == Counter("ab")
    assert path.read_text() == '{"key": "a"}\n{"key": "b"}\n'


def test_without_a_file_nothing_is_done(tmp_path: Path) -> None:
    assert read_done(tmp_path / "none.jsonl") == Counter()


@pytest.mark.parametrize("line", ["nonsense", "{}", "[]", '{"key": 3}'])
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, line: str) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(line + "\nmore")
    with pytest.raises(UsageError, match="line 1 is not from pkg rerank"):
        read_done(path)
    assert path.read_text() == line + "\nmore"


def test_a_folder_is_no_output(tmp_path: Path) -> None:
    with pytest.raises(PathError, match="expected the output of an earlier run"):
        read_done(tmp_path)


def test_of_equal_tasks_as_many_are_left_as_were_not_done() -> None:
    keyed = [("a", TASK), ("a", TASK), ("b", TASK)]
    assert [key for key, _ in skip_done(keyed, Counter("a"))] == ["a", "b"]
