"""A model that is made and tuned once for all tests; they are skipped unless `make test-tuning` has installed torch."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from made_model import make_model, read_lines, run, write_repository

collect_ignore_glob = ["test_*.py"] if None in map(find_spec, ("torch", "trl", "peft")) else []

FULL = ("--set", "method=full", "--set", "learning_rate=3e-3", "--set", "epochs=6")


@pytest.fixture(autouse=True)
def one_thread(own_environment: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run models on one thread: more would spin while another test runs."""
    monkeypatch.setenv("PKG_MODEL_THREADS", "1")


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a repository, its graph and its question set into a folder."""
    folder = tmp_path_factory.mktemp("tuning")
    write_repository(folder / "kiosk")
    run("build", str(folder / "kiosk"), "--store", f"sqlite:///{folder}/graph.db")
    run("data", "dependencies", str(folder / "kiosk"), "-o", str(folder / "rows.jsonl"))
    run("data", "meta", str(folder / "kiosk"), "-o", str(folder / "meta.jsonl"))
    return folder


@pytest.fixture(scope="session")
def base(place: Path) -> Path:
    """Make an untrained model."""
    return make_model(place / "base", read_lines(place / "rows.jsonl"))


@pytest.fixture(scope="session")
def answering(place: Path, base: Path) -> Path:
    """Tune all weights of the model on the question set."""
    files = (str(place / "rows.jsonl"), str(place / "meta.jsonl"))
    run("tune", "sft", *files, "--model", f"hf:{base}", "--out", str(place / "answering"), *FULL)
    return place / "answering"


def shorten(answer: str) -> str:
    """Return an answer up to its first comma or parenthesis: the preference that a program checks."""
    return min(answer.partition(", ")[0], answer.partition(" (")[0], key=len).rstrip(".") + "."


@pytest.fixture(scope="session")
def pairs(place: Path) -> Path:
    """Write pairs whose shorter answer is preferred."""
    rows = [row for row in read_lines(place / "rows.jsonl") if len(shorten(row["answer"])) < len(row["answer"])]
    made = [{"prompt": row["question"], "chosen": shorten(row["answer"]), "rejected": row["answer"]} for row in rows]
    path = place / "pairs.jsonl"
    path.write_text("".join(json.dumps(pair) + "\n" for pair in made))
    return path


@pytest.fixture(scope="session")
def preferring(place: Path, answering: Path, pairs: Path) -> Path:
    """Tune an adapter on the preference."""
    more = ("--set", "epochs=3", "--set", "learning_rate=1e-3", "--set", "held_out=0.2")
    run("tune", "dpo", str(pairs), "--model", f"hf:{answering}", "--out", str(place / "preferring"), *more)
    return place / "preferring"
