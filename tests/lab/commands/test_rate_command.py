"""`pkg rate` without its page: what it refuses, what it leaves out, and what it sums up."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pkg.cli import main
from pkg.errors import name_install

PAIRS = [{"id": f"p{n}", "question": f"q{n}", "answer": f"a{n}"} for n in range(3)]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    write_lines(tmp_path / "rows.jsonl", PAIRS)
    return tmp_path


def write_lines(path: Path, rows: list[Any]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def rate(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["rate", "../rows.jsonl", *arguments])


def make_ratings() -> Iterator[dict[str, Any]]:
    for number, value in enumerate((1, 4, 9)):
        ratings = {"question": value, "answer": value}
        yield {"id": f"p{number}", "rater": "ana", "kind": "pair", "ratings": ratings, "when": "now", "seconds": 60}


def test_the_summary_is_json_lines_in_a_pipe() -> None:
    write_lines(Path("rows.ratings.jsonl"), list(make_ratings()))
    result = rate("--summary")
    assert result.exit_code == 0
    head, *pairs = map(json.loads, result.stdout.splitlines())
    assert head["decisions"] == {"drop": 1, "curate": 1, "keep": 1}
    assert [(pair["id"], pair["decision"]) for pair in pairs] == [("p0", "drop"), ("p1", "curate"), ("p2", "keep")]


def test_the_summary_is_a_view_for_a_person() -> None:
    write_lines(Path("rows.ratings.jsonl"), list(make_ratings()))
    shown = rate("--summary", "--no-json").stdout
    assert "3 ratings in rows.ratings.jsonl, 3.0 minutes" in shown
    assert "pairs: curate 1, drop 1, keep 1; means: answer 4.67, question 4.67" in shown


def test_when_all_is_rated_it_ends_at_once() -> None:
    write_lines(Path("rows.ratings.jsonl"), list(make_ratings()))
    result = rate("--rater", "ana")
    assert (result.exit_code, result.stderr) == (
        0,
        "pkg: all is rated; --stay serves the page nevertheless, to change ratings\n",
    )
    assert json.loads(result.stdout.splitlines()[0])["ratings"] == 3


def test_bad_rows_are_named_and_the_rest_counted(folder: Path) -> None:
    (folder / "rows.jsonl").write_text("x\n" * 7 + json.dumps(PAIRS[0]) + "\n")
    Path("rows.ratings.jsonl").write_text("broken\n")
    told = rate("--summary").stderr.splitlines()
    assert told[0].startswith("pkg: left out line 1: invalid JSON")
    assert told[5] == "pkg: left out 2 more rows of rows.jsonl"
    assert told[6].startswith("pkg: not read: rows.ratings.jsonl, line 1: ")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--overlap", "2"), 2, "--overlap shares work among known raters"),
        (("--raters", "2", "--overlap", "3"), 2, "an overlap of 3 with 2 raters"),
        (("--raters", "2", "--rater", "ana"), 2, "give one of both"),
        (("--rater", "ana", "--rater", " ana "), 2, "--rater twice with one name"),
        (("--rater", "\x1b[31m"), 1, "expected 1 to 100 letters"),
        (("--output", "../rows.jsonl"), 2, "is the rated file"),
        (("--output", "none/out.jsonl"), 1, "expected a file in a folder that exists"),
        (("--mode", "grade"), 1, "no answers of systems"),
        (("--mode", "pairwise"), 1, "answers of 0 systems"),
        (("--host", "0.0.0.0"), 2, "means every address"),
        (("--judgements", "judged.jsonl"), 2, "--judgements is for the page of --html"),
    ],
)
def test_what_cannot_be_is_refused(arguments: tuple[str, ...], code: int, message: str) -> None:
    result = rate(*arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr


def test_a_port_in_use_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = rate("--port", str(taken.getsockname()[1]))
    assert (result.exit_code, result.stdout) == (1, "")
    assert "is in use; give another with --port" in result.stderr


def test_without_the_extra_the_command_that_installs_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    result = rate()
    assert result.exit_code == 1
    assert name_install("service") in result.stderr
    assert rate("--summary").exit_code == 0


def test_a_page_shows_the_answers_with_what_people_and_judges_said(folder: Path) -> None:
    answers = {"graph": "In retry.", "chunks": "Nowhere."}
    write_lines(folder / "rows.jsonl", [{"id": "q1", "question": "Where?", "answers": answers}])
    row = {"id": "q1", "rater": "ana", "kind": "pairwise", "systems": ["chunks", "graph"]}
    write_lines(Path("rows.ratings.jsonl"), [{**row, "verdict": "A"}, {**row, "verdict": "B", "comment": "After all."}])
    judged = {"kind": "pairwise", "id": "q1", "systems": ["graph", "chunks"], "judge": "coder", "verdict": "A"}
    write_lines(Path("judged.jsonl"), [{**judged, "text": "It names the place."}])
    assert rate("--summary", "--html", "page.html", "--judgements", "judged.jsonl").exit_code == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert [text for text in ("Where?", "Nowhere.", "After all.", "It names the place.") if text not in page] == []
    assert page.count("<td>ana</td>") + page.count('<th scope="row">ana</th>') == 1  # the last rating alone
    refused = rate("--summary", "--html", "none/page.html")
    assert refused.exit_code == 1
    assert "expected a file in a folder that exists" in refused.stderr
