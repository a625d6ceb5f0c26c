"""`pkg enhance`: results, consent before code is sent to another machine, and refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from scripted_model import ScriptedModel
from toy_models import LetterModel

from pkg.cli import main

CODE = '''def double_value(value):
    return value * 2


def triple_value(value):
    return double_value(value) + value


def known(value):
    """Say it already."""
    return value
'''
FAR = "openai:coder@https://far.example/v1"
NEAR = "openai:coder@http://localhost:1/v1"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Build a graph of a folder, with a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PKG_STORE", f"sqlite:///{tmp_path / 'graph.db'}")
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "sums.py").write_text(CODE)
    assert run("build", str(tmp_path / "code")).exit_code == 0
    return tmp_path


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    """Register one model without failures under every name."""
    scripted = ScriptedModel(["Work the value out."], FAR)
    monkeypatch.setattr("pkg.enhance.enhancement_session.open_model", lambda name: scripted)
    return scripted


def run(*words: str, answer: str | None = None) -> Result:
    return CliRunner().invoke(main, list(words), input=answer)


def lines_of(done: Result) -> list[dict[str, Any]]:
    assert done.exit_code == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_each_docstring_is_a_line_followed_by_the_report() -> None:
    done = run("enhance", "--model", "template")
    first, second, report = lines_of(done)
    assert (first["type"], first["qualname"], first["calls"]) == ("docstring", "double_value", 1)
    assert (second["qualname"], second["docstring_model"]) == ("triple_value", "template")
    assert (report["type"], report["written"], report["human"]) == ("enhance", 2, 1)
    assert "requests" not in done.stderr


def test_hits_have_the_docstring_of_a_function_and_its_source() -> None:
    run("enhance", "--model", "template")
    hits = lines_of(run("query", "triple the value", "--mode", "function", "-k", "3"))[:-1]
    told = {hit["qualname"]: (hit["docstring_source"], hit["docstring"].splitlines()[0]) for hit in hits}
    assert told == {
        "double_value": ("template", "Double value."),
        "triple_value": ("template", "Triple value."),
        "known": ("human", "Say it already."),
    }
    assert all('"""' not in hit["content"] for hit in hits if hit["qualname"] != "known")


def test_written_docstrings_are_listed_and_undone(place: Path) -> None:
    before = run("export", "--vectors").stdout
    run("enhance", "--model", "template")
    (listed,) = lines_of(run("enhance", "--list"))
    assert (listed["model"], listed["prompt"], listed["functions"]) == ("template", "template/2", 2)
    assert lines_of(run("enhance", "--undo", "template")) == [
        {"type": "undo", "source": "code", "model": "template", "functions": 2}
    ]
    assert run("export", "--vectors").stdout == before
    done = run("enhance", "--undo", "template")
    assert (done.exit_code, done.stderr.strip().rpartition("; ")[2]) == (2, "expected one of: none")


def test_questions_are_written_listed_and_undone(model: ScriptedModel) -> None:
    before = run("export", "--vectors").stdout
    model.answers = ["How do I make a number larger?\nSee double_value."]
    name = "gguf:coder.gguf"
    shown = run("enhance", "--questions", "--model", name, "--dry-run", "--no-json").stdout
    assert shown.splitlines()[:2] == ["sums.py double_value", "  How do I make a number larger?"]
    assert run("export", "--vectors").stdout == before
    *written, report = lines_of(run("enhance", "--questions", "--model", name))
    assert [(each["type"], each["questions"], each["is_new"]) for each in written] == [
        ("questions", ["How do I make a number larger?"], False)
    ] * 3
    assert (report["kind"], report["written"], report["asked"]) == ("questions", 3, 0)
    (listed,) = lines_of(run("enhance", "--list"))
    assert (listed["docstring_source"], listed["prompt"], listed["functions"]) == ("questions", "questions/1", 3)
    assert run("enhance", "--undo", FAR).exit_code == 2
    assert lines_of(run("enhance", "--questions", "--undo", FAR))[0]["functions"] == 3
    assert run("export", "--vectors").stdout == before


