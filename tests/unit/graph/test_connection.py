"""Connections to a server: addresses, warnings without encryption, and errors."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from pkg.cli import main
from pkg.errors import StoreError, StoreVersionError, UsageError
from pkg.graph.neo4j import session
from pkg.graph.neo4j.address import SCHEMES, Address, is_exposed, parse_address
from pkg.graph.neo4j.session import check_version, open_driver, parse_version
from pkg.graph.opening import open_store

HTTP = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"
SERVER = Address("bolt://127.0.0.1:7687", None)


@contextmanager
def listening(answer: Callable[[socket.socket], object]) -> Iterator[str]:
    """Yield the address of a listener that answers every connection once and is not Neo4j."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with suppress(OSError):  # the listener is closed at the end
                while True:
                    client, _ = listener.accept()
                    with client:
                        answer(client)

        threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


def answer_as_web_page(client: socket.socket) -> None:
    client.recv(1024)
    client.sendall(HTTP)


def wait_for_the_end(client: socket.socket) -> None:
    while client.recv(1024):
        pass


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("place", ["localhost", "10.0.0.7:7687", "[::1]:7000", "graph.example"])
@pytest.mark.parametrize("database", [None, "code"])
def test_an_address_is_shown_unchanged(scheme: str, place: str, database: str | None) -> None:
    address = f"{scheme}://{place}" + (f"/{database}" if database else "")
    assert parse_address(address) == Address(f"{scheme}://{place}", database)
    assert str(parse_address(address)) == address


def test_the_database_comes_from_the_environment_where_the_address_names_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PKG_NEO4J_DATABASE", "code")
    assert parse_address("neo4j://host").database == "code"
    assert parse_address("neo4j://host/other").database == "other"


@pytest.mark.parametrize("address", ["neo4j://", "bolt://host:port", "bolt://host:99999", "https://host", "neo4j:host"])
def test_an_invalid_address_is_refused(address: str) -> None:
    with pytest.raises(StoreError, match=r"not valid; expected neo4j://host\[:port\]\[/database\]"):
        parse_address(address)


def test_the_system_database_is_refused() -> None:
    with pytest.raises(StoreError, match=r"'system' of bolt://host holds no graphs; expected another"):
        parse_address("bolt://host/system")


@given(st.text("abcxyz0189!$&'()*+,;=%:", min_size=1), st.sampled_from(["host", "host:x", ""]))
def test_a_password_in_an_address_is_refused_and_not_repeated(password: str, place: str) -> None:
    with pytest.raises((UsageError, StoreError)) as caught:
        parse_address(f"neo4j://me:secret{password}@{place}")
    assert "secret" not in str(caught.value)
    assert "***@" in str(caught.value)


@pytest.mark.parametrize(
    ("address", "exposed"),
    [
        ("neo4j://localhost", False), ("bolt://127.0.0.1:7000", False), ("bolt://[::1]", False),
        ("neo4j://box.localhost", False), ("neo4j://host", True), ("bolt://10.0.0.7", True),
        ("bolt://localhost.example", True), ("neo4j+s://host", False), ("bolt+ssc://host", False),
    ],
)  # fmt: skip
def test_only_unencrypted_connections_to_other_machines_are_exposed(address: str, exposed: bool) -> None:
    assert is_exposed(parse_address(address)) is exposed


def test_an_exposed_server_raises_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "is_exposed", lambda address: True)
    with pytest.warns(Warning, match=r"not encrypted.*use neo4j\+s://"), pytest.raises(StoreError):
        open_driver(Address("bolt://127.0.0.1:1", None))


@pytest.mark.parametrize(("text", "version"), [("5.26.30", (5, 26, 30)), ("2026.08.1", (2026, 8, 1)), ("5.9", (5, 9))])
def test_a_version_is_parsed(text: str, version: tuple[int, ...]) -> None:
    assert parse_version(text) == version


@pytest.mark.parametrize("text", ["4.4.40", "5.9.0", "5.12", "5.22.0"])
def test_an_outdated_server_is_refused(text: str) -> None:
    with pytest.raises(StoreVersionError) as caught:
        check_version(SERVER, text)
    assert str(caught.value) == (
        f"bolt://127.0.0.1:7687 is Neo4j {text}; expected 5.23 or newer (5.26 LTS is tested); upgrade the server,"
        " or use an embedded --store sqlite:///graph.db"
    )


@pytest.mark.parametrize("text", ["5.23.0", "5.26.30", "2025.01.0", "2026.08.1"])
def test_a_recent_server_is_accepted(text: str) -> None:
    assert check_version(SERVER, text) == parse_version(text)


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_a_server_that_is_down_is_named_with_the_reason(scheme: str) -> None:
    result = CliRunner().invoke(main, ["stats", "--store", f"{scheme}://127.0.0.1:1"])
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"pkg: cannot reach {scheme}://127.0.0.1:1 (Connection refused); start the server, or check host and port\n"
    )


def test_a_web_server_is_refused() -> None:
    with (
        listening(answer_as_web_page) as place,
        pytest.raises(StoreError, match=r"port of a web page; expected .*7687"),
    ):
        open_store(f"bolt://{place}")


def test_a_server_without_encryption_is_told_from_one_that_is_down() -> None:
    with listening(answer_as_web_page) as place, pytest.raises(StoreError, match=r"SSL.*; expected encryption.*ssc://"):
        open_store(f"bolt+s://{place}")


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_a_silent_listener_times_out(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "ANSWER_SECONDS", 0.2)
    with listening(wait_for_the_end) as place, pytest.raises(StoreError, match=r"cannot reach .*timed out"):
        open_store(f"{scheme}://{place}")


def test_a_closed_connection_is_reported() -> None:
    with (
        listening(lambda client: None) as place,
        pytest.raises(StoreError, match=rf"cannot reach bolt://{place} \(\w.*\);"),
    ):
        open_store(f"bolt://{place}")
