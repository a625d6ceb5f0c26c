"""A graph over HTTP: the answers of the service, clear errors, and refusal of foreign requests."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from scripted_model import ScriptedModel
from shop_repository import SHOP
from starlette.testclient import TestClient
from trees import remove_store, write_tree

import pkg
from pkg.service.graph_service import GraphService, ServiceOptions
from pkg.service.http.http_access import HttpAccess
from pkg.service.http.http_options import HttpLimits
from pkg.service.http.service_app import make_app
from pkg.service.operations.catalogue import OPERATIONS
from pkg.service.web.web_access import BrowserAccess, WebHosts

HOST = "127.0.0.1:8720"
TOKEN = "a-token-of-the-tests"
PATIENCE = 30
QUESTION = {"text": "how is the price of an item found"}


@pytest.fixture
def store(tmp_path: Path) -> str:
    address = f"sqlite:///{tmp_path}/graph.db"
    pkg.build_graph(write_tree(tmp_path / "repo", SHOP), store=address)
    return address


def open_client(store: str, token: str | None = None, limits: HttpLimits | None = None, **options: Any) -> TestClient:
    access = HttpAccess(BrowserAccess[str](WebHosts((HOST,), has_programs=True), "serve"), token)
    app = make_app(GraphService(ServiceOptions(store, **options)), access, limits or HttpLimits(at_once=2))
    return TestClient(app, base_url=f"http://{HOST}")


@pytest.fixture
def client(store: str) -> TestClient:
    return open_client(store)


def test_an_answer_equals_that_of_the_service_and_marks_code_as_data(client: TestClient, store: str) -> None:
    answer = client.post("/v1/explore", json=QUESTION).json()
    expected = json.loads(json.dumps(GraphService(ServiceOptions(store)).run("explore", QUESTION).to_json()))
    assert answer["lines"] == expected["lines"]
    assert answer["text"] == expected["text"]
    assert answer["freshness"]["generation"] == 1
    assert "never instructions" in answer["notice"]
    assert client.get("/v1/explore", params=QUESTION).json() == answer


def test_lines_and_text_are_returned_on_request(client: TestClient) -> None:
    whole = client.post("/v1/query", json=QUESTION).json()
    lines = client.post("/v1/query", json=QUESTION, headers={"accept": "application/x-ndjson"}).text
    assert [json.loads(line) for line in lines.splitlines()] == whole["lines"]
    text = client.post("/v1/query", json=QUESTION, headers={"accept": "text/plain"}).text
    assert text.startswith(whole["text"].splitlines()[0])


@pytest.mark.parametrize(
    ("content", "headers", "status", "said"),
    [
        (b"{", {}, 400, "invalid JSON"),
        (b"[1]", {}, 400, "expected an object"),
        (b"\xff", {}, 400, "not UTF-8"),
        (b"[" * 100_000, {}, 400, "nested too deeply"),
        (b'{"text": NaN}', {}, 400, "NaN"),
        (b"{}", {}, 422, "'text' is missing"),
        (b'{"text": "x", "top_k": "3"}', {}, 422, "'top_k'"),
        (b'{"text": "x", "shell": "ls"}', {}, 422, "'shell' is unknown"),
        (b'{"text": "\\ud800"}', {}, 422, "hex escape"),
        (b'{"text": "x"}', {"content-type": "text/plain"}, 415, "expected application/json"),
        (b'{"text": "' + b"a" * 4_000_000 + b'"}', {}, 413, "longer than 4,000,000 bytes"),
    ],
    ids=range(11),
)
def test_an_invalid_body_is_refused_with_what_was_expected(
    client: TestClient, content: bytes, headers: dict[str, str], status: int, said: str
) -> None:
    refused = client.post("/v1/query", content=content, headers={"content-type": "application/json", **headers})
    assert refused.status_code == status
    assert refused.headers["content-type"] == "application/problem+json"
    assert said in refused.json()["detail"]
    assert "Traceback" not in refused.text


def test_an_unknown_path_or_method_is_answered_with_the_known_ones(client: TestClient) -> None:
    assert "explore" in client.get("/v1/rm").json()["detail"]
    refused = client.delete("/v1/query")
    assert (refused.status_code, refused.headers["content-type"]) == (405, "application/problem+json")
    assert client.get("/v1/rerank", params={"query": "f", "candidates": "def f(): pass"}).status_code == 405


@pytest.mark.parametrize("name", ["../../../../etc/passwd", "/etc/passwd", "shop/../../graph.db", "%2e%2e/graph.db"])
@pytest.mark.parametrize("operation", ["show", "outline"])
def test_no_file_outside_of_the_sources_is_shown(client: TestClient, operation: str, name: str) -> None:
    argument = "name" if operation == "show" else "path"
    refused = client.post(f"/v1/{operation}", json={argument: name})
    assert refused.status_code == 404
    assert "root:" not in refused.text


def test_a_build_is_refused_unless_allowed(client: TestClient, store: str) -> None:
    refused = client.post("/v1/build", json={})
    assert (refused.status_code, "--allow-build" in refused.json()["detail"]) == (403, True)
    allowed = open_client(store, allow_build=True)
    assert allowed.post("/v1/build", json={}).json()["operation"] == "build"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8720", "127.0.0.1", ""])
def test_a_foreign_host_name_is_refused(client: TestClient, host: str) -> None:
    for path in ("/", "/openapi.json", "/health", "/v1/status"):
        assert client.get(path, headers={"host": host}).status_code == 403


@pytest.mark.parametrize("headers", [{"origin": "http://evil.example"}, {"sec-fetch-site": "cross-site"}])
def test_a_foreign_page_is_refused(client: TestClient, headers: dict[str, str]) -> None:
    assert client.get("/v1/status", headers=headers).status_code == 403
    refused = client.post("/v1/query", json=QUESTION, headers=headers)
    assert refused.status_code == 403
    assert "access-control-allow-origin" not in refused.headers


def test_a_token_admits_programs_and_an_address_one_browser(store: str) -> None:
    browsers = BrowserAccess[str](WebHosts((HOST,), has_programs=True), "serve")
    app = make_app(GraphService(ServiceOptions(store)), HttpAccess(browsers, TOKEN))
    program, browser, other = (TestClient(app, base_url=f"http://{HOST}") for _ in range(3))
    for wrong in ({}, {"authorization": "Bearer x"}, {"authorization": f"Basic {TOKEN}"}):
        refused = program.post("/v1/query", json=QUESTION, headers=wrong)
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, 'Bearer realm="pkg"')
    assert program.get("/v1/status", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200
    assert program.get("/health").status_code == 200
    address = browsers.make_address("browser")
    assert browser.get(address).status_code == 200
    assert browser.get("/v1/status").status_code == 200
    assert other.get(address).status_code == 403


def test_a_question_is_answered_by_events_evidence_first(store: str) -> None:
    model = ScriptedModel(["find_price finds it in a table [1]."])
    client = open_client(store, model=model)
    asked = {"question": "how is the price of an item found"}
    told = client.post("/v1/ask", json=asked, headers={"accept": "text/event-stream"})
    assert told.headers["content-type"].startswith("text/event-stream")
    names = [line.removeprefix("event: ") for line in told.text.splitlines() if line.startswith("event: ")]
    assert names[:2] == ["notice", "evidence"]
    assert names[-1] == "answer"


def test_a_deleted_graph_is_reported_and_a_rebuilt_one_is_served(tmp_path: Path, store: str) -> None:
    client = open_client(store)
    assert client.get("/v1/status").json()["freshness"]["generation"] == 1
    remove_store(tmp_path / "graph.db")
    gone = client.post("/v1/query", json=QUESTION)
    assert (gone.status_code, gone.json()["kind"], "retry-after" in gone.headers) == (
        503,
        "StoreMissingError",
        True,
    )
    pkg.build_graph(tmp_path / "repo", store=store)
    assert client.post("/v1/query", json=QUESTION).status_code == 200


def test_a_missing_graph_is_not_ready(tmp_path: Path) -> None:
    client = open_client(f"sqlite:///{tmp_path}/none.db")
    assert client.get("/health").status_code == 503
    answer = client.get("/v1/status").json()
    assert answer["freshness"]["is_empty"]
    assert "pkg build" in answer["text"] + answer["freshness"]["note"]


def test_a_request_over_the_time_limit_is_answered_with_an_error(store: str) -> None:
    client = open_client(store, limits=HttpLimits(seconds=1e-6, at_once=1))
    refused = client.post("/v1/query", json=QUESTION)
    assert (refused.status_code, "--timeout" in refused.json()["detail"]) == (504, True)


class EndlessModel(ScriptedModel):
    """A model that writes until the callback raises."""

    pieces = 0
    ended: Exception | None = None

    def chat(self, messages: Any, decoding: Any, listen: Any = None) -> Any:
        end = time.monotonic() + PATIENCE
        try:
            while time.monotonic() < end:
                self.pieces += 1
                listen("more ")
                time.sleep(0.01)
        except Exception as fault:
            self.ended = fault
            raise
        raise AssertionError("it was not stopped")


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "text/event-stream"])
def test_a_model_stops_when_the_caller_has_gone(store: str, kind: str) -> None:
    model = EndlessModel(["no word"])
    client = open_client(store, model=model, limits=HttpLimits(seconds=1, stream_seconds=1, at_once=1))
    refused = client.post("/v1/ask", json={"question": QUESTION["text"]}, headers={"accept": kind})
    assert "not answered within 1 seconds" in refused.text
    end = time.monotonic() + PATIENCE
    while model.ended is None:
        assert time.monotonic() < end
        time.sleep(0.01)


def test_all_paths_are_described_and_counted(client: TestClient) -> None:
    described = client.get("/openapi.json").json()
    assert described["openapi"] == "3.1.0"
    assert {f"/v1/{name}" for name in OPERATIONS} < set(described["paths"])
    client.post("/v1/query", json=QUESTION)
    client.get("/v1/made-up")
    counted = client.get("/metrics").text
    assert 'pkg_requests_total{operation="query",status="200"} 1' in counted
    assert "made-up" not in counted
    assert "pkg_store_generation 1" in counted
