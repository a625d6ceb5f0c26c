"""Admit browsers by a single-use address shown in the terminal; refuse requests to other hosts and from other sites.

A web page can make a browser send requests to this machine: by a form (CSRF), or by a host name that resolves to it
(DNS rebinding). So a request must name this machine as its host and, if it changes something, come from our own page.
A cookie that an address was exchanged for, or a token, identifies the caller.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


COOKIE_DAYS = 30  # so that a closed browser can come back while the command runs

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""Headers of every answer: no content of other sites, no embedding, no caching."""

_SHOWN = 100  # characters of a wrong host or origin that its error shows
_OWN_SITES = ("same-origin", "none")
"""Values of sec-fetch-site for requests of our own page or of a person; other sites may not embed anything."""

VisitorT = TypeVar("VisitorT")
Refuse = Callable[[HTTPStatus, str], "ASGIApp"]
"""Builds the answer to a refused request from a status and a reason."""


@dataclass(frozen=True, slots=True)
class WebHosts:
    """The host names of a server, and the requests to refuse from any caller."""

    names: tuple[str, ...]
    """Allowed values of the header host, with the port; the first one is used in addresses."""
    has_programs: bool = False
    """Whether programs, which send no origin, may change something too; browsers then always send one."""

    @property
    def first(self) -> str:
        """The host used in addresses."""
        return self.names[0]

    def refuse(self, method: str, headers: Mapping[str, str]) -> str | None:
        """Return the reason to refuse a request from any caller, or None."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if host not in self.names:
            return f"unknown host '{host[:_SHOWN]}'; expected {self.first}"
        is_unnamed = origin is None and (method in ("GET", "HEAD") or self.has_programs)
        if not is_unnamed and origin not in self.list_origins():
            return f"requests from pages of '{(origin or 'no origin')[:_SHOWN]}' are refused"
        if headers.get("sec-fetch-site", "none") not in _OWN_SITES and headers.get("sec-fetch-mode") != "navigate":
            return "requests from pages of other sites are refused; open the address itself"
        return None

    def list_origins(self) -> list[str]:
        """List the origins of our own page."""
        return [f"http://{name}" for name in self.names]


@dataclass(slots=True)
class BrowserAccess(Generic[VisitorT]):
    """The single-use addresses of browsers, and the browsers that have used one."""

    hosts: WebHosts
    purpose: str
    """Part of the cookie's name, as two commands may run side by side."""
    _tokens: dict[str, VisitorT] = field(default_factory=dict)
    _visitors: dict[str, VisitorT] = field(default_factory=dict)

    @property
    def cookie(self) -> str:
        """Name of the cookie; it includes the port, as browsers share cookies between the ports of a host."""
        return f"pkg_{self.purpose}_{self.hosts.first.rpartition(':')[2]}"

    def make_address(self, visitor: VisitorT) -> str:
        """Return a new address that admits one browser as the given visitor."""
        token = secrets.token_urlsafe(32)
        self._tokens[token] = visitor
        return f"http://{self.hosts.first}/?token={token}"

    def exchange(self, token: str) -> str | None:
        """Exchange a token for the value of a cookie; None for a token that is unknown or was used."""
        known = next((each for each in self._tokens if compare_secrets(each, token)), None)
        if known is None:
            return None
        key = secrets.token_urlsafe(32)
        self._visitors[key] = self._tokens.pop(known)
        return key

    def find_visitor(self, key: str | None) -> VisitorT | None:
        """Return the visitor with this value of the cookie, or None."""
        return next((found for each, found in self._visitors.items() if compare_secrets(each, key or "")), None)


def compare_secrets(one: str, other: str) -> bool:
    """Return whether two secrets are equal, in constant time."""
    return hmac.compare_digest(one.encode(), other.encode("utf-8", "replace"))


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
