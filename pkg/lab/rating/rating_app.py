"""The rating page over HTTP: static files, a JSON API for signed-in browsers, and the server."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pkg.errors import InputError, MissingExtraError, PkgError
from pkg.lab.rating.rating_form import DEGREES, SEMESTERS, SKILLS, read_name
from pkg.lab.rating.rating_task import RatedMeanwhileError, RatingTask
from pkg.service.web.web_access import COOKIE_DAYS, BrowserAccess, WebGuard, WebHosts
from pkg.service.web.web_server import LOOPBACK, list_hosts, make_server, open_socket

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response


PAGE = Path(__file__).parent / "page"
MAX_POST_SIZE = 2_000_000  # bytes; ten times the longest texts of a form
USED_MESSAGE = "This address is invalid or was used already. The terminal shows a new one for another browser.\n"
NOT_SIGNED_IN = "You are not signed in. Open the address that the terminal shows; the text you have typed is kept."
PORT = 8719  # fixed, so that a browser finds its unsaved ratings when the command runs again


@dataclass(slots=True)
class Visitor:
    """A signed-in browser, and its rater once known."""

    rater: str | None
    is_asked: bool = False
    """True once the participant has answered or skipped the questions about themselves."""


def make_app(
    task: RatingTask, access: BrowserAccess[Visitor], on_sign_in: Callable[[str | None], None], end: Callable[[], bool]
) -> Starlette:
    """Build the application.

    on_sign_in: called with the rater whose address was used. end: called when all items are rated; returns whether the
    server stops. Raises MissingExtraError without Starlette.
    """
    try:
        from starlette.applications import Starlette
        from starlette.middleware import Middleware
        from starlette.routing import Route
    except ImportError as fault:
        raise MissingExtraError("starlette", "service", "the page for raters") from fault
    page = RatingPage(task, access, on_sign_in, end)
    return Starlette(
        routes=[
            Route("/", page.show),
            *(Route(f"/{name}", page.send_file) for name in _FILES if name != "rate.html"),
            Route("/api/state", page.show_state),
            Route("/api/rater", page.set_rater, methods=["POST"]),
            Route("/api/participant", page.save_participant, methods=["POST"]),
            Route("/api/items/{number:int}", page.send_item, methods=["GET"]),
            Route("/api/items/{number:int}", page.save_rating, methods=["POST"]),
        ],
        middleware=[Middleware(WebGuard, hosts=access.hosts)],
    )


_FILES = {"rate.html": "text/html", "rate.css": "text/css", "rate.js": "text/javascript"}


class RatingPage:
    """Handlers of the routes."""

    def __init__(
        self,
        task: RatingTask,
        access: BrowserAccess[Visitor],
        on_sign_in: Callable[[str | None], None],
        end: Callable[[], bool],
    ) -> None:
        self._task, self._access, self._on_sign_in, self._on_done = task, access, on_sign_in, end

    async def show(self, request: Request) -> Response:
        """Send the page; exchanges the token of the address for a cookie first."""
        from starlette.responses import PlainTextResponse

        response = await self.send_file(request)
        token = request.query_params.get("token")
        key = None if token is None else self._access.exchange(token)
        visitor = self._access.find_visitor(key)
        if key is not None and visitor is not None:
            days = COOKIE_DAYS * 86_400
            response.set_cookie(self._access.cookie, key, max_age=days, httponly=True, samesite="strict")
            self._on_sign_in(visitor.rater)
        elif token is not None and self._find(request) is None:
            return PlainTextResponse(USED_MESSAGE, HTTPStatus.FORBIDDEN)
        return response

    async def send_file(self, request: Request) -> Response:
        """Send a file of the page."""
        from starlette.responses import FileResponse

        name = request.url.path.lstrip("/") or "rate.html"
        return FileResponse(PAGE / name, media_type=_FILES[name])

    async def show_state(self, request: Request) -> Response:
        """Send the rater and their progress."""
        return await self._answer(request, self._make_state, needs_rater=False)

    async def set_rater(self, request: Request) -> Response:
        """Set the name of the rater."""
        return await self._answer(request, self._set_rater, needs_rater=False)

    async def save_participant(self, request: Request) -> Response:
        """Save the answers of a participant about themselves."""

        def take(visitor: Visitor, posted: Mapping[str, Any]) -> dict[str, Any]:
            if posted.get("skipped") is not True:
                self._task.save_participant(str(visitor.rater), posted)
            visitor.is_asked = True
            return {}

        return await self._answer(request, take)

    async def send_item(self, request: Request) -> Response:
        """Send an item to rate."""
        number = int(request.path_params["number"])
        return await self._answer(request, lambda visitor, _: self._task.read_item(str(visitor.rater), number))

    async def save_rating(self, request: Request) -> Response:
        """Save a rating and send the progress; calls `end` when all raters are done."""
        number = int(request.path_params["number"])

        def take(visitor: Visitor, posted: Mapping[str, Any]) -> dict[str, Any]:
            row = self._task.save(str(visitor.rater), number, posted)
            is_over = self._task.is_done() and self._on_done()
            return {"row": row, "done": self._task.list_done(str(visitor.rater)), "over": is_over}

        return await self._answer(request, take)

    def _make_state(self, visitor: Visitor, posted: Mapping[str, Any]) -> dict[str, Any]:
        task, rater = self._task, visitor.rater
        return {
            "rater": rater,
            "file": task.file.name,
            "digest": task.file.digest,
            "skipped": len(task.file.skipped),
            "changed": task.file.has_changed(),
            "done": task.list_done(rater) if rater is not None else [],
            "asks_participant": not visitor.is_asked and rater is not None and task.lacks_participant(rater),
            "choices": {"degree": DEGREES, "semesters": SEMESTERS, "skill_general": SKILLS, "skill_python": SKILLS},
        }

    def _set_rater(self, visitor: Visitor, posted: Mapping[str, Any]) -> dict[str, Any]:
        if visitor.rater is None:
            visitor.rater = read_name(posted.get("name"))
            self._task.met[visitor.rater] = None
        return self._make_state(visitor, posted)

    def _find(self, request: Request) -> Visitor | None:
        return self._access.find_visitor(request.cookies.get(self._access.cookie))

    async def _answer(
        self, request: Request, work: Callable[[Visitor, Mapping[str, Any]], dict[str, Any]], needs_rater: bool = True
    ) -> Response:
        """Run `work` for a signed-in browser, and send its result or error as JSON."""
        visitor = self._find(request)
        if visitor is None:
            return _send_error(HTTPStatus.UNAUTHORIZED, NOT_SIGNED_IN)
        if needs_rater and visitor.rater is None:
            return _send_error(HTTPStatus.CONFLICT, "no name yet; enter one first")
        try:
            posted = await _read_post(request) if request.method == "POST" else {}
            return _send_json(HTTPStatus.OK, work(visitor, posted))
        except RatedMeanwhileError as fault:
            return _send_json(HTTPStatus.CONFLICT, {"error": str(fault), "rated": fault.row})
        except PkgError as fault:
            return _send_error(HTTPStatus.BAD_REQUEST, str(fault))


async def _read_post(request: Request) -> Mapping[str, Any]:
    """Read a JSON object; raises InputError if it is not one or too large."""
    content = bytearray()
    async for piece in request.stream():
        content += piece
        if len(content) > MAX_POST_SIZE:
            raise InputError(f"more than {MAX_POST_SIZE:,} bytes; expected a rating")
    try:
        posted = json.loads(content)
    except (ValueError, RecursionError):
        raise InputError("invalid JSON; expected an object") from None
    if not isinstance(posted, dict):
        raise InputError("not an object; expected one with a rating")
    return posted


def _send_error(status: HTTPStatus, text: str) -> Response:
    return _send_json(status, {"error": text})


def _send_json(status: HTTPStatus, answer: Mapping[str, Any]) -> Response:
    from starlette.responses import Response

    content = json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")
    return Response(content, status, media_type="application/json")


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """Address of the page, and whether it stays open when all items are rated."""

    host: str = LOOPBACK
    port: int = PORT
    stay: bool = False


def serve_ratings(task: RatingTask, options: ServeOptions, tell: Callable[[str | None, str], None]) -> None:
    """Serve the page; `tell` is called with each rater and address.

    After an address is used, a new one is made for another browser. Ctrl-C raises KeyboardInterrupt. Raises UsageError
    for an invalid host, PkgError for a port that is in use, and MissingExtraError without uvicorn.
    """
    with closing(open_socket(options.host, options.port)) as opened:
        hosts = WebHosts(list_hosts(options.host, opened.getsockname()[1]))
        access = BrowserAccess[Visitor](hosts, "rate")

        def give_address(rater: str | None) -> None:
            tell(rater, access.make_address(Visitor(rater)))

        def end() -> bool:
            server.should_exit = not options.stay
            return server.should_exit

        server = make_server(make_app(task, access, give_address, end), "the page for raters")
        for rater in task.options.raters or (None,):
            give_address(rater)
        server.run(sockets=[opened])
