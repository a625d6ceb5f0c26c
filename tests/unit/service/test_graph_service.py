"""The service answers like the commands, and reports how fresh each answer is."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from scripted_model import ScriptedModel
from shop_repository import SHOP
from trees import remove_store, write_tree

import pkg
from pkg.cli import main
from pkg.errors import PkgError, QueryError, StoreMissingError, UsageError
from pkg.extract.discovery import discover
from pkg.extract.files import Discovery
from pkg.retrieval.token_count import count_tokens
from pkg.service.graph_service import GraphService, ServiceOptions
from pkg.service.operations.catalogue import OPERATIONS

ASKED: dict[str, dict[str, Any]] = {
    "explore": {"text": "how is the price of an item found"},
    "show": {"name": "find_price"},
    "deps": {"name": "find_price"},
    "impact": {"names": ["add_tax"]},
    "query": {"text": "add the tax to an amount"},
    "outline": {"path": "shop"},
    "map": {"path": "shop", "files": True},
    "stats": {},
}
COMMANDS: dict[str, list[str]] = {
    "explore": ["how is the price of an item found"],
    "show": ["find_price"],
    "deps": ["find_price"],
    "impact": ["add_tax"],
    "query": ["add the tax to an amount", "--budget", "1500"],
    "outline": ["shop", "--budget", "1500"],
    "map": ["shop", "--files"],
    "stats": [],
}


@pytest.fixture
def store(tmp_path: Path) -> str:
    address = f"sqlite:///{tmp_path}/graph.db"
    pkg.build_graph(write_tree(tmp_path / "repo", SHOP), store=address)
    return address


@pytest.fixture
def service(store: str) -> Iterator[GraphService]:
    opened = GraphService(ServiceOptions(store))
    yield opened
    opened.close()


@pytest.mark.parametrize("name", ASKED)
def test_an_operation_returns_the_lines_of_its_command(service: GraphService, name: str) -> None:
    written = CliRunner().invoke(main, [name, *COMMANDS[name], "--store", service.store, "--json"]).stdout
    given = [json.loads(json.dumps(line)) for line in service.run(name, ASKED[name]).lines]
    assert given == [json.loads(line) for line in written.splitlines()]


@pytest.mark.parametrize("name", ASKED)
def test_a_text_names_places_and_keeps_to_its_budget(service: GraphService, name: str) -> None:
    if name == "stats":
        return
    answer = service.run(name, {**ASKED[name], "budget": 60})
    assert count_tokens(answer.text) <= 60
    assert "shop/" in answer.text


def test_an_answer_names_what_it_leaves_out_and_how_to_get_it(service: GraphService) -> None:
    answer = service.run("show", {"name": "shop/orders.py", "budget": 30})
    assert answer.left_out
    assert "raise budget" in answer.to_text()
    assert not service.run("show", {"name": "shop/orders.py", "budget": 0}).left_out


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("query", {}, "'text' is missing"),
        ("query", {"text": "x", "topk": 3}, "'topk' is unknown"),
        ("query", {"text": ["x"]}, "'text': input should be a valid string, seen ['x']"),
        ("query", {"text": "x", "top_k": 0}, "'top_k': input should be greater than or equal to 1, seen 0"),
        ("query", {"text": "x", "mode": "everything"}, "seen 'everything'"),
        ("show", {"name": "x" * 5_000}, "xx..."),
        ("deps", {"question": "path", "name": "find_price"}, "a path has two ends"),
        ("drop", {}, "unknown operation 'drop'"),
    ],
)
def test_invalid_arguments_are_refused(service: GraphService, name: str, arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as fault:
        service.run(name, arguments)
    assert said in str(fault.value)
    assert len(str(fault.value)) < 500


def test_every_request_can_be_described() -> None:
    for operation in OPERATIONS.values():
        schema = operation.schema
        assert schema["additionalProperties"] is False, operation.name
        assert all(
            "type" in each or "anyOf" in each or "enum" in each for each in schema.get("properties", {}).values()
        )


def test_a_changed_file_is_reported(service: GraphService, tmp_path: Path) -> None:
    prices = tmp_path / "repo" / "shop" / "prices.py"
    prices.write_text(prices.read_text() + "\n# more\n")
    answer = service.run("show", {"name": "add_tax"})
    assert [each.path for each in answer.freshness.stale] == ["shop/prices.py"]
    assert "changed since the build: shop/prices.py" in answer.to_text()


def test_searches_report_added_files(service: GraphService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    walks = list[str]()

    def count_walk(path: str, *options: Any) -> Discovery:
        walks.append(path)
        return discover(path, *options)

    monkeypatch.setattr("pkg.extract.discovery.discover", count_walk)

    def list_added(name: str = "query", arguments: Mapping[str, Any] = {"text": "the price of an item"}) -> list[str]:
        return [each.path for each in service.run(name, arguments).freshness.stale if each.state == "added"]

    assert [list_added(), list_added()] == [[], []]
    assert len(walks) == 1  # no folder has changed
    write_tree(tmp_path / "repo", {"shop/deep/new.py": "def new():\n    pass\n", "shop/notes.bin": "no code"})
    assert [list_added(), list_added("explore")] == [["shop/deep/new.py"]] * 2
    assert len(walks) == 2
    assert "shop/deep/new.py (added)" in service.run("query", {"text": "price"}).to_text()
    (tmp_path / "repo/shop/deep/new.py").unlink()
    assert list_added() == []
    write_tree(tmp_path / "repo", {"shop/later.py": "def later():\n    pass\n"})
    assert list_added("prompt") == ["shop/later.py"]
    pkg.build_graph(tmp_path / "repo", store=service.store)
    assert list_added() == []


def test_a_file_that_parsed_only_in_part_is_reported(store: str, tmp_path: Path) -> None:
    (tmp_path / "repo" / "shop" / "broken.py").write_text("def whole():\n    return 1\n\n\ndef half(:\n")
    pkg.build_graph(tmp_path / "repo", store=store)
    answer = GraphService(ServiceOptions(store)).run("query", {"text": "the price of an item"})
    assert answer.freshness.partial == 1
    assert "what is not found may be in one of these" in answer.to_text()


def test_a_missing_graph_is_a_state_and_no_answer(tmp_path: Path) -> None:
    service = GraphService(ServiceOptions(f"sqlite:///{tmp_path}/none.db"))
    status = service.run("status", {})
    assert status.freshness.is_empty
    assert "pkg build" in status.to_text()
    with pytest.raises(StoreMissingError):
        service.run("explore", {"text": "anything"})
    assert not list(tmp_path.iterdir())


def test_a_rebuilt_store_is_used(service: GraphService, tmp_path: Path) -> None:
    assert service.run("show", {"name": "add_tax"}).freshness.generation == 1
    remove_store(tmp_path / "graph.db")
    with pytest.raises(StoreMissingError):
        service.run("show", {"name": "add_tax"})
    write_tree(tmp_path / "other", {"tea.py": "def brew():\n    return 1\n"})
    pkg.build_graph(tmp_path / "other", store=service.store)
    assert "tea.py:1" in service.run("show", {"name": "brew"}).text
    with pytest.raises(QueryError):
        service.run("show", {"name": "add_tax"})


def test_concurrent_questions_are_answered_during_a_build(store: str, tmp_path: Path) -> None:
    service = GraphService(ServiceOptions(store, allow_build=True))
    prices = tmp_path / "repo" / "shop" / "prices.py"

    def ask(number: int) -> str:
        if number % 10 == 0:
            written = prices.with_suffix(f".{number}")  # replaced atomically, as a build may read it
            written.write_text(f"{SHOP['shop/prices.py']}\n\ndef added_{number}():\n    return {number}\n")
            written.replace(prices)
            return service.run("build", {}).text
        return service.run(*list(ASKED.items())[number % len(ASKED)]).text

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(60)))
    assert all(answers)
    assert service.run("status", {}).freshness.generation > 1


def test_a_build_needs_permission(service: GraphService) -> None:
    with pytest.raises(UsageError, match="--allow-build"):
        service.run("build", {})


def test_a_service_of_one_source_answers_about_no_other(store: str, tmp_path: Path) -> None:
    pkg.build_graph(write_tree(tmp_path / "tea", {"tea.py": "def brew():\n    return 1\n"}), store=store)
    service = GraphService(ServiceOptions(store, source="tea"))
    assert "tea.py" in service.run("show", {"name": "brew"}).text
    assert [each["name"] for each in service.run("status", {}).lines[0]["sources"]] == ["tea"]
    for name, arguments in ASKED.items():
        if name == "stats":
            continue
        try:
            text = service.run(name, arguments).text
        except PkgError as fault:
            text = str(fault)
        assert "shop/" not in text, name
    with pytest.raises(UsageError, match="not served here"):
        service.run("query", {"text": "price", "source": "repo"})


def test_a_service_of_one_source_counts_no_other(store: str, tmp_path: Path) -> None:
    half = {"tea.py": "def brew():\n    return 1\n", "cup.py": "def fill(:\n"}
    alone = f"sqlite:///{tmp_path}/alone.db"
    for address in (store, alone):
        pkg.build_graph(write_tree(tmp_path / "tea", half), store=address)
    beside = GraphService(ServiceOptions(store, source="tea"))
    only, whole = GraphService(ServiceOptions(alone)), GraphService(ServiceOptions(store))
    for name, counts in (("status", ("nodes", "partial", "skipped")), ("stats", ("nodes", "relations", "partial"))):
        said, expected, everything = (each.run(name, {}).lines[0] for each in (beside, only, whole))
        assert {count: said[count] for count in counts} == {count: expected[count] for count in counts}
        assert said["nodes"] != everything["nodes"]
    assert "2 File" in beside.run("status", {}).text
    assert "repo" not in beside.run("stats", {}).text
    assert GraphService(ServiceOptions(store, source="repo")).run("status", {}).freshness.partial == 0
    assert beside.run("status", {}).freshness.partial == 1


def test_a_model_writes_the_answer_piece_by_piece(store: str) -> None:
    text = "An item's price has the tax added by add_tax [1]."
    service = GraphService(ServiceOptions(store, model=ScriptedModel([text])))
    told = list[str]()
    answer = service.stream_answer({"question": "how is the price of an item found?"}, told.append)
    assert "".join(told) == text
    assert answer.lines[-1]["type"] == "answer"
    assert "shop/prices.py:" in answer.text


def test_without_a_model_a_question_returns_its_evidence(service: GraphService) -> None:
    answer = service.run("ask", {"question": "how is the price of an item found?"})
    assert answer.lines[0]["type"] == "evidence"
    assert "def find_price" in answer.text


def test_the_best_of_several_candidates_is_chosen(service: GraphService) -> None:
    right, wrong = "def double(n):\n    return n * 2\n", "def double(n):\n    return n + 2\n"
    asked = {"query": "Write double(n).", "candidates": [wrong, right], "examples": ["double(3) == 6"]}
    answer = service.run("rerank", asked)
    assert answer.lines[0]["chosen"] == 1
    assert answer.text.startswith("chosen: candidate 1")


def test_a_map_is_read_once_per_generation_and_reports_changed_files(store: str, tmp_path: Path) -> None:
    with_map = GraphService(ServiceOptions(store))
    first = with_map.run("map", {"files": True})
    (tmp_path / "repo" / "shop" / "orders.py").write_text("import shop.prices\n", encoding="utf-8")
    stale = with_map.run("map", {"files": True})
    assert stale.lines[:-1] == first.lines[:-1]
    assert [each.path for each in stale.freshness.stale] == ["shop/orders.py"]
    pkg.build_graph(tmp_path / "repo", store=store)
    built = with_map.run("map", {"files": True})
    assert built.freshness.stale == ()
    assert built.lines != first.lines


def test_an_outline_is_cached_and_reports_changed_files(service: GraphService, tmp_path: Path) -> None:
    first = service.run("outline", {"path": "shop"})
    (tmp_path / "repo" / "shop" / "orders.py").write_text("import shop.prices\n", encoding="utf-8")
    again = service.run("outline", {"path": "shop"})
    assert again.text == first.text
    assert [each.path for each in again.freshness.stale] == ["shop/orders.py"]
    assert [line["is_stale"] for line in again.lines if line.get("path") == "shop/orders.py"] == [True]


def test_the_cache_of_a_graph_is_not_used_for_its_replacement(service: GraphService, tmp_path: Path) -> None:
    old = service.run("outline", {"path": "shop/prices.py"})
    remove_store(tmp_path / "graph.db")
    prices = tmp_path / "repo" / "shop" / "prices.py"
    prices.write_text(prices.read_text().replace("add_tax", "put_tax_on"))
    pkg.build_graph(tmp_path / "repo", store=service.store)
    new = service.run("outline", {"path": "shop/prices.py"})
    assert new.freshness.generation == old.freshness.generation
    assert new.freshness.graph != old.freshness.graph
    assert "put_tax_on" in new.text
    assert "put_tax_on" not in old.text


def test_rerank_needs_no_graph(tmp_path: Path) -> None:
    (tmp_path / "graph.db").write_bytes(b"no store at all" * 100)
    service = GraphService(ServiceOptions(f"sqlite:///{tmp_path}/graph.db"))
    answer = service.run("rerank", {"query": "Write one().", "candidates": ["def one():\n    return 1\n"]})
    assert "empty" not in answer.to_text()


def test_a_service_of_a_missing_source_is_empty_and_names_no_other(store: str) -> None:
    service = GraphService(ServiceOptions(store, source="tea"))
    status = service.run("status", {})
    assert (status.lines[0]["ready"], status.freshness.is_empty) == (False, True)
    assert "repo" not in json.dumps(service.run("stats", {}).lines)
