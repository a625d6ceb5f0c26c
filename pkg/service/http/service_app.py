"""The application: operations, what is told of them and of the service, and the pages that are mounted beside."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING

from pkg import __version__
from pkg.errors import MissingExtraError
from pkg.service.graph_service import GraphService
from pkg.service.http.answer_writing import JSON_TYPE, write_json
from pkg.service.http.http_access import HttpAccess, HttpAccessGuard
from pkg.service.http.http_options import DEFAULT_LIMITS, HttpLimits
from pkg.service.http.operation_endpoint import OperationEndpoint, list_methods
from pkg.service.http.problems import Problem, SayDefect
from pkg.service.http.service_health import HealthCheck
from pkg.service.http.service_metrics import METRICS_TYPE, ServiceMetrics, read_memory
from pkg.service.http.work_limit import WorkLimit
from pkg.service.operations.catalogue import OPERATIONS
from pkg.service.web.web_guard import WebGuard

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

GZIP_BYTES, GZIP_LEVEL = 1_000, 5  # smaller answers fit into one packet; higher levels cost more than they save


def make_app(
    service: GraphService,
    access: HttpAccess,
    limits: HttpLimits = DEFAULT_LIMITS,
    routes: Sequence[BaseRoute] = (),
    say_defect: SayDefect = lambda operation, fault: None,
) -> Starlette:
    """Make the application.

    routes: such as those of a page, asked after all others and guarded as they are. A MissingExtraError without
    Starlette.
    """
    try:
        from starlette.applications import Starlette
        from starlette.exceptions import HTTPException
        from starlette.middleware import Middleware
        from starlette.middleware.gzip import GZipMiddleware
        from starlette.routing import Route
    except ImportError as fault:
        raise MissingExtraError("starlette", "service", "pkg serve") from fault
    served = ServedGraph(service, access, limits, say_defect)
    operations = [
        Route(f"/v1/{name}", partial(served.endpoint.answer, operation=each), methods=list(list_methods(each)))
        for name, each in OPERATIONS.items()
    ]
    return Starlette(
        routes=[
            *operations,
            Route("/openapi.json", served.describe),
            Route("/health", served.tell_health),
            Route("/health/live", served.tell_live),
            Route("/metrics", served.tell_metrics),
            *(routes or [Route("/", served.tell_addresses)]),
        ],
        middleware=[
            Middleware(WebGuard, hosts=access.browsers.hosts, refuse=_refuse),
            Middleware(CountingMiddleware, metrics=served.metrics),
            Middleware(HttpAccessGuard, access=access),
            Middleware(GZipMiddleware, minimum_size=GZIP_BYTES, compresslevel=GZIP_LEVEL),
        ],
        exception_handlers={HTTPException: tell_wrong_address},
    )


class ServedGraph:
    """What the addresses beside the operations answer, and what all of them share."""

    def __init__(self, service: GraphService, access: HttpAccess, limits: HttpLimits, say_defect: SayDefect) -> None:
        self.metrics = ServiceMetrics()
        self._work = WorkLimit(limits)
        self.endpoint = OperationEndpoint(service, limits, self._work, say_defect)
        self._access = access
        self._health = HealthCheck(service)
        self._described: bytes | None = None

    async def describe(self, request: Request) -> Response:
        """Give the description of all that is served."""
        from pkg.service.http.openapi import describe_service

        if self._described is None:
            self._described = write_json(describe_service(OPERATIONS, self._access.token is not None))
        return _give(self._described)

    async def tell_live(self, request: Request) -> Response:
        """Tell that something is served."""
        return _give(write_json({"live": True}))

    async def tell_health(self, request: Request) -> Response:
        """Tell whether there is a graph to ask."""
        found = await self._health.look()
        status = HTTPStatus.OK if found.ready else HTTPStatus.SERVICE_UNAVAILABLE
        return _give(write_json({"live": True, **asdict(found)}), status)

    async def tell_metrics(self, request: Request) -> Response:
        """Give what was counted, and how it is now."""
        from starlette.responses import Response

        found = await self._health.look()
        gauges = {
            "pkg_requests_in_flight": ("Requests that are worked on.", self._work.running),
            "pkg_requests_waiting": ("Requests that wait for a place.", self._work.waiting),
            "pkg_store_ready": ("Whether there is a graph to ask.", float(found.ready)),
            "pkg_store_generation": ("The generation of the graph.", found.generation),
            "process_resident_memory_bytes": ("Bytes of this process in memory.", read_memory()),
        }
        return Response(self.metrics.write(gauges), media_type=METRICS_TYPE)

    async def tell_addresses(self, request: Request) -> Response:
        """Tell a person who has come by a browser what there is."""
        from starlette.responses import PlainTextResponse

        lines = [f"pkg {__version__}", "", "GET /openapi.json   what can be asked", "GET /health", "GET /metrics"]
        lines += [f"{'|'.join(list_methods(each)):8} /v1/{name:10} {each.summary}" for name, each in OPERATIONS.items()]
        return PlainTextResponse("\n".join(lines) + "\n")


async def tell_wrong_address(request: Request, fault: Exception) -> Response:
    """Tell of an address or a method that there is not which there are."""
    from starlette.exceptions import HTTPException

    assert isinstance(fault, HTTPException)
    path, status = request.url.path[:100], HTTPStatus(fault.status_code)
    detail = str(fault.detail)
    if status is HTTPStatus.NOT_FOUND:
        detail = f"nothing is served at '{path}'; expected /v1/ with one of: {', '.join(OPERATIONS)}; or /openapi.json"
    elif status is HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = (fault.headers or {}).get("Allow", "another method")
        detail = f"{request.method[:20]} is not for '{path}'; expected {allowed}"
    return Problem(status, detail, headers=fault.headers or {}).to_response()


class CountingMiddleware:
    """Counts each request with the status of its answer and the seconds that it took."""

    def __init__(self, app: ASGIApp, metrics: ServiceMetrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Have a request answered, and count it."""
        start, status = time.perf_counter(), HTTPStatus.INTERNAL_SERVER_ERROR.value

        async def send_counted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_counted)
        finally:
            self._metrics.count(_name_counted(scope["path"]), status, time.perf_counter() - start)


def _name_counted(path: str) -> str:
    """Name what is counted together: whatever callers make up must not make new series."""
    name = path.removeprefix("/v1/")
    return name if name in OPERATIONS and name != path else "other"


def _refuse(status: HTTPStatus, reason: str) -> ASGIApp:
    return Problem(status, reason).to_response()


def _give(content: bytes, status: HTTPStatus = HTTPStatus.OK) -> Response:
    from starlette.responses import Response

    return Response(content, status, media_type=JSON_TYPE)
