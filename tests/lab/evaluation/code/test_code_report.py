from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scripted_model import Asked, ScriptedModel

import pkg
from pkg.lab import evaluate_code, report_evaluation
from pkg.lab.evaluation.code.code_report import CodeReport, LeakFigures, count_leaks
from pkg.lab.evaluation.code.run_folder import Record
from pkg.lab.evaluation.report.code_sections import list_sections
from pkg.lab.evaluation.report.report_format import render_markdown

BODIES = {"double_all": "return [2 * each for each in numbers]", "drop_last": "return numbers[:-1]"}
COLUMNS = ("none", "bm25", "func-pkg", "block-pkg", "reranked", "gold", "random")
NONE = Record("none", "A/1", 0, False, "NameError")


def make_row(number: int, name: str, body: str) -> dict[str, Any]:
    known = eval(f"lambda numbers: {body.removeprefix('return ')}")([1, 2])
    return {
        "task_id": f"HumanEval/{number}",
        "prompt": f'def {name}(numbers):\n    """{name.replace("_", " ")} numbers of a list."""\n',
        "entry_point": name,
        "canonical_solution": f"    {body}\n",
        "test": f"def check(candidate):\n    assert candidate([1, 2]) == {known!r}\n",
    }


@pytest.fixture(name="data")
def benchmark(tmp_path: Path) -> Path:
    path = tmp_path / "HumanEval.jsonl"
    rows = [make_row(number, name, body) for number, (name, body) in enumerate(BODIES.items())]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(name="store")
def graph(tmp_path: Path) -> str:
    """Build a graph with the solution of the first task under another name, and a different function for the second."""
    codes = {
        "twice": "def twice(values):\n    'Double all numbers of a list.'\n    return [2 * one for one in values]\n",
        "shorter": "def shorter(values):\n    'Drop the last numbers.'\n    values.pop()\n    return values\n",
    }
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("".join(json.dumps({"id": name, "code": code}) + "\n" for name, code in codes.items()))
    address = f"sqlite:///{tmp_path / 'graph.db'}"
    pkg.build_graph(corpus, store=address)
    return address


def answer(asked: Asked) -> str:
    """Answer as a model that copies the shown code under any names."""
    text = "".join(message.content for message in asked)
    if "2 * one" in text:
        return "    return [2 * each for each in numbers]\n"
    return "    numbers.pop()\n    return numbers\n" if "pop" in text else "    return nothing\n"


def evaluate(data: Path, store: str, out: Path) -> CodeReport:
    return evaluate_code("humaneval", ScriptedModel(answer), data, out, store=store, is_any=True, columns=COLUMNS)


def test_a_report_tells_both_what_is_solved_and_what_is_solved_without_leaks(
    data: Path, store: str, tmp_path: Path
) -> None:
    report = evaluate(data, store, tmp_path / "run")
    found = {each.column: each for each in report.columns}
    for name in ("func-pkg", "block-pkg"):
        assert (found[name].solved, found[name].fixed) == (2, 2)
        assert found[name].leaks == LeakFigures(1, 1, 0, items=1, solved=1, fixed=1, broken=0)
    assert found["bm25"].leaks == LeakFigures(1, 1, 1, items=1, solved=0, fixed=0, broken=0)  # `twice` for both
    assert found["none"].leaks == LeakFigures(0, 0, 0, items=2, solved=0, fixed=None, broken=None)
    assert found["gold"].leaks == LeakFigures(2, 2, 0, items=0, solved=0, fixed=None, broken=None)
    assert report_evaluation(tmp_path / "run") == report
    markdown = render_markdown(list_sections([report]))
    assert "| Func-PKG | 1 | 1 | 0 | 1/1 | 1 | 0 |" in markdown


def test_the_graph_is_not_written_to(data: Path, store: str, tmp_path: Path) -> None:
    evaluate(data, store, tmp_path / "run")
    with pkg.open_graph(store) as opened:
        assert opened.store.generation() == 1
        assert opened.stats().audits == ()


def test_records_tell_which_tasks_their_shown_code_gives_away(data: Path, store: str, tmp_path: Path) -> None:
    evaluate(data, store, tmp_path / "run")
    records = [json.loads(line) for line in (tmp_path / "run" / "records.jsonl").read_text().splitlines()]
    leaks = {(each["column"], each["item"]): each["leaks"] for each in records}
    assert leaks["func-pkg", "HumanEval/0"] == ["same_code HumanEval/0"]
    assert leaks["func-pkg", "HumanEval/1"] == []
    assert leaks["none", "HumanEval/0"] == []


def test_records_of_an_earlier_version_are_completed_without_the_model(data: Path, store: str, tmp_path: Path) -> None:
    report = evaluate(data, store, tmp_path / "run")
    path = tmp_path / "run" / "records.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps({k: v for k, v in row.items() if k != "leaks"}) + "\n" for row in rows))
    before = {each.column: each.leaks for each in report_evaluation(tmp_path / "run").columns}
    assert before["func-pkg"] is None
    assert evaluate(data, store, tmp_path / "run") == report


def test_a_leak_of_another_item_counts_apart() -> None:
    first = {"A/1": replace(NONE, leaks=("similar A/2",)), "A/2": replace(NONE, item="A/2", leaks=("similar A/2",))}
    assert count_leaks(first, {}) == LeakFigures(1, 0, 1, items=1, solved=0, fixed=None, broken=None)


def test_nothing_is_told_of_leaks_where_nobody_looked() -> None:
    assert count_leaks({"A/1": replace(NONE, shown=("a.py:1-2 a",))}, {}) is None
