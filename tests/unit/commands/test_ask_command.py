"""`pkg ask` on a terminal and in a pipe, with a scripted model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from scripted_model import ScriptedModel
from shop_repository import SHOP
from trees import write_tree

from pkg.cli import main
from pkg.models import registry

TAX = "How is the tax added to an amount?"
GOOD = "`add_tax` multiplies the amount by one plus TAX_RATE [1]."
MODEL = ("--model", "gguf:scripted.gguf")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PKG_STORE", f"sqlite:///{tmp_path / 'graph.db'}")
    assert run("build", str(write_tree(tmp_path / "shop", SHOP))).exit_code == 0
    return tmp_path


def use_model(monkeypatch: pytest.MonkeyPatch, *answers: str) -> ScriptedModel:
    model = ScriptedModel(answers)
    monkeypatch.setattr(registry, "open_model", lambda name: model)
    return model


def run(*words: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(main, list(words), input=stdin)


def read_lines(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_without_a_model_the_evidence_is_shown_and_the_flag_named() -> None:
    result = run("ask", TAX, "--no-json")
    assert result.exit_code == 0
    assert "[1] shop/prices.py:13-15  function add_tax" in result.stdout
    assert "give --model gguf:FILE" in result.stderr


def test_json_has_a_line_for_each_piece_and_one_for_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    use_model(monkeypatch, GOOD)
    *evidence, answer = read_lines(run("ask", TAX, *MODEL))
    assert [line["number"] for line in evidence] == list(range(1, len(evidence) + 1))
    assert (answer["text"], answer["places"], answer["wrong_citations"]) == (GOOD, ["shop/prices.py:13"], 0)
    assert answer["statements"][0]["citations"][0]["state"] == "supported"
    assert answer["usage"]["requests"] == 1


def test_text_lists_places_below_each_statement_and_marks_wrong_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    use_model(monkeypatch, f"{GOOD} It is audited by the bank [99].")
    shown = run("ask", TAX, *MODEL, "--no-json").stdout
    assert "[1] shop/prices.py:13" in shown
    assert "[99]: there is no such evidence" in shown


def test_a_refusal_lists_the_evidence_and_can_set_the_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    model = use_model(monkeypatch, GOOD)
    result = run("ask", "Where are JPEG images resized before the upload?", *MODEL, "--no-json", "--exit-code")
    assert result.exit_code == 3
    assert "I do not know. (nothing in the graph fits the question)" in result.stdout
    assert "looked at: " in result.stdout
    assert model.asked == []


def test_chat_answers_each_line_and_continues_after_an_invalid_one(monkeypatch: pytest.MonkeyPatch) -> None:
    model = use_model(monkeypatch, GOOD, "`Order.total` calls `find_price` [1].")
    result = run("ask", "--chat", *MODEL, "--json", stdin=f"{TAX}\n\nWhich functions call find_price?\n")
    answers = [line for line in read_lines(result) if line["type"] == "answer"]
    assert [line["question"] for line in answers] == [TAX, "Which functions call find_price?"]
    assert [message.role for message in model.asked[1]] == ["system", "user", "assistant", "user"]


def test_a_question_comes_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    use_model(monkeypatch, GOOD)
    assert read_lines(run("ask", "-", *MODEL, stdin=f"{TAX}\n"))[-1]["text"] == GOOD


@pytest.mark.parametrize(("words", "told"), [((), "no question"), (("--chat", TAX), "no TEXT")])
def test_a_question_and_a_conversation_exclude_each_other(words: tuple[str, ...], told: str) -> None:
    result = run("ask", *words)
    assert result.exit_code == 2
    assert told in result.stderr


def test_untrusted_text_cannot_control_the_terminal(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_model(monkeypatch, "`add_tax` adds the tax to an amount \x1b[2J [1].")
    (folder / "shop" / "README.md").write_text("# Tax\n\nThe tax \x1b[31m is added to an amount.\n", encoding="utf-8")
    run("build", str(folder / "shop"))
    assert "\x1b[2J" not in run("ask", TAX, *MODEL, "--no-json").stdout
    assert "\x1b[31m" not in run("ask", TAX, "--no-json").stdout


def test_no_settings_file_of_the_code_selects_the_model(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder / "shop")
    (folder / "shop" / "pkg.toml").write_text('model = "openai:spy@http://127.0.0.1:9/v1"\n')
    result = run("ask", TAX)
    assert result.exit_code == 1
    assert "setting 'model'" in result.stderr


def test_the_lines_of_a_conversation_have_the_numbers_that_its_answers_cite(monkeypatch: pytest.MonkeyPatch) -> None:
    use_model(monkeypatch, GOOD)
    result = run("ask", "--chat", *MODEL, "--json", stdin=f"{TAX}\nWhich classes inherit from Order?\n{TAX}\n")
    numbers: dict[str, set[int]] = {}
    for line in read_lines(result):
        if line["type"] == "evidence":
            numbers.setdefault(f"{line['path']} {line['title']} {line['content']}", set()).add(line["number"])
    assert all(len(each) == 1 for each in numbers.values())
    assert len({next(iter(each)) for each in numbers.values()}) == len(numbers)
