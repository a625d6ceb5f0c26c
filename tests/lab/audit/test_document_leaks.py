"""Documents whose solution is that of a task are marked with the kind of leak."""

from __future__ import annotations

from pathlib import Path

from pkg.lab.audit.document_leaks import mark_documents
from pkg.lab.audit.leak_audit import read_solutions
from pkg.lab.evaluation.documents.document_rows import Document

SOLUTION = "def total_price(items, rate):\n    return sum(items) * rate\n"


def test_a_function_of_the_solution_leaks_a_task_and_a_snippet_does_not(tmp_path: Path) -> None:
    path = tmp_path / "tasks.py"
    path.write_text(SOLUTION)
    documents = [
        Document("a:1", "q", "import math\n\nclass Shop:\n    def add(these, by):\n        return sum(these) * by\n"),
        Document("a:2", "q", "sum(items) * rate"),
        Document("a:3", "q", "not (python"),
        Document("a:4", "q", "def total_price(a, b):\n    pass\n"),
    ]
    marks = mark_documents(documents, read_solutions(str(path), tmp_path))
    assert {place: [leak.kind for leak in leaks] for place, leaks in marks.items()} == {
        "a:1": ["same_code"], "a:4": ["same_name"],
    }  # fmt: skip
