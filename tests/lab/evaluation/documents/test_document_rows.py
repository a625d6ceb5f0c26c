"""Rows of the papers' sources become documents, and each other row a reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pkg.errors import InputError
from pkg.lab.evaluation.documents.document_rows import read_documents

JAVA, OLD, NEW = "int f() {}", "print 1", "print(1)"


def write_rows(path: Path, *rows: Any) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"intent": "a  b", "rewritten_intent": "a `b`", "snippet": "x\n"}, ("a `b`", "x")),
        ({"intent": "a\nb", "rewritten_intent": None, "snippet": "x"}, ("a b", "x")),
        ({"idx": "train-0", "doc": "a bool", "code": "f()", "label": 1}, ("a bool", "f()")),
        ({"docstring": "Do it.", "code": "def f(): pass", "language": "python"}, ("Do it.", "def f(): pass")),
        ({"description": "Sum", "solutions": {"language": [2, 1, 3], "solution": [JAVA, OLD, NEW]}}, ("Sum", NEW)),
        ({"description": "Sum", "solutions": [{"language": "PYTHON3", "solution": NEW}]}, ("Sum", NEW)),
    ],
)  # fmt: skip
def test_each_form_has_a_question_and_a_solution(
    row: dict[str, Any], expected: tuple[str, str], tmp_path: Path
) -> None:
    (document,) = read_documents([write_rows(tmp_path / "rows.jsonl", row)]).documents
    assert (document.place, document.question, document.solution) == ("rows.jsonl:1", *expected)


def test_other_rows_are_skipped_with_a_reason(tmp_path: Path) -> None:
    good = {"intent": "q", "snippet": "s"}
    bad: list[Any] = [
        {"doc": "q", "code": "c", "label": 0}, {"nl": "q", "code": "c", "language": "java"}, {"code": "c"},
        {"description": "q", "solutions": {"language": [1], "solution": [OLD]}}, {"intent": " ", "snippet": 3}, [1],
    ]  # fmt: skip
    (file,) = read_documents([write_rows(tmp_path / "rows.jsonl", *bad, good)]).files
    assert [each.place for each in file.documents] == ["rows.jsonl:7"]
    assert [str(each).partition(" (")[0][:30] for each in file.skipped] == [
        "line 1: label 0: the code does", "line 2: the language java; exp", "line 3: no question",
        "line 4: no solution in Python", "line 5: no question", "line 6: a JSON list; expected ",
    ]  # fmt: skip


def test_equal_documents_of_several_files_are_one_and_equal_file_names_stay_apart(tmp_path: Path) -> None:
    row = {"intent": "q", "snippet": "s"}
    (tmp_path / "a").mkdir()
    first, second = tmp_path / "rows.jsonl", tmp_path / "a" / "rows.jsonl"
    write_rows(first, row)
    write_rows(second, row, {"intent": "r", "snippet": "s"})
    found = read_documents([str(first), str(second)])
    assert [each.place for each in found.documents] == [f"{first}:1", f"{second}:2"]


def test_a_file_without_documents_names_its_first_fault(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no question with a solution \(line 1: no solution in Python"):
        read_documents([write_rows(tmp_path / "rows.jsonl", {"text": "q"})])
