"""Give the files of the page; what it shows it asks of the operations that are served beside it."""

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
"""The files that are given, and no other, whatever is asked for."""
SCRIPT = "page.js"  # all modules in one
_HEADERS = {"cache-control": "no-cache"}  # asked for again each time, and sent again only after an update


def make_routes() -> list[BaseRoute]:
    """Make the routes of the page, for the application that serves a graph; a MissingExtraError without Starlette."""
    try:
        from starlette.routing import Route
    except ImportError as fault:
        raise MissingExtraError("starlette", "service", "the page of pkg serve") from fault
    return [Route("/", give_page), Route("/page/{name:path}", give_file)]


def prepare_page(service: GraphService) -> None:
    """Read in the background what the first view shows, before anybody asks for it."""

    def read() -> None:
        with suppress(PkgError):  # who asks will be told
            for source in service.run("status", {}).lines[0]["sources"]:
                service.run("map", {"source": source["name"], "files": True, "budget": 0})

    threading.Thread(target=read, daemon=True).start()


async def give_page(request: Request) -> Response:
    """Give the page itself, which holds no code of anybody."""
    return _give("page.html")


async def give_file(request: Request) -> Response:
    """Give a file that the page is made of."""
    from starlette.responses import Response

    name = request.path_params["name"]
    if name == SCRIPT:
        return Response(join_modules(), media_type="text/javascript", headers=_HEADERS)
    return _give(name)


def _give(name: str) -> Response:
    from starlette.exceptions import HTTPException
    from starlette.responses import FileResponse

    if name not in _TYPES:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    return FileResponse(SITE / name, media_type=_TYPES[name], headers=_HEADERS)
