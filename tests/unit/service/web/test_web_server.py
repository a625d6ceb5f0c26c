"""Addresses of a server: loopback, free ports, and allowed host names."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest

from pkg.errors import PkgError, UsageError
from pkg.service.web.web_server import LOOPBACK, list_hosts, open_socket


def test_a_port_in_use_is_an_error_that_names_the_alternative() -> None:
    with closing(open_socket(LOOPBACK, 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(PkgError, match=rf"port {port} of 127.0.0.1 is in use; .* --port 0 for a free one"):
            open_socket(LOOPBACK, port)


def test_a_socket_listens_only_at_the_given_address() -> None:
    with closing(open_socket(LOOPBACK, 0)) as opened:
        assert opened.getsockname()[0] == LOOPBACK
        assert opened.family is socket.AF_INET


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.0.2.7", "no such host"])
def test_wildcard_and_foreign_addresses_are_refused(host: str) -> None:
    with pytest.raises(UsageError, match="--host"):
        open_socket(host, 0)


@pytest.mark.parametrize(
    ("host", "port", "hosts"),
    [
        ("127.0.0.1", 8719, ("127.0.0.1:8719", "localhost:8719")),
        ("::1", 8719, ("[::1]:8719", "localhost:8719")),
        ("192.0.2.7", 8719, ("192.0.2.7:8719",)),
        ("rater.example", 80, ("rater.example",)),
    ],
)
def test_allowed_hosts_are_those_of_the_address(host: str, port: int, hosts: tuple[str, ...]) -> None:
    assert list_hosts(host, port) == hosts
