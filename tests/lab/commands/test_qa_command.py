"""Evaluations of questions with known answers, as they are run: what is found, kept, judged and gone on with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from scripted_model import Answer, Asked, ScriptedModel
from shop_repository import SHOP
from trees import write_tree

from pkg.cli import main
from pkg.lab.datasets.dataset_rows import draw
from pkg.lab.evaluation.questions.qa_records import find_path, read_questions
from pkg.models import registry

QUESTIONS = (
    {
        "id": "tax",
        "question": "How is the tax added to an amount?",
        "answer": "add_tax multiplies the amount by one plus TAX_RATE.",
        "type": "syntax",
        "path": "shop/prices.py",
    },
    {
        "id": "imports",
        "question": "Which libraries does orders.py in the folder shop import?",
        "answer": "json",
        "type": "dependencies",
        "meta_data": {"file_name": "orders.py", "module": "repo.shop", "start_line": None, "end_line": None},
    },
    {"id": "licence", "question": "Which license has the shop?", "answer": "MIT", "type": "meta", "path": "README.md"},
    {"id": "lost", "question": "What is in the attic?", "answer": "Dust.", "type": "meta", "path": "ATTIC.md"},
)
MODEL = ("--model", "gguf:scripted.gguf")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PKG_STORE", f"sqlite:///{tmp_path / 'graph.db'}")
    assert run("build", str(write_tree(tmp_path / "shop", SHOP))).exit_code == 0
    (tmp_path / "qa.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in QUESTIONS))
    return tmp_path


def use_model(monkeypatch: pytest.MonkeyPatch, answers: Any) -> ScriptedModel:
    model = ScriptedModel(answers)
    monkeypatch.setattr(registry, "open_model", lambda name: model)
    return model


def answer_from_evidence(asked: Asked) -> Answer:
    return "`add_tax` multiplies the amount by TAX_RATE [1]." if "[1]" in asked[-1].content else "By magic."


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def read_lines(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def find_figures(lines: list[dict[str, Any]], system: str, kind: str = "overall") -> dict[str, Any]:
    return next(line for line in lines if line.get("system") == system and line["kind"] == kind)


def test_without_a_model_the_right_file_is_looked_for_by_each_retriever() -> None:
    lines = read_lines(run("eval", "qa", "qa.jsonl"))
    assert {line["system"] for line in lines} == {"graph", "chunks", "both"}
    overall = find_figures(lines, "graph")
    assert (overall["questions"], overall["with_gold"]) == (4, 3)
    assert overall["hits"]["1"] == 3
    assert find_figures(lines, "graph", "meta")["hits"]["5"] == 1


def test_a_question_whose_file_is_not_in_the_graph_counts_as_missed() -> None:
    meta = find_figures(read_lines(run("eval", "qa", "qa.jsonl")), "graph", "meta")
    assert (meta["questions"], meta["with_gold"], meta["hits"]["1"]) == (2, 1, 1)


def test_answers_are_kept_judged_and_shown_side_by_side(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_model(monkeypatch, answer_from_evidence)
    words = ("eval", "qa", "qa.jsonl", *MODEL, "--systems", "graph,none", "--judge", "none", "--out", "run")
    lines = read_lines(run(*words))
    overall = find_figures(lines, "graph")
    assert overall["answered"] + overall["refused"] == 4
    assert overall["cites_gold"] >= 1
    summary = lines[-1]
    assert summary["type"] == "summary"
    ours = next(each for each in summary["pairs"] if each["type"] == "overall")
    assert (ours["ours"], ours["base"], ours["runs"]) == ("graph", "none", 3)
    assert sum(rate["mean"] for rate in ours["outcomes"].values()) == pytest.approx(100)
    page = (folder / "run" / "answers.html").read_text()
    assert "By magic." in page
    assert "add_tax" in page


def test_a_run_that_was_cut_off_goes_on_and_asks_nothing_twice(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = use_model(monkeypatch, answer_from_evidence)
    words = ("eval", "qa", "qa.jsonl", *MODEL, "--systems", "none", "--out", "run")
    read_lines(run(*words))
    asked = len(model.asked)
    kept = folder / "run" / "answers.jsonl"
    whole = kept.read_text().splitlines(keepends=True)
    kept.write_text("".join(whole[:2]) + whole[2][:30])  # killed while the third was written
    read_lines(run(*words))
    assert len(model.asked) == asked + 2
    assert sorted(json.loads(line)["id"] for line in kept.read_text().splitlines()) == sorted(
        json.loads(line)["id"] for line in whole
    )


TWO = ("--model", "gguf:/models/base.gguf", "--model", "hf:/models/base+/models/tuned")


def use_models(monkeypatch: pytest.MonkeyPatch, identity: str = "1") -> dict[str, ScriptedModel]:
    """Answer by the name of the model; the tuned one also without evidence."""
    opened: dict[str, ScriptedModel] = {}

    def open_model(name: str) -> ScriptedModel:
        answer = "`add_tax` multiplies the amount by TAX_RATE." if "tuned" in name else answer_from_evidence
        return opened.setdefault(
            name, ScriptedModel([answer] if isinstance(answer, str) else answer, name=name, identity=name + identity)
        )

    monkeypatch.setattr(registry, "open_model", open_model)
    return opened


def test_several_models_are_each_combined_with_each_system_and_compared_with_the_first_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = use_models(monkeypatch)
    words = ("eval", "qa", "qa.jsonl", *TWO, "--judge", "none", "--out", "run")
    lines = read_lines(run(*words, "--html", "page.html", "--figures", "figures"))
    systems = {line["system"] for line in lines if line["type"] == "questions"}
    assert systems == {f"{source}@{label}" for source in ("none", "graph", "chunks") for label in ("base", "tuned")}
    pairs = [each for each in lines[-1]["pairs"] if each["type"] == "overall"]
    assert {each["base"] for each in pairs} == {"none@base"}
    assert next(each for each in pairs if each["ours"] == "none@tuned")["outcomes"]["ours"]["mean"] > 0
    page = (folder / "page.html").read_text()
    assert "paper, both against base" in page
    assert "none@tuned against none@base" in page
    assert len(list((folder / "figures").glob("*.png"))) == 5

    table = run(*words, "--no-json").stdout
    assert "63.1 ± 3.2" in table
    assert "57.7" in table  # of all types, weighted by their questions
    asked = [len(model.asked) for model in opened.values()]
    read_lines(run(*words))
    assert [len(model.asked) for model in opened.values()] == asked


def test_answers_of_two_models_of_one_name_are_not_mixed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_models(monkeypatch)
    words = ("eval", "qa", "qa.jsonl", *TWO, "--systems", "none", "--out", "run")
    read_lines(run(*words))
    kept = folder / "run" / "answers.jsonl"
    kept.write_text("".join(kept.read_text().splitlines(keepends=True)[:-1]))
    use_models(monkeypatch, identity="2")
    result = run(*words)
    assert result.exit_code == 2
    assert "holds answers of another model called tuned" in result.stderr


def test_the_model_of_the_settings_is_one_model(monkeypatch: pytest.MonkeyPatch) -> None:
    use_model(monkeypatch, answer_from_evidence)
    monkeypatch.setenv("PKG_MODEL", "gguf:a model.gguf")
    lines = read_lines(run("eval", "qa", "qa.jsonl", "--systems", "graph"))
    assert find_figures(lines, "graph")["answered"] > 0


def test_a_folder_of_another_run_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    read_lines(run("eval", "qa", "qa.jsonl", "--systems", "graph", "--out", "run"))
    result = run("eval", "qa", "qa.jsonl", "--systems", "graph", "--budget", "100", "--out", "run")
    assert result.exit_code == 2
    assert "budget 2500, not 100" in result.stderr


def test_the_oracle_searches_the_right_file_alone_and_says_so() -> None:
    lines = read_lines(run("eval", "qa", "qa.jsonl", "--systems", "chunks", "--oracle-file"))
    assert {line["oracle_file"] for line in lines} == {"ORACLE FILE"}
    assert find_figures(lines, "chunks")["hits"]["1"] == 3
    assert "ORACLE FILE" in run("eval", "qa", "qa.jsonl", "--oracle-file", "--no-json").stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--systems", "none"), "give --model"),
        (("--systems", "web"), "unknown system 'web'"),
        (("--judge", "none"), "give --model"),
        (("--html", "page.html"), "add --judge"),
        ((*MODEL, "--judge", "other:judge"), "no model 'other:judge'"),
    ],
)
def test_what_cannot_be_compared_is_refused(words: tuple[str, ...], told: str) -> None:
    result = run("eval", "qa", "qa.jsonl", *words)
    assert result.exit_code == 2
    assert told in result.stderr


def test_bad_rows_are_named_and_stop_nothing(folder: Path) -> None:
    with (folder / "qa.jsonl").open("a") as file:
        file.write('not json\n{"question": ""}\n' + json.dumps(QUESTIONS[0]) + "\n")
    result = run("eval", "qa", "qa.jsonl", "--systems", "graph")
    assert "left out: line 5" in result.stderr
    assert "the id 'tax' occurs twice" in result.stderr
    assert find_figures(read_lines(result), "graph")["questions"] == 4


def test_a_file_without_questions_is_an_error(folder: Path) -> None:
    (folder / "empty.jsonl").write_text("\n")
    result = run("eval", "qa", "empty.jsonl")
    assert result.exit_code == 1
    assert "no question in empty.jsonl" in result.stderr


def test_the_path_is_read_from_the_module_whose_first_part_is_the_repository() -> None:
    about = {"meta_data": {"file_name": "a.py", "module": "spyder.spyder.plugins"}}
    assert find_path(about) == "spyder/plugins/a.py"
    assert find_path({"meta_data": {"file_name": "README.md", "module": "spyder"}}) == "README.md"
    assert find_path({"path": None}) == ""


def test_a_draw_keeps_the_order_and_depends_on_the_seed() -> None:
    items = read_questions(json.dumps({"id": str(number), "question": "q"}) for number in range(40)).items
    drawn = draw(items, 10, seed=1)
    assert [int(each.item.id) for each in drawn] == sorted(int(each.item.id) for each in drawn)
    assert drawn == draw(items, 10, seed=1) != draw(items, 10, seed=2)
    assert tuple(draw(items, None, seed=1)) == items
