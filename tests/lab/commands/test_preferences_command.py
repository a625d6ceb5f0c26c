"""`pkg eval preferences`: answers are kept as they arrive, and graded with references by preference."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from scripted_model import Asked, ScriptedModel

from pkg.cli import main
from pkg.errors import ModelError
from pkg.lab.judge import judging
from pkg.models import registry

PREFERENCES = ("style", "readability")
BASE, TUNED, JUDGE = "gguf:/models/base.gguf", "hf:/models/base+/models/tuned", "gguf:/models/judge.gguf"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [{"id": str(n), "instruction": f"Write function {n}.", "preference": PREFERENCES[n % 2]} for n in range(8)]
    (tmp_path / "bench.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    told = [
        {**row, "reference": f"def f{n}(): ...", "reference_model": "gguf:large.gguf"} for n, row in enumerate(rows)
    ]
    (tmp_path / "references.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in told[:6]))
    return tmp_path


def grade(asked: Asked) -> str:
    """Grade the tuned model 8, and the base 3; the reference must be shown."""
    text = asked[-2].content if asked[-1].role == "assistant" else asked[-1].content
    assert "def f" in text
    return f"Rationale: as the reference.\nRating: {8 if 'tuned says' in text else 3}"


def use_models(monkeypatch: pytest.MonkeyPatch, identity: str = "1") -> dict[str, ScriptedModel]:
    opened: dict[str, ScriptedModel] = {}

    def open_model(name: str) -> ScriptedModel:
        said = "tuned says so" if "tuned" in name else "base says so"
        answers: Any = grade if "judge" in name else [said]
        return opened.setdefault(name, ScriptedModel(answers, name=name, identity=name + identity))

    monkeypatch.setattr(registry, "open_model", open_model)
    monkeypatch.setattr(judging, "open_model", open_model)
    monkeypatch.setattr(judging, "check_ready", registry.split_name)
    return opened


def run(*words: str, models: tuple[str, ...] = (BASE, TUNED), judge: str = JUDGE) -> Result:
    named = [word for model in models for word in ("--model", model)]
    given = ["eval", "preferences", "bench.jsonl", *named, "--judge", judge, "--references", "references.jsonl"]
    return CliRunner().invoke(main, [*given, "--out", "run", *words])


def read(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_models_are_graded_by_preference_and_compared_with_the_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = use_models(monkeypatch)
    done = run("--html", "page.html", "--figures", "figures")
    assert "not graded: 2 rows of bench.jsonl without a reference" in done.stderr
    base, tuned, summary = read(done)
    assert (base["system"], base["average"], base["wins"]) == ("base", 3, None)
    assert (tuned["means"], tuned["average"]) == ({"readability": 8, "style": 8}, 8)
    assert tuned["wins"] == {"win": 6, "tie": 0, "lose": 0}
    assert (tuned["references"], tuned["rows"], summary["type"]) == ("large", 6, "summary")
    page = (folder / "page.html").read_text()
    assert "paper, CodeLlama-7B, SFT and DPO" in page
    assert "judge / large" in page
    assert sorted(path.stem for path in (folder / "figures").glob("*.svg")) == [
        "preferences-grades", "preferences-wins"
    ]  # fmt: skip

    asked = {name: len(model.asked) for name, model in opened.items()}
    assert read(run()) == [base, tuned, summary]
    assert {name: len(model.asked) for name, model in opened.items()} == asked


def test_a_killed_run_loses_nothing_and_a_model_can_be_added(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = use_models(monkeypatch)
    read(run(models=(BASE,)))
    kept = folder / "run" / "answers.jsonl"
    kept.write_text(kept.read_text()[:-20])  # killed while the last answer was written
    read(run())
    assert (len(opened[BASE].asked), len(opened[TUNED].asked)) == (8, 8)  # the last one is in the cache
    assert len(kept.read_text().splitlines()) == 16


def test_answers_stay_when_a_model_fails(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = use_models(monkeypatch)
    registry.open_model(TUNED)
    opened[TUNED].answers = ["one", "two", ModelError("gone")]
    assert run().exit_code == 1
    assert len((folder / "run" / "answers.jsonl").read_text().splitlines()) == 10


def test_other_judges_of_the_same_run_stand_beside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_models(monkeypatch)
    read(run())
    table = run("--no-json", "--html", "page.html", judge="none")
    assert table.exit_code == 0, table.output
    page = (folder / "page.html").read_text()
    assert "overlap / large" in page
    assert "judge / large" in page


def test_a_judge_that_cannot_be_opened_is_refused_before_the_models_answer(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = use_models(monkeypatch)
    done = run(judge="other:judge")
    assert (done.exit_code, "no model 'other:judge'" in done.output, opened) == (2, True, {})


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (("--baseline", "other"), 2, "no model is called 'other'"),
        (("--temperature", "0.5"), 2, "temperature 0.0, not 0.5"),
        (("--references", "bench.jsonl"), 1, "no row of the bench has a reference"),
        (("--references", "records.jsonl"), 1, "cannot read records.jsonl"),
    ],
)
def test_a_comparison_that_means_nothing_is_refused(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], status: int, told: str
) -> None:
    use_models(monkeypatch)
    read(run(models=(BASE,)))
    done = run(*words)
    assert (done.exit_code, told in done.stderr) == (status, True), done.output


def test_a_folder_with_answers_of_other_weights_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_models(monkeypatch)
    read(run(models=(BASE,)))
    kept = folder / "run" / "answers.jsonl"
    kept.write_text("".join(kept.read_text().splitlines(keepends=True)[:-1]))
    use_models(monkeypatch, identity="2")
    done = run(models=(BASE,))
    assert done.exit_code == 2
    assert "another model called base" in done.stderr


def test_the_estimate_sends_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = use_models(monkeypatch)
    assert [line["requests"] for line in read(run("--estimate"))] == [8, 8]
    assert (opened, (folder / "run").exists()) == ({}, False)
    assert "no model" in run(models=()).stderr
