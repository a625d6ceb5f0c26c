"""Let in who has the token, or a browser that came by an address of one time; on loopback perhaps everybody."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from pkg.service.http.problems import Problem
from pkg.service.web.web_access import COOKIE_DAYS, BrowserAccess
from pkg.service.web.web_token import TOKEN_VARIABLE, bears_token

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

OPEN = ("/health", "/health/live")
"""What is told to everybody: that something is served, and whether it can answer."""
OUTSIDE = (
    f"no token, or a wrong one; a program sends 'Authorization: Bearer TOKEN' with what {TOKEN_VARIABLE} holds or"
    " pkg serve has printed, a browser opens the address that the terminal shows"
)
_ON = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=/"><a href="/">go on</a>\n'
USED = "this address was used already, or is none; the terminal shows a new one for another browser"


@dataclass(frozen=True, slots=True)
class HttpAccess:
    """Who may ask."""

    browsers: BrowserAccess[str]
    token: str | None = None  # None: everybody who can reach the address
    let_in: Callable[[], None] = lambda: None  # hears that an address was taken

    def refuse(self, request: Request) -> Problem | None:
        """Say why a request is not answered; None where it is."""
        if self.token is None or request.url.path in OPEN:
            return None
        if bears_token(request.headers.get("authorization", ""), self.token):
            return None
        if self.browsers.find_visitor(request.cookies.get(self.browsers.cookie)) is not None:
            return None
        return Problem(HTTPStatus.UNAUTHORIZED, OUTSIDE, headers={"www-authenticate": 'Bearer realm="pkg"'})


class HttpAccessGuard:
    """Stands before the application: exchanges addresses of one time, and refuses who is not let in."""

    def __init__(self, app: ASGIApp, access: HttpAccess) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or have it answered."""
        from starlette.requests import Request

        request = Request(scope)
        if request.url.path == "/" and "token" in request.query_params:
            answer: ASGIApp = self._exchange(request)
        else:
            refused = self._access.refuse(request)
            answer = self._app if refused is None else refused.to_response()
        await answer(scope, receive, send)

    def _exchange(self, request: Request) -> ASGIApp:
        """Take an address for a cookie, and send the browser on to where the token stands no more.

        Sent on by a page and not by a status: a browser that came by a link of another site keeps the cookie back from
        what it is redirected to.
        """
        from starlette.responses import HTMLResponse

        access, browsers = self._access, self._access.browsers
        key = browsers.exchange(request.query_params["token"])
        if key is None and access.refuse(request) is not None:
            return Problem(HTTPStatus.FORBIDDEN, USED).to_response()
        response = HTMLResponse(_ON)
        if key is not None:
            response.set_cookie(browsers.cookie, key, COOKIE_DAYS * 86_400, httponly=True, samesite="strict")
            access.let_in()
        return response
