"""Where a Neo4j server is: the addresses that name one, read and judged."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from pkg.errors import StoreError, UsageError

SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")
SYSTEM = "system"  # the database in which a server keeps users and the list of the others


def is_server(address: str) -> bool:
    """Tell whether an address names a Neo4j server."""
    return address.partition("://")[0] in SCHEMES


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens, and which of its databases is meant."""

    uri: str  # scheme, host and port
    database: str | None

    def __str__(self) -> str:
        return f"{self.uri}/{self.database}" if self.database else self.uri


def parse_address(address: str) -> Address:
    """Read neo4j://host[:port][/database]; a user or password in it is refused, because addresses are shown."""
    parts = urlsplit(address)
    try:
        port = parts.port
    except ValueError:
        port = -1
    if parts.scheme not in SCHEMES or not parts.hostname or port == -1:
        raise StoreError(
            f"store address '{_hide(address)}' is not understood; expected neo4j://host[:port][/database], or bolt://,"
            " neo4j+s:// and bolt+s:// for encryption"
        )
    if parts.username or parts.password:
        raise UsageError(
            f"store address '{_hide(address)}' holds a user or password; expected them in PKG_NEO4J_USER and"
            " PKG_NEO4J_PASSWORD"
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    uri = f"{parts.scheme}://{host}" + (f":{port}" if port else "")
    database = parts.path.strip("/") or os.environ.get("PKG_NEO4J_DATABASE")
    if database == SYSTEM:
        raise StoreError(f"database '{SYSTEM}' of {uri} holds no graphs; expected another, such as {uri}/neo4j")
    return Address(uri, database)


def _hide(address: str) -> str:
    return re.sub(r"//[^/@]*@", "//***@", address)


def is_exposed(address: Address) -> bool:
    """Tell whether passwords and code would travel unencrypted to another machine."""
    parts = urlsplit(address.uri)
    host = parts.hostname or ""
    try:
        is_local = ip_address(host).is_loopback
    except ValueError:
        is_local = host == "localhost" or host.endswith(".localhost")
    return not is_local and parts.scheme in ("neo4j", "bolt")
