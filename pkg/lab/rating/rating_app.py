"""The page over HTTP: a shell that holds nothing, and a few addresses that give and take JSON, for who was let in."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pkg.errors import InputError, MissingExtraError, PkgError
from pkg.lab.rating.rating_form import DEGREES, SEMESTERS, SKILLS, read_name
from pkg.lab.rating.rating_task import RatedMeanwhileError, RatingTask
from pkg.service.web.web_access import COOKIE_DAYS, BrowserAccess
from pkg.service.web.web_guard import WebGuard

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

PAGE = Path(__file__).parent / "page"
LARGEST_POST = 2_000_000  # bytes; ten times what the longest texts of a form take
USED = "This address was used already, or is none. The terminal shows a new one for another browser.\n"
OUTSIDE = "You are not let in here. Open the address that the terminal shows; what you have typed is kept."


@dataclass(slots=True)
class Visitor:
    """A browser that was let in, and who sits before it, once that is known."""

    rater: str | None
    is_asked: bool = False
    """Whether the participant has told of themselves, or wants not to."""


def make_app(
    task: RatingTask, access: BrowserAccess[Visitor], let_in: Callable[[str | None], None], end: Callable[[], bool]
) -> Starlette:
    """Make the application.

    `let_in` hears for whom an address was taken; `end` hears that everything is rated, and says whether that ends it. A
    MissingExtraError without Starlette.
    """
    try:
        from starlette.applications import Starlette
        from starlette.middleware import Middleware
        from starlette.routing import Route
    except ImportError as fault:
        raise MissingExtraError("starlette", "service", "the page for raters") from fault
    page = RatingPage(task, access, let_in, end)
    return Starlette(
        routes=[
            Route("/", page.show),
            *(Route(f"/{name}", page.give_file) for name in _FILES if name != "rate.html"),
            Route("/api/state", page.tell_state),
            Route("/api/rater", page.take_rater, methods=["POST"]),
            Route("/api/participant", page.take_participant, methods=["POST"]),
            Route("/api/items/{number:int}", page.give_item, methods=["GET"]),
            Route("/api/items/{number:int}", page.take_rating, methods=["POST"]),
        ],
        middleware=[Middleware(WebGuard, hosts=access.hosts)],
    )


_FILES = {"rate.html": "text/html", "rate.css": "text/css", "rate.js": "text/javascript"}


class RatingPage:
    """What each address answers."""

    def __init__(
        self,
        task: RatingTask,
        access: BrowserAccess[Visitor],
        let_in: Callable[[str | None], None],
        end: Callable[[], bool],
    ) -> None:
        self._task, self._access, self._let_in, self._end = task, access, let_in, end

    async def show(self, request: Request) -> Response:
        """Give the page; an address of the terminal is exchanged for a cookie first."""
        from starlette.responses import PlainTextResponse

        response = await self.give_file(request)
        token = request.query_params.get("token")
        key = None if token is None else self._access.exchange(token)
        visitor = self._access.find_visitor(key)
        if key is not None and visitor is not None:
            days = COOKIE_DAYS * 86_400
            response.set_cookie(self._access.cookie, key, max_age=days, httponly=True, samesite="strict")
            self._let_in(visitor.rater)
        elif token is not None and self._find(request) is None:
            return PlainTextResponse(USED, HTTPStatus.FORBIDDEN)
        return response

    async def give_file(self, request: Request) -> Response:
        """Give a file of the page."""
        from starlette.responses import FileResponse

        name = request.url.path.lstrip("/") or "rate.html"
        return FileResponse(PAGE / name, media_type=_FILES[name])

    async def tell_state(self, request: Request) -> Response:
        """Tell who rates, and how far they are."""
        return await self._answer(request, self._tell_state, needs_rater=False)

    async def take_rater(self, request: Request) -> Response:
        """Take the name of who rates."""
        return await self._answer(request, self._take_rater, needs_rater=False)

    async def take_participant(self, request: Request) -> Response:
        """Take what a participant tells of themselves."""

        def take(visitor: Visitor, posted: Mapping[str, Any]) -> dict[str, Any]:
            if posted.get("skipped") is not True:
                self._task.save_participant(str(visitor.rater), posted)
            visitor.is_asked = True
            return {}

        return await self._answer(request, take)

    async def give_item(self, request: Request) -> Response:
        """Give an item to rate."""
        number = int(request.path_params["number"])
        return await self._answer(request, lambda visitor, _: self._task.read_item(str(visitor.rater), number))

    async def take_rating(self, request: Request) -> Response:
        """Take a rating, and tell what is left; when nothing is left of anybody, all ends."""
        number = int(request.path_params["number"])

        def take(visitor: Visitor, posted: Mapping[str, Any]) -> dict[str, Any]:
            row = self._task.save(str(visitor.rater), number, posted)
            is_over = self._task.is_done() and self._end()
            return {"row": row, "done": self._task.list_done(str(visitor.rater)), "over": is_over}

        return await self._answer(request, take)

    def _tell_state(self, visitor: Visitor, posted: Mapping[str, Any]) -> dict[str, Any]:
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

    def _take_rater(self, visitor: Visitor, posted: Mapping[str, Any]) -> dict[str, Any]:
        if visitor.rater is None:
            visitor.rater = read_name(posted.get("name"))
            self._task.met[visitor.rater] = None
        return self._tell_state(visitor, posted)

    def _find(self, request: Request) -> Visitor | None:
        return self._access.find_visitor(request.cookies.get(self._access.cookie))

    async def _answer(
        self, request: Request, work: Callable[[Visitor, Mapping[str, Any]], dict[str, Any]], needs_rater: bool = True
    ) -> Response:
        """Do some work for who was let in, and say as JSON what came of it or what was wrong."""
        visitor = self._find(request)
        if visitor is None:
            return _say(HTTPStatus.UNAUTHORIZED, OUTSIDE)
        if needs_rater and visitor.rater is None:
            return _say(HTTPStatus.CONFLICT, "no name yet; give one first")
        try:
            posted = await _read_post(request) if request.method == "POST" else {}
            return _give(HTTPStatus.OK, work(visitor, posted))
        except RatedMeanwhileError as fault:
            return _give(HTTPStatus.CONFLICT, {"error": str(fault), "rated": fault.row})
        except PkgError as fault:
            return _say(HTTPStatus.BAD_REQUEST, str(fault))


async def _read_post(request: Request) -> Mapping[str, Any]:
    """Read an object of JSON; an InputError for anything else, and for too much of it."""
    content = bytearray()
    async for piece in request.stream():
        content += piece
        if len(content) > LARGEST_POST:
            raise InputError(f"more than {LARGEST_POST:,} bytes; expected a rating")
    try:
        posted = json.loads(content)
    except (ValueError, RecursionError):
        raise InputError("no JSON; expected an object") from None
    if not isinstance(posted, dict):
        raise InputError("no object; expected one with a rating")
    return posted


def _say(status: HTTPStatus, text: str) -> Response:
    return _give(status, {"error": text})


def _give(status: HTTPStatus, answer: Mapping[str, Any]) -> Response:
    from starlette.responses import Response

    content = json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")
    return Response(content, status, media_type="application/json")
