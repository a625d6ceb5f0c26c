"""The tools over HTTP, for clients that use an allowed host, are no foreign page, and have the token."""

from __future__ import annotations

import asyncio
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_clients import PATIENCE, read_text
from shop_repository import SHOP
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from trees import write_tree

import pkg
from pkg.service.mcp.transports import guard_app
from pkg.service.web.web_access import WebHosts

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
HEADERS = {"accept": "application/json, text/event-stream"}


@pytest.fixture(name="address", scope="module")
def _address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = Path(tmp_path_factory.mktemp("shop"))
    store = f"sqlite:///{folder}/graph.db"
    pkg.build_graph(write_tree(folder / "repo", SHOP), store=store)
    command = [sys.executable, "-m", "pkg.cli", "mcp", "--store", store, "--http", "--port", "0"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stderr is not None
        told = process.stderr.readline().decode()
        found = re.search(r"http://\S+/mcp", told)
        assert found is not None, told
        yield found[0]
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, out, err) == (130, b"", b"pkg: interrupted\n")
    finally:
        process.kill()
        process.communicate()


def test_the_official_client_is_answered(address: str) -> None:
    async def ask() -> tuple[list[str], str]:
        async with Client(streamable_http_client(address)) as client:
            names = [each.name for each in (await client.list_tools()).tools]
            return names, read_text(await client.call_tool("show", {"name": "find_price"}))

    names, text = asyncio.run(asyncio.wait_for(ask(), PATIENCE))
    assert names == ["explore", "show", "deps", "rerank", "more"]
    assert "shop/prices.py:8-10  find_price" in text


def test_several_clients_are_answered_side_by_side(address: str) -> None:
    async def ask(number: int) -> str:
        async with Client(streamable_http_client(address)) as client:
            name = ("find_price", "add_tax")[number % 2]
            return read_text(await client.call_tool("show", {"name": name}))

    async def ask_all() -> list[str]:
        return await asyncio.gather(*map(ask, range(6)))

    texts = asyncio.run(asyncio.wait_for(ask_all(), PATIENCE))
    assert all(("find_price", "add_tax")[number % 2] in text for number, text in enumerate(texts))


@pytest.mark.parametrize(
    ("headers", "status", "said"),
    [
        ({"host": "evil.example"}, 403, "unknown host 'evil.example'"),
        ({"origin": "http://evil.example"}, 403, "are refused"),
        ({"origin": "null"}, 403, "are refused"),
        ({"sec-fetch-site": "cross-site"}, 403, "other sites"),
        ({"content-type": "text/plain"}, 400, "Content-Type"),
        ({"mcp-session-id": "../../etc/passwd"}, 404, "Session not found"),
    ],
)
def test_foreign_requests_are_refused(address: str, headers: dict[str, str], status: int, said: str) -> None:
    answer = httpx2.post(address, json=HELLO, headers=HEADERS | headers, timeout=PATIENCE)
    assert answer.status_code == status
    assert said in answer.text


@pytest.mark.parametrize("body", [b"no json", b"[]", b"{}", b"\xff", b"{" * 10_000])
def test_an_invalid_message_is_a_client_error(address: str, body: bytes) -> None:
    headers = HEADERS | {"content-type": "application/json"}
    answer = httpx2.post(address, content=body, headers=headers, timeout=PATIENCE)
    assert 400 <= answer.status_code < 500
    assert "Traceback" not in answer.text


def test_a_body_that_is_too_large_is_refused(address: str) -> None:
    headers = HEADERS | {"content-type": "application/json"}
    answer = httpx2.post(address, content=b" " * 5_000_000, headers=headers, timeout=PATIENCE)
    assert answer.status_code == 413


def test_a_disconnected_client_does_not_block_others(address: str) -> None:
    host, port = address.removeprefix("http://").removesuffix("/mcp").split(":")
    for sent in (b"", b"POST /mcp HTTP/1.1\r\nhost: ", b"GET /mcp HTTP/1.1\r\nhost: x\r\n\r\n"):
        with socket.create_connection((host, int(port))) as opened:
            opened.sendall(sent)
    test_the_official_client_is_answered(address)


def test_requests_without_a_required_token_are_refused() -> None:
    hosts = WebHosts(("192.0.2.7:8721",), has_programs=True)
    client = TestClient(guard_app(PlainTextResponse("in"), hosts, "t" * 32), base_url="http://192.0.2.7:8721")
    assert client.get("/mcp").status_code == 401
    assert client.get("/mcp", headers={"authorization": f"Bearer {'u' * 32}"}).status_code == 401
    assert client.get("/mcp", headers={"authorization": "Bearer"}).status_code == 401
    assert client.get("/mcp", headers={"authorization": f"bearer {'t' * 32}"}).text == "in"
    assert client.get("/mcp", headers={"authorization": f"Bearer {'t' * 32}", "host": "evil"}).status_code == 403
