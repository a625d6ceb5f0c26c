"""Admit callers by a bearer token, or browsers by a single-use address; without a token, admit every caller."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from pkg.errors import UsageError
from pkg.service.http.problems import Problem
from pkg.service.web.web_access import COOKIE_DAYS, BrowserAccess, compare_secrets
from pkg.service.web.web_server import is_loopback

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send


TOKEN_VARIABLE = "PKG_SERVE_TOKEN"
SHORTEST_TOKEN = 16  # characters; shorter ones can be guessed


@dataclass(frozen=True, slots=True)
class WebToken:
    """A token, and whether it was generated for this run and has to be printed."""

    text: str
    is_new: bool


def choose_token(host: str, is_wanted: bool = False) -> WebToken | None:
    """Return the token of the environment, else a new one; None if none is needed.

    Every address but loopback needs one. Raises UsageError for a token that is short or cannot stand in a header.
    """
    kept = os.environ.get(TOKEN_VARIABLE, "").strip()
    if kept and (len(kept) < SHORTEST_TOKEN or not kept.isascii() or not kept.isprintable() or " " in kept):
        raise UsageError(
            f"{TOKEN_VARIABLE} has {len(kept)} characters; expected at least {SHORTEST_TOKEN} printable ASCII"
            f" characters without spaces, such as: {secrets.token_urlsafe(32)}"
        )
    if kept:
        return WebToken(kept, is_new=False)
    return WebToken(secrets.token_urlsafe(32), is_new=True) if is_wanted or not is_loopback(host) else None


def has_bearer_token(header: str, token: str) -> bool:
    """Return whether the header Authorization holds the token, compared in constant time."""
    scheme, _, given = header.partition(" ")
    return scheme.lower() == "bearer" and compare_secrets(token, given.strip())


PUBLIC_PATHS = ("/health", "/health/live")
"""Paths that need no token: whether the service is up, and whether it can answer."""
NO_TOKEN = (
    "missing or wrong token; a program sends 'Authorization: Bearer TOKEN' with the token that pkg serve printed or"
    f" {TOKEN_VARIABLE} holds, a browser opens the address shown in the terminal"
)
_REDIRECT = (
    '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=/"><a href="/">continue</a>\n'
)
USED_ADDRESS = "this address is invalid or was used before; the terminal shows a new one for each browser"


@dataclass(frozen=True, slots=True)
class HttpAccess:
    """The callers to admit."""

    browsers: BrowserAccess[str]
    token: str | None = None  # None: every caller that can reach the address
    on_sign_in: Callable[[], None] = lambda: None  # called when a browser has used an address

    def refuse(self, request: Request) -> Problem | None:
        """Return the problem of a request that is refused; None if it is admitted."""
        if self.token is None or request.url.path in PUBLIC_PATHS:
            return None
        if has_bearer_token(request.headers.get("authorization", ""), self.token):
            return None
        if self.browsers.find_visitor(request.cookies.get(self.browsers.cookie)) is not None:
            return None
        return Problem(HTTPStatus.UNAUTHORIZED, NO_TOKEN, headers={"www-authenticate": 'Bearer realm="pkg"'})


class HttpAccessGuard:
    """Middleware that exchanges single-use addresses for cookies, and refuses other callers without a token."""

    def __init__(self, app: ASGIApp, access: HttpAccess) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI request."""
        from starlette.requests import Request

        request = Request(scope)
        if request.url.path == "/" and "token" in request.query_params:
            answer: ASGIApp = self._exchange(request)
        else:
            refused = self._access.refuse(request)
            answer = self._app if refused is None else refused.to_response()
        await answer(scope, receive, send)

    def _exchange(self, request: Request) -> ASGIApp:
        """Exchange the token of an address for a cookie, and redirect to an address without the token.

        The redirect is a page, not a status: a browser that followed a link of another site withholds a strict cookie
        from the target of a redirect.
        """
        from starlette.responses import HTMLResponse

        access, browsers = self._access, self._access.browsers
        key = browsers.exchange(request.query_params["token"])
        if key is None and access.refuse(request) is not None:
            return Problem(HTTPStatus.FORBIDDEN, USED_ADDRESS).to_response()
        response = HTMLResponse(_REDIRECT)
        if key is not None:
            response.set_cookie(browsers.cookie, key, COOKIE_DAYS * 86_400, httponly=True, samesite="strict")
            access.on_sign_in()
        return response
