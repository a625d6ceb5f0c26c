from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest
from click.testing import CliRunner
from scripted_model import Asked, ScriptedModel

import pkg
import pkg.lab
from pkg.cli import main
from pkg.errors import PathError, UsageError
from pkg.lab import evaluate_code, report_evaluation
from pkg.lab.evaluation.code.code_report import CodeReport, ConditionFigures
from pkg.lab.evaluation.report.code_sections import list_sections
from pkg.lab.evaluation.report.report_format import render_markdown
from pkg.models.text_model import Decoding, Generation, Listen, Message

ALL = (
    "none",
    "bm25",
    "dense",
    "func-bm25",
    "func-pkg",
    "block-pkg",
    "reranked",
    "ideal",
    "random",
    "gold",
    "similarity",
)
TASKS = ("double", "triple", "halve")
BODIES = {"double": "return 2 * number", "triple": "return 3 * number", "halve": "return number / 2"}


def make_row(name: str) -> dict[str, Any]:
    known = eval(f"lambda number: {BODIES[name].removeprefix('return ')}")(4)
    shown = f"    >>> {name}(4)\n    {known}\n" if name != "halve" else ""
    return {
        "task_id": f"HumanEval/{TASKS.index(name)}",
        "prompt": f'def {name}(number):\n    """Give the {name} of a number.\n\n{shown}    """\n',
        "entry_point": name,
        "canonical_solution": f"    {BODIES[name]}\n",
        "test": f"def check(candidate):\n    assert candidate(4) == {known!r}\n",
    }


@pytest.fixture(name="data", scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("benchmark") / "HumanEval.jsonl"
    path.write_text("".join(json.dumps(make_row(name)) + "\n" for name in TASKS))
    return path


@pytest.fixture(name="store", scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("graph")
    rows = [
        {"id": name, "instruction": f"{name} of a number", "code": f"def {name}_it(number):\n    {BODIES[name]}\n\n"}
        for name in TASKS
    ]
    corpus = folder / "corpus.jsonl"
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows))
    address = f"sqlite:///{folder / 'graph.db'}"
    pkg.build_graph(corpus, store=address)
    return address


def answer(asked: Asked) -> str:
    """Answer as a model that knows how to double, and copies the shown code."""
    text = "".join(message.content for message in asked)
    name = next(each for each in TASKS if f"def {each}(" in text)
    shown = next((body for body in BODIES.values() if body in text), None)
    if shown is not None:
        return f"    {shown}\n"
    return "    return 2 * number\n" if name != "halve" else "    return nothing\n"


def evaluate(data: Path, store: str, out: Path, model: ScriptedModel | None = None, **options: Any) -> CodeReport:
    return evaluate_code("humaneval", model or ScriptedModel(answer), data, out, store=store, is_any=True, **options)


def drop_times(report: CodeReport) -> list[ConditionFigures]:
    return [replace(each, retrieval_seconds=0.0) for each in report.columns]


def by_name(report: CodeReport) -> dict[str, ConditionFigures]:
    return {each.column: each for each in report.columns}


def test_every_column_is_filled_and_judged_by_hidden_tests(data: Path, store: str, tmp_path: Path) -> None:
    found = by_name(evaluate(data, store, tmp_path / "run", columns=ALL))
    assert set(found) == set(ALL)
    none, function, ideal = found["none"], found["func-pkg"], found["ideal"]
    assert (none.solved, none.items, none.errors["AssertionError"], none.errors["NameError"]) == (1, 3, 1, 1)
    assert (function.solved, function.fixed, function.broken, function.empty) == (3, 2, 0, 0)
    assert (function.fixed_shown, function.broken_shown) == (1, 0)  # the task of halve has no example
    assert ideal.solved == 3
    assert found["reranked"].broken == 0
    assert found["gold"].solved == 3
    records = [json.loads(line) for line in (tmp_path / "run" / "records.jsonl").read_text().splitlines()]
    shown = {(each["column"], each["item"]): each["shown"] for each in records}
    assert shown["none", "HumanEval/0"] == []
    assert shown["bm25", "HumanEval/1"] == ["triple"]
    assert "triple_it" in shown["func-pkg", "HumanEval/1"][0]
    reranked = next(each for each in records if (each["column"], each["item"]) == ("reranked", "HumanEval/1"))
    assert reranked["chosen"] in ("func-bm25", "func-pkg", "block-pkg")


def answer_when_told(asked: Asked) -> str:
    """Answer wrongly at first, and correctly after the expected value was shown."""
    text = "".join(message.content for message in asked)
    return f"    {BODIES['triple']}\n" if "def triple(" in text and "expected 12, got 8" in text else answer(asked)


