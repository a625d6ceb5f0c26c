"""Listen at an address of this machine, and serve an application until Ctrl-C."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
from typing import TYPE_CHECKING

from pkg.errors import MissingExtraError, PkgError, UsageError

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

LOOPBACK = "127.0.0.1"
HTTP = 80
GRACE_SECONDS = 2  # for answers in progress at shutdown
_EVERYWHERE = ("", "0.0.0.0", "::")


def make_server(app: ASGIApp, what: str) -> uvicorn.Server:
    """Build the server of an application, to be run with a listening socket.

    Raises MissingExtraError without uvicorn; its message says that `what` needs it.
    """
    try:
        import uvicorn
    except ImportError as fault:
        raise MissingExtraError("uvicorn", "service", what) from fault
    from pkg.service.web.timeout_protocol import HEAD_BYTES, TimeoutProtocol

    logging.getLogger("uvicorn.error").addFilter(_is_worth_logging)
    return uvicorn.Server(
        uvicorn.Config(
            app, log_config=None, log_level="error", access_log=False, lifespan="off", ws="none", loop="asyncio",
            http=TimeoutProtocol, h11_max_incomplete_event_size=HEAD_BYTES, server_header=False, proxy_headers=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
    )  # fmt: skip


def _is_worth_logging(record: logging.LogRecord) -> bool:
    """Return whether a record is about something else than requests cut off by Ctrl-C."""
    fault = record.exc_info[1] if record.exc_info else None
    return not isinstance(fault, asyncio.CancelledError) and "timeout graceful shutdown" not in record.getMessage()


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    return host in (LOOPBACK, "::1", "localhost")


def open_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address; port 0 takes a free one.

    Raises UsageError for an address that is not one of this machine, PkgError for a port that is not available.
    """
    if host in _EVERYWHERE:
        raise UsageError(f"--host '{host}' means every address; give the one by which other machines reach this one")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else "not a host name"
        raise UsageError(f"--host '{host}' is not an address ({reason}); expected one of this machine") from fault
    opened = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # on Windows it would take the port of another process
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
        opened.listen()
    except OSError as fault:
        opened.close()
        if fault.errno == errno.EADDRNOTAVAIL:
            raise UsageError(f"--host '{host}' is not an address of this machine; default: {LOOPBACK}") from fault
        reason = "is in use" if fault.errno == errno.EADDRINUSE else f"is not available ({fault.strerror})"
        raise PkgError(
            f"port {port} of {host} {reason}; give another with --port, or --port 0 for a free one"
        ) from fault
    return opened


def list_hosts(host: str, port: int) -> tuple[str, ...]:
    """List the allowed values of the header host: all loopback names, or the one other address."""
    named = f"[{host}]" if ":" in host else host
    names = (named, "localhost") if is_loopback(host) else (named,)
    end = "" if port == HTTP else f":{port}"  # browsers leave out the default port
    return tuple(dict.fromkeys(f"{name}{end}" for name in names))
