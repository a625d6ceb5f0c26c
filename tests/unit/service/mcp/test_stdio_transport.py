"""The server over standard input and output, which carries only protocol messages."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp_clients import PATIENCE, ask_process, read_text
from mcp_types import JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError
from shop_repository import SHOP
from trees import write_tree

import pkg
from pkg.service.mcp.transports import make_error

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


@pytest.fixture(name="store", scope="module")
def _store(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = Path(tmp_path_factory.mktemp("shop"))
    store = f"sqlite:///{folder}/graph.db"
    pkg.build_graph(write_tree(folder / "repo", SHOP), store=store)
    return store


class Server:
    """A running `pkg mcp` with line-based input and output; calls are numbered from 2."""

    def __init__(self, *words: str) -> None:
        self.number = 1
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pkg.cli", "mcp", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def send(self, *messages: Mapping[str, Any] | bytes) -> None:
        assert self.process.stdin is not None
        for each in messages:
            self.process.stdin.write((each if isinstance(each, bytes) else json.dumps(each).encode()) + b"\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line: dict[str, Any] = json.loads(self.process.stdout.readline())
        return line

    def greet(self) -> dict[str, Any]:
        self.send(HELLO)
        answer = self.read()
        self.send(READY)
        return answer

    def ask(self, method: str, params: Mapping[str, Any]) -> int:
        """Send a request and return its number."""
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        return self.number

    def call(self, tool: str, **arguments: Any) -> str:
        number = self.ask("tools/call", {"name": tool, "arguments": arguments})
        answer = self.read()
        assert answer["id"] == number
        text: str = answer["result"]["content"][0]["text"]
        return text


@contextmanager
def start(*words: str) -> Iterator[Server]:
    server = Server(*words)
    try:
        yield server
    finally:
        server.process.kill()
        server.process.wait()
        for stream in (server.process.stdin, server.process.stdout, server.process.stderr):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()


@pytest.fixture(name="shared", scope="module")
def _shared(store: str) -> Iterator[Server]:
    """Start a server for all tests that leave it running, and greet it."""
    with start("--store", store) as server:
        server.greet()
        yield server


def test_the_official_client_is_answered(store: str) -> None:
    async def ask(client: Client) -> list[str]:
        names = [each.name for each in (await client.list_tools()).tools]
        return [*names, read_text(await client.call_tool("explore", {"text": "how is the price found"}))]

    *names, text = ask_process(["--store", store], ask)
    assert names == ["explore", "show", "deps", "rerank", "more"]
    assert "shop/prices.py:8-10  find_price" in text


def test_a_client_of_an_older_version_is_answered(store: str) -> None:
    with start("--store", store) as server:
        answer = server.greet()["result"]
        assert answer["protocolVersion"] == "2025-06-18"
        assert answer["serverInfo"]["name"] == "pkg"
        assert set(answer["capabilities"]) <= {"tools", "experimental"}
        assert "find_price" in server.call("show", name="find_price")


def test_an_invalid_line_does_not_stop_the_next_message(shared: Server) -> None:
    shared.send(b"no json", b"\xff\xfe", b"[]", b'{"jsonrpc": "2.0"}', b"{" * 5_000, b'"' + b"x" * 1_000_000)
    number = shared.ask("tools/drop", {})
    answers = [shared.read()]
    while answers[-1].get("id") != number:
        answers.append(shared.read())
    assert "error" in answers[-1]
    assert all("error" in each for each in answers)
    shared.ask("tools/call", {"name": 3, "arguments": []})
    assert shared.read()["error"]["code"] == -32602
    assert "add_tax" in shared.call("show", name="add_tax")


@pytest.mark.parametrize(
    ("line", "number", "code"),
    [
        (rb'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"explore","arguments":{"text":"\ud800"}}}',
         2, -32700),
        (rb'{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"\udfff"}}', "a", -32700),
        (rb'{"jsonrpc":"2.0","id":"\ud800","method":"tools/list"}', None, -32700),
        (b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"na', None, -32700),
        (b'{"jsonrpc":"2.0","id":4,"method":"tools/call","params":[]}', 4, -32600),
        (b'{"jsonrpc":"2.0"}', None, -32600),
        (b"[]", None, -32600),
    ],
)  # fmt: skip
def test_an_invalid_line_is_answered_with_an_error(line: bytes, number: int | str | None, code: int) -> None:
    answer = _find_error(line)
    assert answer is not None
    assert (answer.id, answer.error.code) == (number, code)
    assert "expected one JSON-RPC 2.0 message" in answer.error.message
    assert answer.model_dump_json()


@pytest.mark.parametrize("line", [b"", b" \r", rb'{"jsonrpc":"2.0","id":2,"result":{"a":"\ud800"}}'])
def test_an_empty_line_and_a_response_have_no_answer(line: bytes) -> None:
    assert _find_error(line) is None


def _find_error(line: bytes) -> JSONRPCError | None:
    with pytest.raises(ValidationError) as caught:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    return make_error(caught.value)


def test_a_lone_surrogate_is_refused_in_all_arguments(shared: Server) -> None:
    refused = shared.ask("tools/call", {"name": "explore", "arguments": {"text": "\ud800 tax"}})
    listed = shared.ask("tools/list", {})
    answer = shared.read()
    assert (answer["id"], "error" in answer) == (refused, True)
    assert shared.read()["id"] == listed
    nested = json.dumps({"text": "\ud800 tax"})  # the object as a string, as some clients send it
    assert "a valid string" in shared.call("more", operation="explore", arguments=nested)
    assert "add_tax" in shared.call("show", name="add_tax")


def test_arguments_of_any_size_are_answered(shared: Server) -> None:
    text = shared.call("explore", text="x" * 3_000_000)
    assert "at most 20000 characters" in text
    assert len(text) < 500
    assert "add_tax" in shared.call("show", name="add_tax")


def test_a_cancelled_call_has_no_answer_and_does_not_block_others(shared: Server) -> None:
    endless = "while True:\n    pass\n"
    arguments = {"query": "Write double(n).", "candidates": [endless], "examples": ["double(3) == 6"]}
    number = shared.ask("tools/call", {"name": "rerank", "arguments": arguments})
    time.sleep(0.5)
    shared.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
    begun = time.monotonic()
    assert "add_tax" in shared.call("show", name="add_tax")
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize("missing", ["mcp", "pydantic"])
def test_a_missing_package_is_reported_with_the_install_command(missing: str) -> None:
    program = f"import sys; sys.modules['{missing}'] = None; from pkg.cli import main; main(['mcp'])"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode == 1
    assert run.stdout == ""
    assert run.stderr.startswith(f"pkg: the server for agents needs the package '{missing}'")
    assert "service" in run.stderr
    assert run.stderr.count("\n") == 1


def test_it_ends_when_the_client_has_gone(store: str) -> None:
    with start("--store", store) as server:
        server.greet()
        server.call("show", name="add_tax")
        assert server.process.stdin is not None
        server.process.stdin.close()
        assert server.process.wait(PATIENCE) == 0


@pytest.mark.skipif(os.name != "posix", reason="pipes break otherwise elsewhere")
def test_it_ends_when_its_output_is_closed(store: str) -> None:
    with start("--store", store) as server:
        server.greet()
        assert server.process.stdout is not None
        server.process.stdout.close()
        with suppress(BrokenPipeError):
            for number in range(2, 50):
                server.send({"jsonrpc": "2.0", "id": number, "method": "tools/list"})
                time.sleep(0.05)
        assert server.process.wait(PATIENCE) == 0
        assert server.process.stderr is not None
        assert server.process.stderr.read() == b""


def test_it_ends_without_any_message(store: str) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "pkg.cli", "mcp", "--store", store], input=b"", capture_output=True, timeout=PATIENCE
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, b"", b"")


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is a signal here")
@pytest.mark.parametrize("is_greeted", [True, False])
def test_an_interrupt_ends_it_at_once(store: str, is_greeted: bool) -> None:
    with start("--store", store) as server:
        if is_greeted:
            server.greet()
        else:
            time.sleep(2)
        begun = time.monotonic()
        server.process.send_signal(signal.SIGINT)
        code = server.process.wait(PATIENCE)
        assert time.monotonic() - begun < 5
        assert server.process.stderr is not None
        said = server.process.stderr.read()
        if is_greeted:
            assert (code, said) == (130, b"pkg: interrupted\n")
        else:  # during the start it ends like any program
            assert code in (130, -signal.SIGINT)


def test_it_starts_without_a_graph_and_finds_one_that_is_built_later(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/graph.db"
    with start("--store", store) as server:
        server.greet()
        assert "pkg build" in server.call("explore", text="the price")
        pkg.build_graph(write_tree(tmp_path / "repo", SHOP), store=store)
        assert "find_price" in server.call("explore", text="the price")


def test_a_change_on_disk_is_built_while_agents_ask(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/graph.db"
    repo = write_tree(tmp_path / "repo", SHOP)
    pkg.build_graph(repo, store=store)
    with start("--store", store, "--watch") as server:
        server.greet()
        assert "add_duty" not in server.call("explore", text="the duty of an item")
        end, number, text = time.monotonic() + PATIENCE, 3, ""
        while "shop/duty.py:1-2  add_duty" not in text and time.monotonic() < end:
            write_tree(repo, {"shop/duty.py": f"def add_duty(item):\n    return item.price * {number}\n"})
            time.sleep(1)
            text, number = server.call("show", name="add_duty"), number + 1
        assert "shop/duty.py:1-2  add_duty" in text


def test_it_starts_with_watch_and_without_a_graph(tmp_path: Path) -> None:
    with start("--store", f"sqlite:///{tmp_path}/graph.db", "--watch") as server:
        server.greet()
        assert "pkg build" in server.call("explore", text="the price")


def test_printed_text_does_not_reach_the_client(shared: Server) -> None:
    noisy = "print('noise')\n\ndef double(n):\n    print('more noise')\n    return n * 2\n"
    text = shared.call("rerank", query="Write double(n).", candidates=[noisy], examples=["double(3) == 6"])
    assert "chosen: candidate 0" in text
