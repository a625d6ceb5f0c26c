"""Serve the page of raters until all is rated, or until Ctrl-C."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass

from pkg.errors import MissingExtraError, PkgError, UsageError
from pkg.service.rating.page_access import PageAccess
from pkg.service.rating.rating_app import make_app
from pkg.service.rating.rating_task import RatingTask

LOOPBACK = "127.0.0.1"
PORT = 8719  # always the same, so that a browser finds what it has kept of unsaved ratings when the command runs again
HTTP = 80
_PATIENCE = 2  # seconds that an answer may still take when all ends
_EVERYWHERE = ("", "0.0.0.0", "::")


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """Where the page is served, and whether it goes on when all is rated."""

    host: str = LOOPBACK
    port: int = PORT
    stay: bool = False


def serve_ratings(task: RatingTask, options: ServeOptions, tell: Callable[[str | None, str], None]) -> None:
    """Serve the page; `tell` hears each address, with the rater that it is for.

    An address that was used is followed by a new one, for another browser. Ctrl-C raises KeyboardInterrupt. Raises
    UsageError for an address that is none, PkgError for a port that is in use, MissingExtraError without uvicorn.
    """
    try:
        import uvicorn
    except ImportError as fault:
        raise MissingExtraError("uvicorn", "service", "the page for raters") from fault
    with closing(open_socket(options.host, options.port)) as opened:
        access = PageAccess(list_hosts(options.host, opened.getsockname()[1]))

        def give_address(rater: str | None) -> None:
            tell(rater, access.make_address(rater))

        def end() -> bool:
            server.should_exit = not options.stay
            return server.should_exit

        app = make_app(task, access, give_address, end)
        server = uvicorn.Server(
            uvicorn.Config(
                app, log_config=None, access_log=False, lifespan="off", ws="none", loop="asyncio", http="h11",
                server_header=False, proxy_headers=False, timeout_graceful_shutdown=_PATIENCE,
            )
        )  # fmt: skip
        for rater in task.options.raters or (None,):
            give_address(rater)
        server.run(sockets=[opened])


def open_socket(host: str, port: int) -> socket.socket:
    """Listen at an address; port 0 takes a free one.

    Raises UsageError for an address that is none of this machine, PkgError for a port that cannot be had.
    """
    if host in _EVERYWHERE:
        raise UsageError(f"--host '{host}' means every address; give the one by which raters reach this machine")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as fault:
        raise UsageError(f"--host '{host}' is no address ({fault.strerror}); expected one of this machine") from fault
    opened = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # elsewhere it would take a port away from who has it
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
        opened.listen()
    except OSError as fault:
        opened.close()
        if fault.errno == errno.EADDRNOTAVAIL:
            raise UsageError(f"--host '{host}' is no address of this machine; default: {LOOPBACK}") from fault
        reason = "is in use" if fault.errno == errno.EADDRINUSE else f"cannot be had ({fault.strerror})"
        raise PkgError(
            f"port {port} of {host} {reason}; give another with --port, or --port 0 for a free one"
        ) from fault
    return opened


def list_hosts(host: str, port: int) -> tuple[str, ...]:
    """List what a request may name as its host: on loopback each of its names, elsewhere the one address."""
    named = f"[{host}]" if ":" in host else host
    names = (named, "localhost") if host in (LOOPBACK, "::1", "localhost") else (named,)
    end = "" if port == HTTP else f":{port}"  # as browsers name it
    return tuple(dict.fromkeys(f"{name}{end}" for name in names))
