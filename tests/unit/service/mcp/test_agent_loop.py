"""A text model calls the tools, corrects invalid calls, and cites places from their answers."""

from __future__ import annotations

import asyncio
import json
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from pages import ROOT
from scripted_model import ScriptedModel
from shop_repository import SHOP
from trees import write_tree

import pkg
from pkg.service.graph_service import GraphService, ServiceOptions
from pkg.service.mcp.tool_server import ToolServer


@pytest.fixture(name="loop", scope="module")
def _loop() -> Any:
    spec = spec_from_file_location("agent_loop", ROOT / "examples" / "agent_loop.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["agent_loop"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(name="store")
def _store(tmp_path: Path) -> str:
    store = f"sqlite:///{tmp_path}/graph.db"
    pkg.build_graph(write_tree(tmp_path / "repo", SHOP), store=store)
    return store


def ask(loop: Any, store: str, model: ScriptedModel, *questions: dict[str, Any]) -> Any:
    def open_client() -> Client:
        return Client(ToolServer(GraphService(ServiceOptions(store))).make_server())

    return asyncio.run(loop.ask_all(open_client, model, questions, store))


def call(tool: str, **arguments: Any) -> str:
    return json.dumps({"tool": tool, "arguments": arguments})


def test_a_model_calls_tools_and_cites_places_from_their_answers(loop: Any, store: str) -> None:
    model = ScriptedModel(
        [
            "I look first.\n" + call("explore", text="how is the price of an item found"),
            call("deps", question="callers", name="find_price"),
            '{"answer": "By find_price, which adds the tax.", "places": ["shop/prices.py:8-10", "shop/orders.py:11"]}',
        ]
    )
    question = {"text": "how is the price found, and by whom?", "gold": ["shop/prices.py::find_price"]}
    (outcome,) = ask(loop, store, model, question)
    assert [each.partition(" ")[0] for each in outcome.calls] == ["explore", "deps"]
    assert outcome.places == ["shop/prices.py:8", "shop/orders.py:11"]
    assert outcome.unseen == []
    assert outcome.is_right is True
    told = [each.content for each in model.asked[-1]]
    assert "- explore(text, path?, budget?): How something works" in told[0]
    assert "def find_price(item):" in told[3]
    assert "shop/orders.py:11 Order.total" in told[5]


def test_a_model_is_told_about_invalid_calls(loop: Any, store: str) -> None:
    model = ScriptedModel(
        [
            call("grep", pattern="price"),
            call("show", symbol="find_price"),
            '{"tool": "show", "arguments": "find_price"}',
            call("show", name="find_price"),
            "It is at shop/prices.py:99, I think.",
        ]
    )
    (outcome,) = ask(loop, store, model, {"text": "where is the price found?"})
    assert [each.partition(" ")[0] for each in outcome.calls] == ["grep", "show", "show", "show"]
    assert outcome.unseen == ["shop/prices.py:99"]
    assert outcome.is_right is None
    told = [each.content for each in model.asked[-1]]
    assert "expected one of: explore" in told[3]
    assert "'symbol' is unknown" in told[5]
    assert "'name' is missing" in told[7]
    assert "Answer now" in told[9]


def test_a_model_that_never_answers_is_stopped(loop: Any, store: str) -> None:
    model = ScriptedModel([call("show", name="add_tax")])
    (outcome,) = ask(loop, store, model, {"text": "what?", "gold": ["shop/prices.py::add_tax"]})
    assert len(outcome.calls) == loop.MOST_CALLS + 1
    assert outcome.is_right is False


def test_all_questions_are_summed_up(loop: Any, store: str, capsys: pytest.CaptureFixture[str]) -> None:
    model = ScriptedModel(
        [call("show", name="add_tax"), '{"answer": "add_tax", "places": ["shop/prices.py:13"]}', "no idea"]
    )
    gold = ["shop/prices.py::add_tax"]
    outcomes = ask(loop, store, model, {"text": "who adds the tax?", "gold": gold}, {"text": "who else?", "gold": gold})
    summary = loop.sum_up(outcomes)
    assert (summary["questions"], summary["with_tools"], summary["with_seen_places"]) == (2, 1, 1)
    assert (summary["right"], summary["judged"], summary["requests"]) == (1, 2, 3)
    assert [json.loads(line)["question"] for line in capsys.readouterr().out.splitlines()] == [
        "who adds the tax?",
        "who else?",
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"tool": "show"}', {"tool": "show"}),
        ('```json\n{"tool": "show"}\n``` and {"tool": "deps"}', {"tool": "show"}),
        ('a {broken} one, then {"answer": "{"}', {"answer": "{"}),
        ("no object", None),
        ("[1, 2]", None),
    ],
)
def test_the_first_object_in_a_text_is_read(loop: Any, text: str, found: object) -> None:
    assert loop.read_json(text) == found
