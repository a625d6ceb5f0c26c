"""Serve over streamable HTTP: without a token on loopback, with a token at any other address."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from pkg.service.http.http_access import TOKEN_VARIABLE, choose_token, has_bearer_token
from pkg.service.mcp.tool_server import ToolServer
from pkg.service.web.web_access import WebGuard, WebHosts, refuse_as_text
from pkg.service.web.web_server import LOOPBACK, list_hosts, make_server, open_socket

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

PATH = "/mcp"
PORT = 8721  # next to the port of pkg serve
LARGEST_BODY = 4_000_000  # bytes; the longest arguments, a hundred candidates of rerank, are shorter


@dataclass(frozen=True, slots=True)
class HttpAddress:
    """Host and port to listen at."""

    host: str = LOOPBACK
    port: int = PORT


class TokenGuard:
    """Middleware that refuses requests without the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI request."""
        given = dict(scope.get("headers", ())).get(b"authorization", b"").decode("latin-1")
        if scope["type"] == "http" and not has_bearer_token(given, self._token):
            reason = f"missing or wrong token; send 'Authorization: Bearer TOKEN' with the token of {TOKEN_VARIABLE}"
            await refuse_as_text(HTTPStatus.UNAUTHORIZED, reason)(scope, receive, send)
            return
        await self._app(scope, receive, send)


def guard_app(app: ASGIApp, hosts: WebHosts, token: str | None) -> ASGIApp:
    """Return an application that refuses other hosts, foreign pages and requests without the token."""
    return WebGuard(app if token is None else TokenGuard(app, token), hosts)


def serve_http(tools: ToolServer, address: HttpAddress, announce: Callable[[str, str | None], None]) -> None:
    """Serve until Ctrl-C; announce: receives the address, and the token if a new one was generated.

    Raises KeyboardInterrupt on Ctrl-C, UsageError for an invalid address, PkgError for a port that is in use and
    MissingExtraError without the packages of the extra.
    """
    import asyncio

    server = tools.make_server()
    from mcp.server.transport_security import TransportSecuritySettings

    token = choose_token(address.host)
    with closing(open_socket(address.host, address.port)) as opened:
        hosts = WebHosts(list_hosts(address.host, opened.getsockname()[1]), has_programs=True)
        app = server.streamable_http_app(
            streamable_http_path=PATH,
            max_request_body_size=LARGEST_BODY,
            transport_security=TransportSecuritySettings(
                allowed_hosts=list(hosts.names), allowed_origins=hosts.list_origins()
            ),
        )
        web = make_server(guard_app(app, hosts, None if token is None else token.text), "the server for agents")
        announce(f"http://{hosts.first}{PATH}", token.text if token is not None and token.is_new else None)

        async def serve() -> None:
            async with server.session_manager.run():
                await web.serve(sockets=[opened])

        asyncio.run(serve())
