"""`pkg rerank` on a terminal and in a pipe, with the real sandbox."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from pkg.cli import main
from pkg.commands.rerank import make_options, view_outcome
from pkg.errors import UsageError
from pkg.rerank.candidates import PAPER_STAGES
from pkg.rerank.reranker import Reranker

ADD = {
    "id": "add",
    "query": 'def add(xs):\n    """Add.\n\n    >>> add([1, 2])\n    3\n    """\n',
    "candidates": ["return xs[0]", {"id": "b", "text": "return sum(xs)", "model": "m"}, "def add(xs"],
    "set": "x",
}
DOUBLE = {"query": "double(2) returns 4, double(3) returns 6", "candidates": ["def double(n):\n    return n * 2"]}
NOTHING = {"query": "q", "candidates": []}


def write(path: Path, *rows: object) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def run(*arguments: str, given: str | None = None) -> Result:
    return CliRunner().invoke(main, ["rerank", *arguments], input=given)


def read(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def drop_seconds(text: str) -> str:
    lines = read(text)
    for line in lines:
        for candidate in line.get("candidates", ()):
            for stage in candidate["stages"]:
                del stage["seconds"]
    return json.dumps(lines)


def test_each_input_line_gives_an_output_line(tmp_path: Path) -> None:
    result = run(write(tmp_path / "t.jsonl", ADD, NOTHING, DOUBLE))
    assert result.exit_code == 0
    first, second, third = read(result.stdout)
    assert (first["type"], first["id"], first["set"], first["chosen"]) == ("ranking", "add", "x", "b")
    assert first["order"] == ["b", 0, 2]
    assert [each.get("model") for each in first["candidates"]] == [None, "m", None]
    assert (second["type"], second["path"]) == ("skip", "line 2")
    assert third["chosen"] == 0
    assert "1 of 3 tasks left out; line 2: no candidates" in result.stderr


def test_standard_input_is_read(tmp_path: Path) -> None:
    result = run("-", given=json.dumps(DOUBLE) + "\n")
    assert read(result.stdout)[0]["examples"] == ["double(2) == 4", "double(3) == 6"]


def test_the_number_of_jobs_changes_nothing_but_the_seconds(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", *[ADD, DOUBLE] * 4)
    assert drop_seconds(run(path, "--jobs", "1").stdout) == drop_seconds(run(path, "--jobs", "3").stdout)


def test_an_interrupted_run_is_resumed(tmp_path: Path) -> None:
    path, whole, part = write(tmp_path / "t.jsonl", ADD, NOTHING, DOUBLE), tmp_path / "w.jsonl", tmp_path / "p.jsonl"
    assert run(path, "--resume", str(whole)).exit_code == 0
    lines = whole.read_text().splitlines(keepends=True)
    part.write_text(lines[0] + lines[1][:20])
    result = run(path, "--resume", str(part))
    assert (result.exit_code, result.stdout) == (0, "")
    assert drop_seconds(part.read_text()) == drop_seconds(whole.read_text())
    before = part.read_bytes()
    assert run(path, "--resume", str(part)).exit_code == 0
    assert part.read_bytes() == before


def test_hidden_tests_are_marked_in_every_line(tmp_path: Path) -> None:
    oracle = write(tmp_path / "o.jsonl", {"id": "add", "tests": ["assert add([5]) == 5", "assert add([1, 1]) == 2"]})
    line, skip = read(run(write(tmp_path / "t.jsonl", ADD, DOUBLE), "--oracle-tests", oracle).stdout)
    assert (line["mode"], line["chosen"], skip["mode"]) == ("ORACLE", "b", "ORACLE")
    assert "the oracle has no tests" in skip["reason"]


def test_a_run_without_a_rankable_task_fails(tmp_path: Path) -> None:
    result = run(write(tmp_path / "t.jsonl", NOTHING))
    assert result.exit_code == 1
    assert "none of 1 tasks can be ranked; the first: line 1: no candidates" in result.stderr
    assert "no tasks; expected JSON lines" in run("-", given="").stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--without", "nothing"], "no stage 'nothing'"),
        (["--stages", "syntax,nothing"], "no stage 'nothing'"),
        (["--weights", "syntax"], "no weight in 'syntax'"),
        (["--paper", "--without", "smoke"], "--paper chooses the stages itself"),
    ],
)
def test_wrong_use_is_reported(tmp_path: Path, arguments: list[str], message: str) -> None:
    result = run(write(tmp_path / "t.jsonl", ADD), *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_files_of_answers_are_candidates(tmp_path: Path) -> None:
    for name, sign in (("a.py", "-"), ("b.py", "+"), ("c.py", "+")):
        (tmp_path / name).write_text(f"def add(a, b):\n    return a {sign} b\n")
    files = [str(tmp_path / name) for name in ("a.py", "b.py", "c.py")]
    (line,) = read(run(*files, "--query", "add(1, 2) returns 3").stdout)
    assert line["chosen"] == files[1]
    why = {each["id"]: each["why"] for each in line["candidates"]}
    assert why[files[0]].startswith("0 of 1 hold; add(1, 2) == 3: got -1")
    assert why[files[1]].startswith("1 of 1 hold")
    assert why[files[2]] == f"the same as {files[1]}"
    (line,) = read(run(*files, "--query", "-", given="add(1, 2) returns -1").stdout)
    assert line["chosen"] == files[0]


def test_files_of_answers_and_of_tasks_are_not_mixed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def add(a, b):\n    return a + b\n")
    tasks = write(tmp_path / "t.jsonl", ADD)
    mixed, asked = run(str(tmp_path / "a.py"), tasks), run(tasks, "--query", "add")
    assert (mixed.exit_code, asked.exit_code) == (2, 2)
    assert "is a file of tasks" in mixed.stderr
    assert "--query is for files that each hold one answer" in asked.stderr


def test_a_file_without_tasks_is_reported(tmp_path: Path) -> None:
    assert "expected files that each hold one answer" in run(str(tmp_path / "t.txt")).stderr
    assert "cannot read" in run(str(tmp_path / "none.jsonl")).stderr
    missing = run(write(tmp_path / "t.jsonl", ADD), "--resume", str(tmp_path / "no" / "out.jsonl"))
    assert "cannot write" in missing.stderr


def test_stages_are_chosen_and_left_out() -> None:
    given: dict[str, Any] = {"stages": None, "without": (), "paper": False, "weights": None, "inputs": None}
    assert make_options(given | {"stages": ("syntax", "smoke"), "without": ("smoke",)}).stages == ("syntax",)
    assert make_options(given | {"paper": True}).stages == PAPER_STAGES
    assert make_options(given | {"weights": "examples=1, similarity=.5"}).weights == {
        "examples": 1.0,
        "similarity": 0.5,
    }
    with pytest.raises(UsageError, match="no weight"):
        make_options(given | {"weights": "examples=much"})


def test_the_table_cannot_control_the_terminal() -> None:
    with Reranker() as reranker:
        candidates = [
            "def f(x):\n    return '\x1b[31m'",
            "def f(x):\n    return 4",
            "def f(x",
            "def f(x):\n    return 4 ",
        ]
        ranking = reranker.rerank("f(2) returns 4\x1b[0m", candidates)
    output = io.StringIO()
    console = Console(file=output, width=140)
    for part in view_outcome(ranking):
        console.print(part)
    shown = output.getvalue()
    assert "chosen: candidate 1" in shown
    assert "the same as 1" in shown
    assert "dropped by syntax" in shown
    assert "0 of 1 hold; f(2) == 4: got" in shown
    assert "\x1b[31m" not in shown
