"""`pkg build --reader model` with a service that answers in prose, without an end, or knows no schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from text_server import Body, Reply, TextServer, refuse, serve_texts, stream
from trees import write_tree

from pkg.cli import main

pytestmark = [pytest.mark.model, pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")]

DOCUMENTS = {"good.md": "# Lists\n\nappend adds an item.\n", "bad.md": "# Bad\n\nNothing but prose.\n"}
GOOD = json.dumps({"Lists": {"append": "append adds an item."}})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[TextServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-key-of-the-test")
    with serve_texts() as running:
        yield running


def build(folder: Path, server: TextServer) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Build the documents; return the report, the statistics of the graph, and the messages."""
    store = f"sqlite:///{folder / 'graph.db'}"
    docs = write_tree(folder / "docs", DOCUMENTS)
    model = ["--reader", "model", "--model", f"openai:m@{server.url}"]
    built = CliRunner().invoke(main, ["build", str(docs), *model, "--store", store])
    assert built.exit_code == 0, built.output
    stats = CliRunner().invoke(main, ["stats", "--store", store])
    return json.loads(built.stdout), json.loads(stats.stdout), built.stderr


@pytest.mark.parametrize(
    "bad",
    [
        stream(["I would rather ", "tell a story."]),
        stream(["and so on "] * 2_000, "length"),  # ended by the limit of tokens
        stream([""]),
    ],
)
def test_an_answer_without_json_is_counted_and_costs_its_document_alone(
    tmp_path: Path, server: TextServer, bad: Reply
) -> None:
    server.always = lambda body: stream([GOOD]) if "append" in body["messages"][-1]["content"] else bad
    report, stats, said = build(tmp_path, server)
    assert (report["written"], report["errors"], stats["nodes"]["Fact"], stats["fact_relations"]) == (2, [], 2, 1)
    (partial,) = stats["partial"]
    assert partial["path"] == "bad.md"
    assert partial["reason"].endswith("wrote no JSON of 1 piece, the first at byte 0")
    assert "wrote JSON of 1 of 2 pieces" in said
    assert {each["max_tokens"] for each in server.requests} == {2_000}
    assert len(server.requests) == 3  # the bad one is asked twice


def test_json_without_an_end_is_repaired(tmp_path: Path, server: TextServer) -> None:
    server.always = lambda body: stream(['{"Lists": {"append": "append adds', ' an item.", "more'], "length")
    _, stats, said = build(tmp_path, server)
    assert (stats["partial"], stats["nodes"]["Fact"]) == ([], 4)
    assert "wrote JSON of 2 of 2 pieces" in said


def test_a_service_that_refuses_a_schema_is_asked_without_one(tmp_path: Path, server: TextServer) -> None:
    def answer(body: Body) -> Reply:
        return refuse(400, "response_format is not supported") if "response_format" in body else stream([GOOD])

    server.always = answer
    _, stats, said = build(tmp_path, server)
    assert stats["nodes"]["Fact"] == 4
    assert "wrote JSON of 2 of 2 pieces" in said
    assert [("response_format" in each) for each in server.requests] == [True, False, False]
    assert server.requests[0]["response_format"]["json_schema"]["schema"]["type"] == "object"
