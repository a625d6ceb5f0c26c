"""`pkg serve` as a process, on real sockets: many, slow and vanishing clients, huge bodies, and its end."""

from __future__ import annotations

import json
import socket
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import httpx2 as httpx
import pytest
from serve_process import ServeProcess, start_serve
from shop_repository import SHOP
from trees import write_tree

import pkg

QUESTION = {"text": "how is the price of an item found"}
CLIENTS = 200
PATIENCE = 60


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServeProcess]:
    folder = tmp_path_factory.mktemp("serve")
    pkg.build_graph(write_tree(folder / "repo", SHOP), store=f"sqlite:///{folder}/graph.db")
    with start_serve(folder, "--store", f"sqlite:///{folder}/graph.db") as started:
        yield started


def connect(serve: ServeProcess) -> socket.socket:
    place = urlsplit(serve.address)
    return socket.create_connection((place.hostname or "", place.port or 0), timeout=PATIENCE)


def make_head(serve: ServeProcess, length: int) -> bytes:
    host = urlsplit(serve.address).netloc
    lines = ["POST /v1/query HTTP/1.1", f"host: {host}", "content-type: application/json", f"content-length: {length}"]
    return "\r\n".join([*lines, "", ""]).encode()


def count_in_work(serve: ServeProcess) -> float:
    """Return the number of other running and waiting requests."""
    text = httpx.get(f"{serve.address}/metrics").text
    lines = [
        line for line in text.splitlines() if line.startswith(("pkg_requests_in_flight ", "pkg_requests_waiting "))
    ]
    assert len(lines) == 2, text
    return sum(float(line.split()[-1]) for line in lines)


def test_two_hundred_clients_at_once_are_all_answered(serve: ServeProcess) -> None:
    def ask(number: int) -> tuple[int, bool]:
        found = connections.post(f"{serve.address}/v1/query", json=QUESTION)
        return found.status_code, "shop/prices.py" in found.text

    limits = httpx.Limits(max_connections=CLIENTS)
    with httpx.Client(timeout=PATIENCE, limits=limits) as connections, ThreadPoolExecutor(CLIENTS) as pool:
        assert Counter(pool.map(ask, range(CLIENTS))) == {(200, True): CLIENTS}


def test_clients_that_disconnect_early_leave_no_work(serve: ServeProcess) -> None:
    body = json.dumps(QUESTION).encode()
    for _ in range(50):
        with connect(serve) as client:
            client.sendall(make_head(serve, len(body)) + body)
    end = time.monotonic() + PATIENCE
    while count_in_work(serve):
        assert time.monotonic() < end
        time.sleep(0.05)
    assert httpx.post(f"{serve.address}/v1/query", json=QUESTION).status_code == 200
    assert "Traceback" not in serve.told


def test_a_huge_body_is_refused_before_it_is_read(serve: ServeProcess) -> None:
    with connect(serve) as client:
        client.sendall(make_head(serve, 10**12) + b"{")
        said = b"".join(iter(lambda: client.recv(100_000), b"")).decode()  # until it is closed
    assert said.startswith("HTTP/1.1 413")
    assert "4,000,000" in said


@pytest.mark.slow
def test_slow_clients_are_cut_off_without_delaying_others(serve: ServeProcess) -> None:
    with connect(serve) as head, connect(serve) as body:
        head.sendall(b"POST /v1/query HTTP/1.1\r\nhost:")
        body.sendall(make_head(serve, 100) + b'{"text": ')
        assert httpx.post(f"{serve.address}/v1/query", json=QUESTION).status_code == 200
        assert head.recv(1_000) == b""  # closed
        assert body.recv(100_000).startswith(b"HTTP/1.1 408")


def test_ctrl_c_ends_it_at_once_without_a_traceback_even_while_a_client_waits(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/graph.db"
    pkg.build_graph(write_tree(tmp_path / "repo", SHOP), store=store)
    with start_serve(tmp_path, "--store", store) as serve, connect(serve) as client:
        client.sendall(make_head(serve, 100) + b'{"text": ')  # and no more
        time.sleep(0.2)
        began = time.monotonic()
        assert serve.interrupt() == 0
        assert time.monotonic() - began < PATIENCE / 2
        assert "Traceback" not in serve.told