@pytest.mark.parametrize(
    "words",
    [
        ("--model", "template"),
        ("--model", "gguf:coder.gguf", "--form", "chat"),
        ("--model", "gguf:coder.gguf", "--comments"),
        ("--diff",),
    ],
)
def test_options_of_docstrings_are_refused_with_questions(words: tuple[str, ...]) -> None:
    assert run("enhance", "--questions", *words).exit_code == 2


def test_a_diff_and_a_patch_contain_the_docstrings(place: Path) -> None:
    run("enhance", "--model", "template", "--limit", "1")
    shown = run("enhance", "--diff", "--no-json").stdout
    assert '+    """Double value.' in shown
    assert lines_of(run("enhance", "--diff", "--json"))[0]["docstrings"] == 1
    (told,) = lines_of(run("enhance", "--export-patch", str(place / "all.patch")))
    assert (told["files"], told["docstrings"], told["skipped"]) == (1, 1, [])
    assert (place / "all.patch").read_text() == shown
    assert run("enhance", "--export-patch", "-").stdout == shown
    assert (place / "code" / "sums.py").read_text() == CODE


def test_a_dry_run_shows_the_docstrings_and_stores_nothing() -> None:
    before = run("export", "--vectors").stdout
    shown = run("enhance", "--model", "template", "--dry-run", "--no-json").stdout
    assert '+    """Double value.' in shown
    assert '+    """Triple value.' in shown
    assert run("export", "--vectors").stdout == before
    (report,) = lines_of(run("enhance", "--model", "template"))[-1:]
    assert (report["written"], report["asked"]) == (2, 0)


def test_an_estimate_reports_time_and_tokens(model: ScriptedModel) -> None:
    (told,) = lines_of(run("enhance", "--model", NEAR, "--estimate", "--price", "1/2"))
    assert (told["codes"], told["sample"], told["failed"]) == (2, 2, 0)
    assert told["cost"] == pytest.approx((told["prompt_tokens"] + 2 * told["completion_tokens"]) / 1e6)
    assert len(model.asked) == 2
    assert lines_of(run("enhance", "--list")) == []


def test_without_consent_an_estimate_sends_no_request(model: ScriptedModel) -> None:
    (told,) = lines_of(run("enhance", "--model", FAR, "--estimate"))
    assert (told["codes"], told["sample"], told["seconds"], model.asked) == (2, 0, None, [])


def test_without_consent_no_code_is_sent(model: ScriptedModel) -> None:
    done = run("enhance", "--model", FAR)
    assert (done.exit_code, model.asked) == (2, [])
    assert f"model '{FAR}' gets code sent to https://far.example/v1: 2 functions" in done.stderr
    assert "nothing was sent: agree with --yes" in done.stderr


def test_yes_consents_and_still_reports_what_is_sent(model: ScriptedModel) -> None:
    done = run("enhance", "--model", FAR, "--yes")
    assert (lines_of(done)[-1]["written"], len(model.asked)) == (2, 2)
    assert "gets code sent to" in done.stderr
    assert f"{FAR}: 2 requests" in done.stderr


def test_a_model_of_this_machine_needs_no_consent(model: ScriptedModel) -> None:
    assert lines_of(run("enhance", "--model", NEAR))[-1]["written"] == 2


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 2)])
def test_a_terminal_prompts_for_consent(
    model: ScriptedModel, monkeypatch: pytest.MonkeyPatch, answer: str, code: int
) -> None:
    monkeypatch.setattr("pkg.console.progress.can_ask", lambda: True)
    done = run("enhance", "--model", FAR, answer=answer)
    assert (done.exit_code, bool(model.asked)) == (code, code == 0)
    assert "Send it? [y/N]" in done.stderr


