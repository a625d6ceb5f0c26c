"""Middleware that refuses foreign requests and adds security headers to every answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING

from pkg.service.web.web_access import HEADERS, WebHosts

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

Refuse = Callable[[HTTPStatus, str], "ASGIApp"]
"""Builds the answer to a refused request from a status and a reason."""


def refuse_as_text(status: HTTPStatus, reason: str) -> ASGIApp:
    """Answer with the reason as plain text."""
    from starlette.responses import PlainTextResponse

    return PlainTextResponse(reason + "\n", status)


class WebGuard:
    """Refuses requests to other hosts and from other sites, and adds security headers to every answer."""

    def __init__(
        self,
        app: ASGIApp,
        hosts: WebHosts,
        refuse: Refuse = refuse_as_text,
        headers: Mapping[str, str] = HEADERS,
    ) -> None:
        self._app, self._hosts, self._refuse = app, hosts, refuse
        self._added = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI request."""
        if scope["type"] != "http":
            return
        from starlette.datastructures import Headers

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message["headers"]}
                added = [(name, value) for name, value in self._added if name not in given]
                message["headers"] = [*message["headers"], *added]
            await send(message)

        reason = self._hosts.refuse(scope["method"], Headers(scope=scope))
        answer = self._app if reason is None else self._refuse(HTTPStatus.FORBIDDEN, reason)
        await answer(scope, receive, send_safely)