def test_an_answer_is_mended_by_what_the_task_shows(data: Path, store: str, tmp_path: Path) -> None:
    model = ScriptedModel(answer_when_told)
    found = by_name(evaluate(data, store, tmp_path / "run", model, columns=("feedback",)))
    assert (found["none"].solved, found["feedback"].solved, found["feedback"].fixed) == (1, 2, 1)
    records = [json.loads(line) for line in (tmp_path / "run" / "records.jsonl").read_text().splitlines()]
    attempts = {each["item"]: each["attempts"] for each in records if each["column"] == "feedback"}
    # The first is right at once, the second after feedback; the third has no example to fail.
    assert attempts == {"HumanEval/0": 1, "HumanEval/1": 2, "HumanEval/2": 1}


def test_an_answer_that_stays_wrong_is_told_all_its_attempts(data: Path, store: str, tmp_path: Path) -> None:
    model = ScriptedModel(answer)
    found = by_name(evaluate(data, store, tmp_path / "run", model, columns=("feedback",)))
    assert found["feedback"].solved == found["none"].solved
    last = "".join(message.content for message in model.asked[-1])
    assert last.count("expected 12, got 8") == 2
    assert len(model.asked) == 3 + 2


def test_the_cascade_takes_another_answer_only_where_an_example_fails(data: Path, store: str, tmp_path: Path) -> None:
    found = by_name(evaluate(data, store, tmp_path / "run", columns=("cascade",)))
    assert (found["cascade"].solved, found["cascade"].fixed, found["cascade"].broken) == (2, 1, 0)
    records = [json.loads(line) for line in (tmp_path / "run" / "records.jsonl").read_text().splitlines()]
    chosen = {each["item"]: each["chosen"] for each in records if each["column"] == "cascade"}
    assert chosen == {"HumanEval/0": "none", "HumanEval/1": "func-pkg", "HumanEval/2": "none"}


class CopyingModel(ScriptedModel):
    """Reaches its token limit after the code that it copies from the prompt."""

    def chat(self, messages: Sequence[Message], decoding: Decoding, listen: Listen | None = None) -> Generation:
        found = super().chat(messages, decoding, listen)
        is_own = "2 *" in found.text or "nothing" in found.text
        return found if is_own else replace(found, finish="length")


def test_a_truncated_answer_is_chosen_only_where_its_examples_hold(data: Path, store: str, tmp_path: Path) -> None:
    evaluate(data, store, tmp_path / "run", CopyingModel(answer), columns=("reranked",))
    records = [json.loads(line) for line in (tmp_path / "run" / "records.jsonl").read_text().splitlines()]
    chosen = {each["item"]: (each["chosen"], each["is_cut"]) for each in records if each["column"] == "reranked"}
    assert chosen["HumanEval/1"] == ("func-bm25", True)  # its example fails for the answer that is not truncated
    assert chosen["HumanEval/2"] == ("none", False)


def test_a_run_goes_on_where_it_was_cut_off_and_pays_nothing_twice(data: Path, store: str, tmp_path: Path) -> None:
    columns = ("none", "func-pkg", "reranked")
    whole = evaluate(data, store, tmp_path / "whole", columns=columns)

    def break_off(asked: Asked) -> str:
        if len(model.asked) > 4:
            raise KeyboardInterrupt
        return answer(asked)

    model = ScriptedModel(break_off)
    with pytest.raises(KeyboardInterrupt):
        evaluate(data, store, tmp_path / "run", model, columns=columns, options=pkg.lab.SolverOptions(batch=2))
    with (tmp_path / "run" / "records.jsonl").open("a") as file:
        file.write('{"column": "none", "ite')  # as after a crash
    second = ScriptedModel(answer)
    again = evaluate(data, store, tmp_path / "run", second, columns=columns, options=pkg.lab.SolverOptions(batch=2))
    assert drop_times(again) == drop_times(whole)
    assert len(second.asked) == 5  # of nine distinct prompts, of which four were answered before the interrupt
    third = ScriptedModel(answer)
    assert evaluate(data, store, tmp_path / "run", third, columns=columns) == again
    assert third.asked == []


def test_the_report_needs_nothing_but_the_records(data: Path, store: str, tmp_path: Path) -> None:
    made = evaluate(data, store, tmp_path / "run", columns=("none", "func-pkg"))
    for name in ("contexts.jsonl", "generations.jsonl"):
        (tmp_path / "run" / name).unlink()
    assert report_evaluation(tmp_path / "run") == made
    text = render_markdown(list_sections([made]))
    assert "| scripted | 33.3 | 100.0 |" in text
    assert "| paper, DeepSeek-7B | 70 | 69 |" in text
    assert "| None + Func-PKG | 1 |" in text
    assert [each.topic for each in made.tasks] == ["Numbers and number theory"] * 3
    assert sum(made.costs["stages"]["corpus"].values()) > 0
    assert made.costs["bytes"]["graph.db"] > 0