@pytest.mark.parametrize("named", [FAR, NEAR, "gguf:own.gguf"])
def test_the_code_itself_cannot_name_the_model(
    place: Path, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    (place / "code" / "pkg.toml").write_text(f'model = "{named}"\n')
    monkeypatch.chdir(place / "code")
    for words in (["enhance", "--yes"], ["build", ".", "--enhance", "--yes"], ["enhance", "--estimate", "--yes"]):
        done = run(*words)
        assert (done.exit_code, model.asked) == (1, [])
        assert "setting 'model'" in done.stderr
    assert run("enhance", "--diff").exit_code == 0  # asks no model


def test_a_settings_file_that_is_trusted_names_the_model(
    place: Path, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "pkg.toml").write_text(f'model = "{NEAR}"\n')
    monkeypatch.chdir(place)
    assert run("trust").exit_code == 0
    assert lines_of(run("enhance"))[-1]["written"] == 2


def test_a_settings_file_of_the_code_may_name_the_template(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "code" / "pkg.toml").write_text('model = "template"\n')
    monkeypatch.chdir(place / "code")
    assert lines_of(run("enhance"))[-1]["written"] == 2


def test_a_build_can_enhance_what_it_has_built(place: Path) -> None:
    (place / "code" / "more.py").write_text("def halve_value(value):\n    return value / 2\n")
    lines = lines_of(run("build", str(place / "code"), "--enhance", "--model", "template"))
    assert [line["type"] for line in lines] == ["build", "docstring", "docstring", "docstring", "enhance"]


def test_failures_are_listed_for_a_named_model(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted = ScriptedModel([""], NEAR, can_fill=False)
    monkeypatch.setattr("pkg.enhance.enhancement_session.open_model", lambda name: scripted)
    kinds = [line["type"] for line in lines_of(run("enhance", "--model", NEAR))]
    assert kinds == ["failure", "failure", "enhance"]
    asked = len(scripted.asked)
    listed = lines_of(run("enhance", "--model", NEAR, "--list"))
    assert [(line["type"], line["qualname"], line["reason"]) for line in listed] == [
        ("failure", "double_value", "empty"), ("failure", "triple_value", "empty"),
    ]  # fmt: skip
    assert len(scripted.asked) == asked


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no model is named; give --model"),
        (["--model", "nothing:x"], "no model 'nothing:x'; expected one of"),
        (["--model", "template", "--form", "chat"], "leave out --form"),
        (["--model", "template", "--source", "other"], "no source 'other'"),
        (["--list", "--diff"], "--list and --diff exclude each other"),
        (["--undo", "unknown"], "no docstring of model 'unknown'"),
        (["--model", "template", "--max-cost", "1"], "a limit on cost needs prices"),
    ],
)
def test_contradictory_options_are_refused(words: list[str], message: str) -> None:
    done = run("enhance", *words)
    assert done.exit_code == 2
    assert message in done.stderr


def test_a_missing_graph_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PKG_STORE", f"sqlite:///{tmp_path / 'none.db'}")
    done = run("enhance", "--model", "template")
    assert done.exit_code == 1
    assert "no graph at" in done.stderr


@pytest.mark.usefixtures("models")
def test_an_encoder_on_another_machine_needs_consent_too(place: Path, models: dict[str, LetterModel]) -> None:
    assert run("build", str(place / "code"), "--encoder", "far:m", "--yes").exit_code == 0
    sent = len(models["far:m"].asked)
    done = run("enhance", "--model", "template")
    assert (done.exit_code, len(models["far:m"].asked)) == (2, sent)
    assert "gets it with its docstrings sent to https://far.example/v1" in done.stderr
    assert lines_of(run("enhance", "--model", "template", "--yes"))[-1]["written"] == 2
    assert len(models["far:m"].asked) > sent
    assert run("enhance", "--undo", "template").exit_code == 2
    assert run("enhance", "--undo", "template", "--yes").exit_code == 0
