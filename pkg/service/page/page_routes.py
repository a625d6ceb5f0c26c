"""Serve the files of the page, which sends its questions to the operations of the same server."""

from __future__ import annotations

import threading
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING

from pkg.errors import MissingExtraError, PkgError
from pkg.service.page.page_file import SITE, join_modules

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from pkg.service.graph_service import GraphService

_TYPES = {
    "page.html": "text/html",
    "page.css": "text/css",
    "vendor/cytoscape.min.js": "text/javascript",
}
"""Media types of the served files; no other file is served."""
SCRIPT = "page.js"  # all modules in one
_MAP_LINK = '<a href="#/map" id="to-map">Map</a>'
_RUNS_LINK = '<a href="/evaluation">Evaluation</a>'
_HEADERS = {"cache-control": "no-cache"}  # revalidated at each use


def make_routes(has_runs: bool = False) -> list[BaseRoute]:
    """Return the routes of the page, which links to the reports of runs if there are any.

    Raises MissingExtraError without Starlette.
    """
    try:
        from starlette.routing import Route
    except ImportError as fault:
        raise MissingExtraError("starlette", "service", "the page of pkg serve") from fault
    return [Route("/", get_page_of_runs if has_runs else get_page), Route("/page/{name:path}", get_file)]


def prepare_page(service: GraphService) -> None:
    """Load the maps that the first view shows into the cache, in the background."""

    def read() -> None:
        with suppress(PkgError):  # the first request reports it
            for source in service.run("status", {}).lines[0]["sources"]:
                service.run("map", {"source": source["name"], "files": True, "budget": 0})

    threading.Thread(target=read, daemon=True).start()


async def get_page(request: Request) -> Response:
    """Return the HTML of the page, which holds no code of a repository."""
    return _send_file("page.html")


async def get_page_of_runs(request: Request) -> Response:
    """Return the HTML of the page with a link to the reports of runs."""
    from starlette.responses import HTMLResponse

    text = (SITE / "page.html").read_text(encoding="utf-8")
    return HTMLResponse(text.replace(_MAP_LINK, _MAP_LINK + _RUNS_LINK, 1), headers=_HEADERS)


async def get_file(request: Request) -> Response:
    """Return the script, style sheet or library of the page."""
    from starlette.responses import Response

    name = request.path_params["name"]
    if name == SCRIPT:
        return Response(join_modules(), media_type="text/javascript", headers=_HEADERS)
    return _send_file(name)


def _send_file(name: str) -> Response:
    from starlette.exceptions import HTTPException
    from starlette.responses import FileResponse

    if name not in _TYPES:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    return FileResponse(SITE / name, media_type=_TYPES[name], headers=_HEADERS)
