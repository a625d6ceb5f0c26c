from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from pkg.errors import InputError, PathError
from pkg.lab.evaluation.retrieval.judged_questions import read_judged_questions, read_judgements

QUERIES = [{"_id": "q1", "text": "add two numbers"}, {"_id": "q2", "text": "read a file"}]
HEADER = "query-id\tcorpus-id\tscore\n"


def write(folder: Path, qrels: str, queries: str | None = None) -> tuple[str, str]:
    text = queries if queries is not None else "".join(json.dumps(row) + "\n" for row in QUERIES)
    (folder / "queries.jsonl").write_text(text, encoding="utf-8")
    (folder / "qrels.tsv").write_text(qrels, encoding="utf-8")
    return str(folder / "queries.jsonl"), str(folder / "qrels.tsv")


def test_questions_come_with_the_answers_that_are_worth_something(tmp_path: Path) -> None:
    found = read_judged_questions(*write(tmp_path, HEADER + "q1\ta\t2\nq1\tb\t0\nq2\tc\t1\n"))
    assert [(each.id, each.gold) for each in found.questions] == [("q1", {"a": 2.0}), ("q2", {"c": 1.0})]


def test_what_cannot_be_judged_is_counted_and_not_asked(tmp_path: Path) -> None:
    found = read_judged_questions(*write(tmp_path, HEADER + "q1\ta\t1\nq2\tc\t0\nq9\tc\t1\n"))
    assert ([each.id for each in found.questions], found.unjudged, found.unknown) == (["q1"], ("q2",), ("q9",))


def test_judgements_in_the_form_of_trec_and_packed_ones_are_read(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "qrels.gz", "wt", encoding="utf-8") as file:
        file.write("q1 0 a 1\nq1 0 b 3\n")
    assert read_judgements(str(tmp_path / "qrels.gz")) == {"q1": {"a": 1.0, "b": 3.0}}


@pytest.mark.parametrize(
    ("qrels", "queries", "message"),
    [
        pytest.param("", None, "no judgements in", id="an empty file of judgements"),
        pytest.param(HEADER + "q1\ta\n", None, "line 2: 'q1", id="a line of two columns"),
        pytest.param(HEADER + "q1\ta\tyes\n", None, "line 2: ", id="a score that is no number"),
        pytest.param(HEADER + "q1\ta\tnan\n", None, "line 2: ", id="a score that is not a number"),
        pytest.param(HEADER + "x\ta\t1\n", None, "seen: 'x', expected ids such as 'q1'", id="another benchmark"),
        pytest.param(HEADER + "q1\ta\t0\n", None, "above 0", id="nothing that is right"),
        pytest.param(HEADER + "q1\ta\t1\n", "", "no row|no questions", id="no questions"),
        pytest.param(HEADER + "q1\ta\t1\n", '{"_id": "q1", "text": "x y"}\nnot json\n', "line 2: not JSON", id="JSON"),
        pytest.param(HEADER + "q1\ta\t1\n", '{"_id": "q1"}\n', "line 1: no text in 'text'", id="no text"),
        pytest.param(
            HEADER + "q1\ta\t1\n", '{"_id": 1, "text": "x"}\n{"_id": 1, "text": "y"}\n', "line 2: a question of the id",
            id="an id twice",
        ),
    ],
)  # fmt: skip
def test_bad_files_are_refused_with_the_line(tmp_path: Path, qrels: str, queries: str | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_judged_questions(*write(tmp_path, qrels, queries))


@pytest.mark.parametrize("missing", ["queries.jsonl", "qrels.tsv"])
def test_a_missing_file_is_named(tmp_path: Path, missing: str) -> None:
    paths = write(tmp_path, HEADER + "q1\ta\t1\n")
    (tmp_path / missing).unlink()
    with pytest.raises(PathError, match=missing):
        read_judged_questions(*paths)