def test_code_that_cannot_run_by_itself_is_passed_over_and_no_item_is_without_any(
    data: Path, store: str, tmp_path: Path
) -> None:
    rows = [
        {
            "id": "near",
            "instruction": "triple of a number",
            "code": "def triple(number):\n    return lost(3) * number\n\n",
        },
        {"id": "far", "instruction": "product", "code": "def multiply_number(number):\n    return 3 * number\n\n"},
    ]
    for name, kept, place in (("both", rows, "far"), ("alone", rows[:1], "near")):
        corpus = tmp_path / f"{name}.jsonl"
        corpus.write_text("".join(json.dumps(row) + "\n" for row in kept))
        address = f"sqlite:///{tmp_path / name}.db"
        pkg.build_graph(corpus, store=address)
        evaluate(data, address, tmp_path / f"run-{name}", columns=["func-pkg", "block-pkg"])
        records = [json.loads(line) for line in (tmp_path / f"run-{name}" / "records.jsonl").read_text().splitlines()]
        assert {each["shown"][0].partition(":")[0] for each in records} == {place}


def test_samples_give_pass_at_k(data: Path, store: str, tmp_path: Path) -> None:
    options = pkg.lab.SolverOptions(samples=10, temperature=0.8)
    (none,) = evaluate(data, store, tmp_path / "run", columns=["none"], options=options).columns
    assert none.pass_at == {1: pytest.approx(1 / 3), 10: pytest.approx(1 / 3)}
    with pytest.raises(UsageError, match="samples at temperature 0 are one answer"):
        pkg.lab.SolverOptions(samples=2)


def test_another_run_in_the_same_folder_is_refused(data: Path, store: str, tmp_path: Path) -> None:
    evaluate(data, store, tmp_path / "run", columns=["none"])
    with pytest.raises(UsageError, match=r"holds a run of .*items.*another folder with --out"):
        evaluate(data, store, tmp_path / "run", columns=["none"], limit=1)
    (tmp_path / "run" / "run.json").unlink()
    with pytest.raises(UsageError, match=r"holds results that are not in run\.json"):
        evaluate(data, store, tmp_path / "run", columns=["none"])
    with pytest.raises(PathError, match="no run in"):
        report_evaluation(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="no column 'best'"):
        evaluate(data, store, tmp_path / "new", columns=["best"])


@pytest.mark.parametrize(("form", "beginning"), [("csv", "benchmark,model,column"), ("json", '{"type": "run"')])
def test_the_command_writes_a_report_in_each_form(
    data: Path, store: str, tmp_path: Path, form: str, beginning: str
) -> None:
    evaluate(data, store, tmp_path / "run", columns=["none", "gold"])
    result = CliRunner().invoke(main, ["eval", "report", str(tmp_path / "run"), "--format", form])
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(beginning)


def test_the_command_asks_for_a_model(data: Path, tmp_path: Path) -> None:
    command = ["eval", "humaneval", "--data", str(data), "--out", str(tmp_path / "run")]
    result = CliRunner().invoke(main, command)
    assert (result.exit_code, "no model; expected --model" in result.output) == (2, True)


BROKEN_COLUMNS = ("none", "feedback", "func-pkg", "reranked")


@pytest.fixture(scope="module")
def whole(data: Path, store: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, ConditionFigures]:
    """Evaluate without an error."""
    return by_name(evaluate(data, store, tmp_path_factory.mktemp("whole") / "run", columns=BROKEN_COLUMNS))


@pytest.mark.parametrize(
    "broken", ["fit_prompt", "HiddenTestsJudge.read_answer", "check_answer", "Reranker.rank"]
)  # the steps that write the prompt, read the answer, run the examples, and choose among answers
def test_an_internal_error_costs_one_answer_which_is_asked_for_again(
    broken: str,
    data: Path,
    store: str,
    whole: dict[str, ConditionFigures],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    holder = "pkg.lab.evaluation.code.code_evaluation"
    place = f"{holder.replace('code_evaluation', 'hidden_tests') if 'Hidden' in broken else holder}.{broken}"
    working = resolve_name(place)

    def fail(*given: Any, **named: Any) -> Any:
        if "triple" in repr(given):
            raise KeyError("boom")
        return working(*given, **named)

    with monkeypatch.context() as patched:
        patched.setattr(place, fail)
        hurt = by_name(evaluate(data, store, tmp_path / "run", columns=BROKEN_COLUMNS))
    assert sum(each.lost for each in hurt.values()) > 0
    assert all(each.lost <= 1 and each.items == len(TASKS) for each in hurt.values())
    mended = by_name(evaluate(data, store, tmp_path / "run", columns=BROKEN_COLUMNS))
    assert {name: (each.solved, each.lost) for name, each in mended.items()} == {
        name: (each.solved, 0) for name, each in whole.items()
    }
