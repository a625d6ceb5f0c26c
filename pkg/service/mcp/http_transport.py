"""Serve over streamable HTTP: on this machine for who can reach it, at any other address for who has the token."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from pkg.service.mcp.tool_server import ToolServer
from pkg.service.web.web_access import WebHosts
from pkg.service.web.web_guard import WebGuard, refuse_plainly
from pkg.service.web.web_server import LOOPBACK, list_hosts, make_server, open_socket
from pkg.service.web.web_token import TOKEN_VARIABLE, bears_token, choose_token

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

PATH = "/mcp"
PORT = 8721  # beside those of the other commands that serve
LARGEST_BODY = 4_000_000  # bytes: a hundred candidates of rerank are the longest arguments that there are


@dataclass(frozen=True, slots=True)
class HttpAddress:
    """Where it is served."""

    host: str = LOOPBACK
    port: int = PORT


class TokenGuard:
    """Lets in what bears the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        given = dict(scope.get("headers", ())).get(b"authorization", b"").decode("latin-1")
        if scope["type"] == "http" and not bears_token(given, self._token):
            reason = f"no token, or a wrong one; send 'Authorization: Bearer TOKEN' with what {TOKEN_VARIABLE} holds"
            await refuse_plainly(HTTPStatus.UNAUTHORIZED, reason)(scope, receive, send)
            return
        await self._app(scope, receive, send)


def guard_app(app: ASGIApp, hosts: WebHosts, token: str | None) -> ASGIApp:
    """Put before an application what refuses other hosts, pages of browsers, and who lacks the token."""
    return WebGuard(app if token is None else TokenGuard(app, token), hosts)


def serve_http(tools: ToolServer, address: HttpAddress, tell: Callable[[str, str | None], None]) -> None:
    """Serve until Ctrl-C, which raises KeyboardInterrupt; `tell` hears the address, and a token that was made for it.

    Raises UsageError for an address that is none, PkgError for a port that is in use, MissingExtraError without the
    packages of the extra.
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
        tell(f"http://{hosts.first}{PATH}", token.text if token is not None and token.is_new else None)

        async def serve() -> None:
            async with server.session_manager.run():
                await web.serve(sockets=[opened])

        asyncio.run(serve())
