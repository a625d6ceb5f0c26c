"""A query orders its best hits by questions that a model writes once for them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from click.testing import CliRunner, Result
from scripted_model import Answer, Asked, ScriptedModel

import pkg
from pkg.cli import main
from pkg.enhance import question_order
from pkg.errors import ModelError, UsageError

NAMES = ("carry", "fetch", "keep", "press", "shift")
CODE = "".join(f"def {name}(value):\n    return value.{name}()\n\n\n" for name in NAMES)
QUESTION = "where is juice made from oranges?"
MODEL = "gguf:coder.gguf"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PKG_STORE", f"sqlite:///{tmp_path / 'graph.db'}")
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "fruit.py").write_text(CODE)
    assert run("build", str(tmp_path / "code")).exit_code == 0
    return tmp_path


@pytest.fixture
def plain(place: Path) -> list[str]:
    """Return the functions in the order without questions."""
    return [each["qualname"] for each in ask()[:-1]]


@pytest.fixture
def model(plain: list[str], monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    """Register a model that asks for juice at the second best function."""

    def answer(asked: Asked) -> Answer:
        is_second = f"def {plain[1]}(" in asked[-1].content
        return "How is juice made from oranges?" if is_second else "How is a box moved away?"

    scripted = ScriptedModel(answer)
    for module in ("question_order", "enhancement_session"):
        monkeypatch.setattr(f"pkg.enhance.{module}.open_model", lambda name: scripted)
    return scripted


@pytest.fixture
def graph(place: Path) -> Iterator[pkg.Graph]:
    with pkg.open_graph() as graph:
        yield graph


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def ask(*words: str) -> list[dict[str, Any]]:
    done = run("query", QUESTION, "--mode", "function", "-k", "5", "--no-floor", "--json", *words)
    assert done.exit_code == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def notes_of(lines: list[dict[str, Any]]) -> list[str]:
    return [note for note in lines[-1]["notes"] if "questions" in note]


def test_the_hit_whose_questions_match_comes_first_and_questions_are_written_once(
    plain: list[str], model: ScriptedModel
) -> None:
    lines = ask("--rerank-hits", "questions", "--model", MODEL)
    assert [each["qualname"] for each in lines[:-1]] == [plain[1], plain[0], *plain[2:]]
    assert notes_of(lines) == [f"questions of 5 functions of the best 15 candidates by {MODEL}: 5 written"]
    assert notes_of(ask("--rerank-hits", f"questions:{MODEL}"))[0].endswith(": 5 cached")
    assert len(model.asked) == 5


def test_the_graph_is_only_read_and_its_own_questions_are_used_first(plain: list[str], model: ScriptedModel) -> None:
    before = run("export", "--vectors").stdout
    ask("--rerank-hits", f"questions:{MODEL}")
    assert run("export", "--vectors").stdout == before
    report = json.loads(run("enhance", "--questions", "--model", MODEL, "--json").stdout.splitlines()[-1])
    assert (report["written"], report["asked"]) == (5, 0)  # from the cache
    lines = ask("--rerank-hits", "questions:gguf:other.gguf")
    assert lines[0]["qualname"] == plain[1]
    assert notes_of(lines)[0].endswith(": 5 stored")


def test_stored_questions_find_and_order_hits_of_every_query(plain: list[str], model: ScriptedModel) -> None:
    model.answers = lambda asked: QUESTION if f"def {plain[-1]}(" in asked[-1].content else "How is a box moved away?"
    assert run("enhance", "--questions", "--model", MODEL).exit_code == 0
    lines = ask()
    assert lines[0]["qualname"] == plain[-1]
    assert notes_of(lines) == []
    assert run("enhance", "--questions", "--undo", "scripted").exit_code == 0
    assert [each["qualname"] for each in ask()[:-1]] == plain


def test_failures_are_counted_and_keep_their_place(plain: list[str], model: ScriptedModel) -> None:
    answers = model.answers
    assert callable(answers)
    model.answers = lambda asked: "No." if f"def {plain[-1]}(" in asked[-1].content else answers(asked)
    lines = ask("--rerank-hits", f"questions:{MODEL}")
    assert lines[0]["qualname"] == plain[1]
    first, second = notes_of(lines)
    assert first.endswith(": 4 written, 1 failed")
    assert second.startswith("no questions: no line of it")


def test_a_failing_model_costs_only_the_order(plain: list[str], model: ScriptedModel) -> None:
    model.answers = [ModelError("the service is down")]
    lines = ask("--rerank-hits", f"questions:{MODEL}")
    assert [each["qualname"] for each in lines[:-1]] == plain
    assert notes_of(lines)[1] == "no questions: the service is down"


def test_a_slow_service_is_not_awaited(plain: list[str], model: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    release = Event()
    answers = model.answers
    assert callable(answers)

    def answer(asked: Asked) -> Answer:
        if f"def {plain[-1]}(" in asked[-1].content:
            release.wait(60)
        return answers(asked)

    model.answers, model.parallel = answer, 8
    monkeypatch.setattr(question_order, "find_remote", lambda name: "https://far.example")
    monkeypatch.setattr(question_order, "SECONDS", 1.0)
    started = time.monotonic()
    lines = ask("--rerank-hits", f"questions:{MODEL}")
    release.set()
    assert time.monotonic() - started < 30
    assert lines[0]["qualname"] == plain[1]
    assert notes_of(lines)[0].endswith(": 4 written, 1 not written within 1 seconds")


def test_no_request_begins_after_the_time(model: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question_order, "SECONDS", 0.0)
    assert notes_of(ask("--rerank-hits", f"questions:{MODEL}"))[0].endswith(": 5 not written within 0 seconds")
    assert model.asked == []


def test_files_and_blocks_are_ordered_too(graph: pkg.Graph, model: ScriptedModel) -> None:
    blocks = [each.qualname for each in graph.query(QUESTION, mode="block", top_k=5, floor=False).hits]
    model.answers = lambda asked: QUESTION if f"def {blocks[1]}(" in asked[-1].content else "How is a box moved?"
    found = graph.query(QUESTION, mode="block", rerank_hits=f"questions:{MODEL}", floor=False)
    assert found.hits[0].qualname == blocks[1]
    assert graph.query(QUESTION, mode="file", rerank_hits=f"questions:{MODEL}").hits[0].path == "fruit.py"
    assert len(model.asked) == 5


def test_questions_need_a_model_and_functions(graph: pkg.Graph) -> None:
    assert run("query", QUESTION, "--rerank-hits", "questions").exit_code == 2
    assert run("query", QUESTION, "--model", MODEL).exit_code == 2
    for options in ({"rerank_hits": "questions"}, {"rerank_hits": f"questions:{MODEL}", "mode": "text"}):
        with pytest.raises(UsageError, match="questions"):
            graph.query(QUESTION, **options)  # type: ignore[arg-type]


def test_the_model_of_a_variable_is_used_with_questions_alone(
    model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PKG_MODEL", MODEL)
    assert notes_of(ask()) == []
    assert notes_of(ask("--rerank-hits", "questions"))[0].endswith("5 written")
