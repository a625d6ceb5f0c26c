"""Stand before an application: refuse what comes from elsewhere, and put the headers of safety on every answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING

from pkg.service.web.web_access import HEADERS, WebHosts

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

Refuse = Callable[[HTTPStatus, str], "ASGIApp"]
"""Makes the answer to a request that is refused, of a status and a reason."""


def refuse_plainly(status: HTTPStatus, reason: str) -> ASGIApp:
    """Answer with the reason alone, for a person."""
    from starlette.responses import PlainTextResponse

    return PlainTextResponse(reason + "\n", status)


class WebGuard:
    """Refuses what comes from elsewhere, and puts the headers of safety on every answer."""

    def __init__(
        self,
        app: ASGIApp,
        hosts: WebHosts,
        refuse: Refuse = refuse_plainly,
        headers: Mapping[str, str] = HEADERS,
    ) -> None:
        self._app, self._hosts, self._refuse = app, hosts, refuse
        self._added = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or have it answered."""
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
