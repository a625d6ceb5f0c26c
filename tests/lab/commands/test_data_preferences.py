"""`pkg data pairs` and `references`: files that belong together, and refusals that leave them unchanged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from scripted_model import ScriptedModel

from pkg.cli import main
from pkg.models import registry


def make_record(number: int, ratings: tuple[int | None, ...] = (5, 2), preference: str = "style") -> dict[str, Any]:
    models = [f"m{place}" for place in range(len(ratings))]
    return {
        "id": str(number), "instruction": f"Write function {number}.", "preference": preference, "models": models,
        "responses": [{"model": model, "response": f"{model} {number}", "is_cut": False} for model in models],
        "annotations": [{"model": model, "rating": rating} for model, rating in zip(models, ratings, strict=True)],
    }  # fmt: skip


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["data", *words])


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return str(path)


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_pairs_and_bench_share_no_instruction_in_this_run_or_the_next(folder: Path) -> None:
    write(folder / "records.jsonl", [make_record(number) for number in range(8)])
    done = run("pairs", "records.jsonl", "--hold-out", "3", "--bench", "bench.jsonl", "-o", "pairs.jsonl")
    assert done.exit_code == 0, done.output
    assert "dropped: 3 an instruction of the bench" in done.stderr
    bench = read(folder / "bench.jsonl")
    assert (len(bench), len(read(folder / "pairs.jsonl"))) == (3, 5)

    write(folder / "records.jsonl", [make_record(number) for number in range(30)])
    assert run("pairs", "records.jsonl", "--bench", "bench.jsonl", "-o", "pairs.jsonl").exit_code == 0
    assert read(folder / "bench.jsonl") == bench
    trained = {row["prompt"][0]["content"] for row in read(folder / "pairs.jsonl")}
    assert len(trained) == 27
    assert trained.isdisjoint(row["instruction"] for row in bench)


def test_records_without_a_pair_are_an_error_with_the_reasons(folder: Path) -> None:
    write(folder / "records.jsonl", [make_record(0, (3, 3)), make_record(1, (None, 2)), make_record(2, (4,))])
    done = run("pairs", "records.jsonl", "--hold-out", "0", "--bench", "bench.jsonl", "-o", "pairs.jsonl")
    assert done.exit_code == 1
    for told in ("1 with equal ratings", "1 with one answer alone", "1 with fewer than two ratings"):
        assert told in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["records.jsonl"]


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (("records.jsonl", "--hold-out", "3"), 2, "add --bench FILE"),
        (("records.jsonl", "--bench", "none.jsonl"), 1, "cannot read none.jsonl"),
        (("records.jsonl", "--hold-out", "1", "--bench", "a.jsonl", "-o", "./a.jsonl"), 2, "expected two files"),
        (("other.jsonl",), 1, "no record in other.jsonl"),
    ],
)
def test_pairs_refuse(folder: Path, words: tuple[str, ...], status: int, told: str) -> None:
    write(folder / "records.jsonl", [make_record(0)])
    write(folder / "other.jsonl", [{"instruction": "x"}])
    done = run("pairs", *words)
    assert (done.exit_code, told in done.stderr) == (status, True), done.output


def test_references_are_added_once_and_cut_ones_are_dropped(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = ScriptedModel(lambda asked: "word " * 9 if " 1." in asked[-1].content else "def f(): pass")
    monkeypatch.setattr(registry, "open_model", lambda name: model)
    rows = [{"id": str(n), "instruction": f"Write {n}.", "preference": "style"} for n in range(3)]
    write(folder / "bench.jsonl", rows)
    words = ("references", "bench.jsonl", "--model", "gguf:large", "--max-tokens", "5", "-o", "out.jsonl")
    (estimate,) = [json.loads(line) for line in run(*words, "--estimate", "--json").stdout.splitlines()]
    assert estimate["requests"] == 3
    done = run(*words)
    assert done.exit_code == 0, done.output
    found = read(folder / "out.jsonl")
    assert [(row["id"], row["reference"], row["reference_model"]) for row in found] == [
        ("0", "def f(): pass", "gguf:large"), ("2", "def f(): pass", "gguf:large")
    ]  # fmt: skip
    assert "1 a reference that is cut at --max-tokens" in done.stderr
    asked = len(model.asked)
    assert run(*words).exit_code == 0
    assert len(model.asked) == asked
