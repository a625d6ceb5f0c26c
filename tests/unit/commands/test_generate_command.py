"""`pkg query --generate` on a terminal and in a pipe, with a scripted model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from scripted_model import ScriptedModel

from pkg.cli import main
from pkg.errors import ModelBusyError
from pkg.models import registry

CODE = "def twice(n):\n    return n + n\n"
STUB = 'def double(n):\n    """Give twice a number.\n\n    >>> double(3)\n    6\n    """\n'
WRONG, RIGHT = "    return n * n\n", "    return twice(n)\n"
MODEL = ("--model", "gguf:scripted.gguf")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PKG_STORE", f"sqlite:///{tmp_path / 'graph.db'}")
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "sums.py").write_text(CODE)
    assert run("build", str(tmp_path / "code")).exit_code == 0
    return tmp_path


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    model = ScriptedModel([RIGHT])
    monkeypatch.setattr(registry, "open_model", lambda name: model)
    return model


def run(*words: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, list(words), input=stdin)


def ask(*words: str, text: str = STUB) -> Result:
    return run("query", "-", "--generate", *MODEL, *words, stdin=text)


def read_answer(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    line: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    assert line["type"] == "answer"
    return line


def test_an_answer_follows_its_hits(model: ScriptedModel) -> None:
    result = ask("--context", "code")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["type"] for line in lines] == ["hit", "coverage", "answer"]
    answer = lines[-1]
    assert (answer["passed"], answer["examples"], answer["context"]) == (1, ["double(3) == 6"], "code")
    assert answer["shown"] == ["sums.py:2-2 twice"]
    assert answer["linked"] == [{"name": "twice", "place": "sums.py:1"}]
    assert "def twice(n):" in answer["code"]


def test_decisions_and_usage_go_to_standard_error(model: ScriptedModel) -> None:
    model.answers = [WRONG, RIGHT]
    result = ask()
    assert "pkg: answer 1, template primed without context: 0 of 1 examples hold" in result.stderr
    assert "pkg: answer 2, template primed with code: 1 of 1 examples hold; calls twice of sums.py:1" in result.stderr
    assert "2 requests" in result.stderr.splitlines()[-1]
    assert read_answer(result)["chosen"] == 1


def test_no_graph_is_needed_without_context(model: ScriptedModel, folder: Path) -> None:
    result = ask("--context", "none", "--store", f"sqlite:///{folder / 'nowhere.db'}")
    answer = read_answer(result)
    assert answer["context"] == "none"
    assert answer["missing"] == ["twice"]
    assert not (folder / "nowhere.db").exists()


def test_a_question_of_unknown_words_is_answered_without_context(model: ScriptedModel) -> None:
    result = ask(text="?!")
    assert read_answer(result)["shown"] == []
    assert "answered without context: no word of the question" in result.stderr


def test_a_trace_contains_each_prompt_and_answer(model: ScriptedModel, folder: Path) -> None:
    model.answers = [WRONG]
    ask("--attempts", "2", "--context", "none", "--form", "primed", "--trace", "trace.jsonl")
    first, second = (json.loads(line) for line in (folder / "trace.jsonl").read_text().splitlines())
    assert (first["hop"], second["hop"]) == (1, 2)
    assert "double(3) == 6 fails (AssertionError): expected 6, got 9." in first["feedback"]
    assert first["feedback"] in second["prompt"].replace("\n    ", "\n")
    assert len({first["prompt_hash"], second["prompt_hash"]}) == 2
    assert first["usage"]["requests"] == 1


def test_an_interrupted_command_keeps_the_samples_so_far(model: ScriptedModel, folder: Path) -> None:
    def answer(asked: object) -> str:
        if len(model.asked) > 1:
            raise KeyboardInterrupt
        return WRONG

    model.answers = answer
    (folder / "tests.txt").write_text("assert double(1) == 2\n")
    options = ("--attempts", "2", "--context", "none", "--form", "primed", "--trace", "trace.jsonl")
    result = ask(*options, "--oracle-tests", "tests.txt")
    assert result.exit_code == 130
    (line,) = map(json.loads, (folder / "trace.jsonl").read_text().splitlines())
    assert (line["type"], line["number"], line["hop"]) == ("sample", 0, 1)
    assert line["oracle"] == "ORACLE"


def test_an_error_after_an_answer_ends_the_writing(model: ScriptedModel) -> None:
    model.answers = [WRONG, ModelBusyError("the service is busy")]
    result = ask("--attempts", "3", "--context", "none", "--form", "primed")
    assert result.exit_code == 0
    assert read_answer(result)["attempts"] == 1
    assert "pkg: ended after 1 answer: the service is busy" in result.stderr


def test_hidden_tests_are_marked_in_all_output(model: ScriptedModel, folder: Path) -> None:
    (folder / "tests.txt").write_text("assert double(4) == 8\n")
    result = ask("--oracle-tests", "tests.txt", "--trace", "trace.jsonl")
    assert read_answer(result)["oracle"] == "ORACLE"
    assert json.loads((folder / "trace.jsonl").read_text().splitlines()[0])["oracle"] == "ORACLE"


def test_without_a_model_the_forms_of_its_name_are_listed() -> None:
    result = run("query", "double", "--generate")
    assert result.exit_code == 2
    assert "no model" in result.stderr
    assert "--model openai:NAME@URL, gguf:FILE or hf:FOLDER" in result.stderr


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--generate", "--prompt", *MODEL), "give one of them"),
        (("--attempts", "2"), "--attempts needs --generate; give both"),
        (("--generate", *MODEL, "--form", "haiku"), "no prompt template 'haiku'; expected one of: auto, paper"),
        (("--generate", "--model", "template"), "writes docstrings only"),
        (("--generate", "--model", "magic:x"), "no model 'magic:x'"),
    ],
)
def test_contradictory_options_are_refused(words: tuple[str, ...], expected: str) -> None:
    result = run("query", "double", *words)
    assert result.exit_code == 2
    assert expected in result.stderr


def test_settings_of_an_answer_do_not_affect_a_plain_query(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PKG_MODEL", "gguf:coder.gguf")
    monkeypatch.setenv("PKG_ATTEMPTS", "3")
    assert run("query", "twice").exit_code == 0


def test_the_searched_code_cannot_select_the_model(
    model: ScriptedModel, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "code" / "pkg.toml").write_text('model = "openai:x@https://far.example/v1"\n')
    monkeypatch.chdir(folder / "code")
    result = run("query", "twice", "--generate")
    assert result.exit_code == 1
    assert "setting 'model'" in result.stderr
    assert model.asked == []


def test_unreadable_tests_are_reported(model: ScriptedModel) -> None:
    result = ask("--oracle-tests", "nowhere.txt")
    assert result.exit_code == 1
    assert "cannot read the tests in nowhere.txt" in result.stderr
