"""Addresses of Neo4j servers: parsing and checks."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from pkg.errors import StoreError, UsageError, conceal_address

SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")
_LAST_PORT = 65_535
SYSTEM = "system"  # the server's database of users and databases


_ADDRESS = re.compile(
    rf"(?P<scheme>{'|'.join(map(re.escape, SCHEMES))})://(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s/?#@:%\[\]\\]+)"
    r"(?::(?P<port>[0-9]{0,5}))?(?:/(?P<database>[^\s/?#@:%\\]*))?/?"
)


def is_server(address: str) -> bool:
    """Return whether an address is that of a Neo4j server."""
    return address.partition("://")[0] in SCHEMES


@dataclass(frozen=True, slots=True)
class Address:
    """A server and one of its databases."""

    uri: str  # scheme, host and port
    database: str | None

    def __str__(self) -> str:
        return f"{self.uri}/{self.database}" if self.database else self.uri


def parse_address(address: str) -> Address:
    """Parse neo4j://host[:port][/database].

    Raise UsageError for an address with a user or password, because addresses are shown, and StoreError for one of
    another syntax or of the system database.
    """
    shown = conceal_address(address)
    if "@" in shown:
        raise UsageError(
            f"store address '{shown}' holds a user or password; expected them in PKG_NEO4J_USER and PKG_NEO4J_PASSWORD"
        )
    found = _ADDRESS.fullmatch(address)
    if found is None or shown != address or int(found["port"] or 0) > _LAST_PORT:
        raise StoreError(
            f"store address '{shown}' is not valid; expected neo4j://host[:port][/database], or bolt://,"
            " neo4j+s:// and bolt+s:// for encryption"
        )
    uri = f"{found['scheme']}://{found['host'].lower()}" + (f":{int(found['port'])}" if found["port"] else "")
    database = found["database"] or os.environ.get("PKG_NEO4J_DATABASE")
    if database == SYSTEM:
        raise StoreError(f"database '{SYSTEM}' of {uri} holds no graphs; expected another, such as {uri}/neo4j")
    return Address(uri, database)


def is_exposed(address: Address) -> bool:
    """Return whether passwords and code would be sent unencrypted to another machine."""
    parts = urlsplit(address.uri)
    host = parts.hostname or ""
    try:
        is_local = ip_address(host).is_loopback
    except ValueError:
        is_local = host == "localhost" or host.endswith(".localhost")
    return not is_local and parts.scheme in ("neo4j", "bolt")
