"""Snippets and chunks of real files have exact lines, and metadata of the definitions that start in them."""

from __future__ import annotations

import ast
from itertools import pairwise
from pathlib import Path

import pytest

from pkg.lab.datasets.dataset_rows import Row, StepCounts
from pkg.lab.datasets.file_pieces import RepositoryText, write_chunks, write_snippets

ROOT = Path(__file__).resolve().parents[3]
FILES = ("pkg/model.py", "pkg/errors.py", "pkg/retrieval/deps/answer.py", "pkg/console/streams.py")


def read(path: str) -> RepositoryText:
    return RepositoryText("project", None, path, (ROOT / path).read_text(encoding="utf-8"))


def cut_lines(path: str, row: Row) -> str:
    lines = (ROOT / path).read_text(encoding="utf-8").split("\n")
    return "\n".join(lines[row["meta_data"]["start_line"] - 1 : row["meta_data"]["end_line"]])


@pytest.mark.parametrize("path", FILES)
def test_each_snippet_consists_of_whole_lines(path: str) -> None:
    counts = StepCounts("snippets")
    rows = list(write_snippets([read(path)], 2000, counts))
    assert len(rows) > 2
    for row in rows:
        assert len(row["content"]) <= 2000
        assert row["content"] == cut_lines(path, row).rstrip()
        assert row["meta_data"]["end_line"] > row["meta_data"]["start_line"]
        assert (row["path"], row["meta_data"]["file_name"]) == (path, path.rpartition("/")[2])
    assert all(a["meta_data"]["end_line"] < b["meta_data"]["start_line"] for a, b in pairwise(rows))
    assert len(rows) + counts.dropped["a single line"] == counts.taken


@pytest.mark.parametrize("path", FILES)
def test_each_chunk_has_the_definitions_that_start_in_it(path: str) -> None:
    text = read(path)
    tree = ast.parse(text.text)
    kinds = {"contains_class": (ast.ClassDef,), "contains_function": (ast.FunctionDef, ast.AsyncFunctionDef)}
    imports = [each for each in ast.walk(tree) if isinstance(each, ast.Import | ast.ImportFrom)]
    for row in write_chunks([text], 1500, 200, StepCounts("chunks")):
        meta = row["meta_data"]
        for name, kind in kinds.items():
            lines = [
                min([each.lineno, *(other.lineno for other in each.decorator_list)])
                for each in ast.walk(tree)
                if isinstance(each, kind) and hasattr(each, "decorator_list")
            ]
            assert meta[name] == any(meta["start_line"] <= line <= meta["end_line"] for line in lines), row
        assert len(meta["file_imports"]) == len(imports)
        assert "from __future__ import annotations" in meta["file_imports"]
        assert row["content"] in text.text


def test_chunks_of_a_text_file_contain_no_definitions() -> None:
    (row,) = write_chunks(
        [RepositoryText("p", "abc", "README.md", "# P\n\nclass X:\n")], 1500, 200, StepCounts("chunks")
    )
    meta = row["meta_data"]
    assert (meta["contains_class"], meta["contains_function"], meta["file_imports"]) == (False, False, [])
    assert (meta["module"], row["revision"]) == ("p", "abc")


def test_ids_depend_only_on_the_content() -> None:
    one, two = (list(write_snippets([read(FILES[0])], 2000, StepCounts("s"))) for _ in range(2))
    assert one == two
    assert len({row["id"] for row in one}) == len(one)
    (moved,) = write_snippets([RepositoryText("p", None, "a.py", "x = 1\ny = 2\n")], 2000, StepCounts("s"))
    (changed,) = write_snippets([RepositoryText("p", None, "a.py", "x = 1\ny = 3\n")], 2000, StepCounts("s"))
    assert moved["id"] != changed["id"]


def test_a_snippet_of_one_line_is_dropped_and_counted() -> None:
    counts = StepCounts("snippets")
    assert list(write_snippets([RepositoryText("p", None, "a.py", "x = 1\n")], 2000, counts)) == []
    assert counts.dropped == {"a single line": 1}
