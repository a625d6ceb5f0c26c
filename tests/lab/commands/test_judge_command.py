"""`pkg judge` as a person or a program meets it: rows in, judgements and a summary out, and nothing lost by a kill."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from pages import read_blocks, split_transcript
from scripted_model import ScriptedModel

from pkg.cli import main
from pkg.lab.judge import judging

ROWS: list[dict[str, Any]] = [
    {"id": "1", "question": "What does it do?", "reference": "It adds two numbers.", "type": "syntax",
     "answers": {"plain": "It multiplies.", "graph": "It adds two numbers."}},
    {"id": "2", "question": "What licence?", "reference": "The MIT licence.", "type": "meta",
     "answers": {"plain": "The MIT licence.", "graph": "I do not know."}},
    {"id": "3", "question": "Write add.", "reference": "def add(a, b):\n    return a + b", "type": "syntax",
     "answers": {"plain": "def add(a, b):\n    return a - b", "graph": "def add(a, b):\n    return a + b"},
     "tests": ["assert add(1, 2) == 3"]},
]  # fmt: skip
MODEL = ("--model", "gguf:scripted.gguf")


def write(path: Path, *rows: object) -> str:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return str(path)


def run(*words: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, ["judge", *words], input=stdin)


def read(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def answers(tmp_path: Path) -> str:
    return write(tmp_path / "answers.jsonl", *ROWS)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    model = ScriptedModel(["[[A]]"], name="gguf:scripted.gguf")
    monkeypatch.setattr(judging, "open_model", lambda name: model)
    return model


def test_without_a_model_it_counts_and_the_summary_has_the_outcomes_by_kind(answers: str) -> None:
    *judgements, summary = read(run("pairwise", answers, "--baseline", "plain"))
    assert [each["type"] for each in judgements] == ["judgement"] * 6
    assert (summary["type"], summary["judge"], summary["judge_check"]) == (
        "summary", "overlap", "not checked; --check measures it"
    )  # fmt: skip
    shares = {each["type"]: each["outcomes"]["ours"]["mean"] for each in summary["pairs"]}
    assert shares == {"meta": 0.0, "syntax": 100.0, "overall": pytest.approx(200 / 3)}


def test_a_person_sees_tables_and_is_told_who_judged(answers: str) -> None:
    result = run("grade", answers, "--baseline", "plain", "--no-json")
    assert result.exit_code == 0
    assert "win" in result.stdout
    assert "judged by overlap: not checked" in result.stderr


def test_bad_rows_are_named_and_stop_nothing(tmp_path: Path) -> None:
    file = write(tmp_path / "a.jsonl", "{", ROWS[0], {"id": "5", "question": "Q", "answers": {"plain": "x"}})
    result = run("pairwise", file)
    assert len(read(result)) == 3
    assert "left out 1 row of" in result.stderr
    assert "line 1: Expecting property name" in result.stderr
    assert "left out 1 row: 5: 1 answers; expected 2 or more" in result.stderr


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("pairwise", "missing.jsonl"), 1, "cannot read missing.jsonl"),
        (("pairwise", "{empty}"), 1, "no row of"),
        (("correctness", "{untested}"), 1, "no tests"),
        (("pairwise", "{answers}", "--human", "x.jsonl"), 2, "add --check"),
        (("pairwise", "{answers}", "--baseline", "unknown"), 1, "no answer of the baseline 'unknown'"),
        (("grade", "{answers}", "--preference", "speed"), 2, "no preference 'speed'"),
        (("pairwise", "{answers}", "--check", "--human", "{empty}"), 1, "no ratings in"),
        (("report", "{empty}"), 1, "no judgements in"),
        (("report", "{answers}"), 1, "line 1: no judgement in"),
        (("pairwise", "{answers}", "--model", "strange"), 2, "no model 'strange'"),
    ],
)
def test_what_cannot_be_done_is_said(
    words: tuple[str, ...], code: int, message: str, answers: str, tmp_path: Path
) -> None:
    places = {"answers": answers, "empty": write(tmp_path / "empty.jsonl", ""),
              "untested": write(tmp_path / "untested.jsonl", ROWS[0])}  # fmt: skip
    result = run(*(word.format(**places) for word in words))
    assert (result.exit_code, message in result.stderr) == (code, True), result.stderr


def test_an_estimate_judges_nothing(answers: str, model: ScriptedModel) -> None:
    (line,) = read(run("pairwise", answers, *MODEL, "--estimate", "--price", "1000000/0"))
    assert (line["type"], line["tasks"], line["known"]) == ("estimate", 6, 0)
    assert line["cost"] == line["prompt_tokens"] > 0
    assert model.asked == []


def test_a_check_is_kept_beside_the_judgements_and_stands_beside_every_later_summary(
    answers: str, model: ScriptedModel, tmp_path: Path
) -> None:
    out = str(tmp_path / "judged.jsonl")
    *_, check, summary = read(run("pairwise", answers, *MODEL, "--out", out, "--check"))
    assert (check["type"], check["flip_rate"], check["first_share"]) == ("check", 1.0, 1.0)
    assert "100% of winners change with the order" in summary["judge_check"]
    asked = len(model.asked)
    later = run("pairwise", answers, *MODEL, "--out", out)
    assert "100% of winners change" in later.stderr
    assert len(model.asked) == asked
    (reported,) = read(run("report", out))
    assert reported["judge_check"] == summary["judge_check"]
    assert reported["judgements"] == 12  # of both runs, without the planted ones


def test_people_are_compared_with_the_judge(answers: str, tmp_path: Path) -> None:
    ratings = [
        {"id": row["id"], "rater": "ann", "kind": "pairwise", "verdict": verdict, "systems": ["plain", "graph"]}
        for row, verdict in zip(ROWS, "BAB", strict=True)
    ]
    human = write(tmp_path / "human.jsonl", *ratings, {"id": "1"}, ratings[0] | {"id": "other"})
    result = run("pairwise", answers, "--check", "--human", human)
    check = read(result)[-2]
    assert [(each["one"], each["other"], each["kappa"]) for each in check["human"]["pairs"]] == [
        ("overlap", "ann", 1.0)
    ]
    assert check["human"]["strangers"] == 1
    assert "left out 1 rating of" in result.stderr


def test_unread_ratings_are_left_out_or_count_nothing(answers: str, model: ScriptedModel, tmp_path: Path) -> None:
    model.answers = ["Rating: 8", "Rating: 11"] * 3
    out = str(tmp_path / "judged.jsonl")
    *_, summary = read(run("grade", answers, *MODEL, "--out", out))
    graph, plain = summary["systems"]
    assert [(each["system"], each["mean"], each["ratings"], each["unread"]) for each in (graph, plain)] == [
        ("graph", None, 0, 3), ("plain", 8.0, 3, 0)
    ]  # fmt: skip
    assert summary["oddities"] == {"outside of the scale": 3}
    (counted,) = read(run("report", out, "--unparsed-as-zero", "--baseline", "plain"))
    assert (counted["systems"][0]["mean"], counted["systems"][0]["scores"]["0"]) == (0.0, 3)
    assert counted["systems"][0]["wins"] == {"win": 0, "tie": 0, "lose": 3}


def test_annotations_are_written_as_records(answers: str, model: ScriptedModel, tmp_path: Path) -> None:
    model.answers = ["#### Output for Response 1\nRating: 2\nRationale: Thin.\n#### Output for Response 2\nRating: 5"]
    records = tmp_path / "records.jsonl"
    read(run("annotate", answers, *MODEL, "--preference", "style", "--records", str(records)))
    first = json.loads(records.read_text().splitlines()[0])
    assert (first["instruction"], first["preference"]) == ("What does it do?", "style")
    assert first["models"] == ["plain", "graph"]
    assert first["annotations"] == [
        {"model": "plain", "rating": 2, "rationale": "Thin."}, {"model": "graph", "rating": 5, "rationale": ""}
    ]  # fmt: skip


def test_rows_come_through_a_pipe() -> None:
    lines = read(run("grade", "-", stdin="\ufeff" + json.dumps(ROWS[0]) + "\n"))
    assert [each["ratings"] for each in lines[:-1]] == [[1], [10]]


def test_the_page_shows_what_the_command_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (rows,), (block,) = read_blocks("docs/judge.md", "json"), read_blocks("docs/judge.md", "console")
    (tmp_path / "answers.jsonl").write_text(rows)
    ((command, output),) = split_transcript(block)
    result = CliRunner().invoke(main, shlex.split(command)[1:], env={"COLUMNS": "100"})
    assert [line.rstrip() for line in result.stdout.splitlines()] == output.splitlines()


KILLED = """
import os, signal, sys
from scripted_model import ScriptedModel
from pkg.cli import main
from pkg.lab.judge import judging

def answer(asked):
    if len(model.asked) == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    return "[[B]]"

model = ScriptedModel(answer, name="gguf:scripted.gguf")
judging.open_model = lambda name: model
main(["judge", "pairwise", *sys.argv[1:]])
"""


def test_a_killed_process_loses_nothing_that_was_judged(answers: str, model: ScriptedModel, tmp_path: Path) -> None:
    out = tmp_path / "judged.jsonl"
    done = subprocess.run([sys.executable, "-c", KILLED, answers, *MODEL, "--out", str(out)], env=_environment())
    assert done.returncode == -signal.SIGKILL
    assert [json.loads(line)["verdict"] for line in out.read_text().splitlines()] == ["B"] * 3
    lines = read(run("pairwise", answers, *MODEL, "--out", str(out)))
    assert [each["verdict"] for each in lines[:-1]] == ["B", "B", "B", "A", "A", "A"]
    assert len(model.asked) == 3


def _environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
