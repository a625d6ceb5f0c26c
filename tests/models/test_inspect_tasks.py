"""The tasks of Inspect by its own runner and a scripted model; needs the extra `inspect`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import pkg
from pkg.errors import UsageError

pytestmark = [pytest.mark.inspect, pytest.mark.filterwarnings("default")]

BODIES = {"double": "return 2 * number", "triple": "return 3 * number"}


def make_row(name: str, number: int) -> dict[str, Any]:
    return {
        "task_id": f"HumanEval/{number}",
        "prompt": f'def {name}(number):\n    """Give the {name} of a number."""\n',
        "entry_point": name,
        "canonical_solution": f"    {BODIES[name]}\n",
        "test": f"def check(candidate):\n    assert candidate(4) == {eval(BODIES[name][7:], {'number': 4})}\n",
    }


@pytest.fixture(name="data")
def benchmark_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    from pkg.lab.evaluation.code import benchmarks

    rows: list[Mapping[str, Any]] = [make_row(name, number) for number, name in enumerate(BODIES)]
    (tmp_path / "HumanEval.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    known = benchmarks.BENCHMARKS["humaneval"]
    ours = replace(known, sha256=benchmarks.hash_rows(rows))
    monkeypatch.setitem(benchmarks.BENCHMARKS, "humaneval", ours)
    return str(tmp_path)


def answer_by(body: str, name: str = "double") -> str:
    return f"Here it is:\n```python\ndef {name}(number):\n    {body}\n```\n"


def run(task: Any, answers: list[str], folder: Path) -> Any:
    import inspect_ai
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    outputs = [ModelOutput.from_content("mockllm/model", each) for each in answers]
    for output in outputs:  # without it a tokeniser is downloaded to count tokens
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    mock = get_model("mockllm/model", custom_outputs=outputs)
    (log,) = inspect_ai.eval(task, model=mock, log_dir=str(folder), display="none", max_samples=1)
    assert log.status == "success", log.error
    return log


def test_answers_are_judged_by_hidden_tests(data: str, tmp_path: Path) -> None:
    from pkg.lab.evaluation.inspect_tasks import humaneval

    log = run(humaneval(data), [answer_by(BODIES["double"]), answer_by("return 0", "triple")], tmp_path / "logs")
    scores = {sample.id: sample.scores["run_tests"] for sample in log.samples}
    assert {name: score.value for name, score in scores.items()} == {"HumanEval/0": "C", "HumanEval/1": "I"}
    assert scores["HumanEval/1"].explanation.startswith("AssertionError")
    assert "return 2 * number" in scores["HumanEval/0"].answer


def test_prompts_show_code_found_by_the_graph(data: str, tmp_path: Path) -> None:
    from pkg.lab.evaluation.inspect_tasks import humaneval

    rows = [
        {"id": name, "instruction": f"{name} of a number", "code": f"def {name}_it(number):\n    {body}\n\n"}
        for name, body in BODIES.items()
    ]
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows))
    store = f"sqlite:///{tmp_path / 'graph.db'}"
    pkg.build_graph(corpus, store=store)
    task = humaneval(data, context="func-pkg", store=store, limit=2)
    log = run(task, [answer_by(BODIES["double"]), answer_by(BODIES["triple"], "triple")], tmp_path / "logs")
    assert [sample.scores["run_tests"].value for sample in log.samples] == ["C", "C"]
    asked = [sample.messages[0].text for sample in log.samples]
    assert ["double_it" in asked[0], "triple_it" in asked[1]] == [True, True]
    with pytest.raises(UsageError, match="name one, such as"):
        humaneval(data, context="func-pkg")
    with pytest.raises(UsageError, match="chooses among answers"):
        humaneval(data, context="reranked")


def test_inspect_finds_both_tasks_in_the_file() -> None:
    from inspect_ai import list_tasks

    from pkg.lab.evaluation import inspect_tasks

    folder = Path(inspect_tasks.__file__).parent
    assert {each.name for each in list_tasks("inspect_tasks.py", root_dir=folder)} == {"humaneval", "mbpp"}
