"""The ASGI application: operations, their description, health, metrics, and the pages mounted beside them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING

from pkg import __version__
from pkg.errors import MissingExtraError, PkgError
from pkg.service.graph_service import GraphService
from pkg.service.http.http_access import HttpAccess, HttpAccessGuard
from pkg.service.http.http_options import DEFAULT_LIMITS, JSON_TYPE, HttpLimits, HttpOptions, list_methods
from pkg.service.http.operation_endpoint import OperationEndpoint, WorkLimit, write_json
from pkg.service.http.problems import Problem, ReportDefect
from pkg.service.http.service_metrics import METRICS_TYPE, ServiceMetrics, read_memory
from pkg.service.operations.catalogue import OPERATIONS
from pkg.service.web.web_access import BrowserAccess, WebGuard, WebHosts
from pkg.service.web.web_server import list_hosts, make_server, open_socket

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


GZIP_BYTES, GZIP_LEVEL = 1_000, 5  # smaller answers fit into one packet; higher levels cost more than they save
CACHE_SECONDS = 1.0  # for which a result is returned again
TIMEOUT_SECONDS = 5.0  # after which a store counts as unavailable
Announce = Callable[[str, str], None]
"""Receives the address for programs and the one for a browser, which is single-use if there is a token."""


def make_app(
    service: GraphService,
    access: HttpAccess,
    limits: HttpLimits = DEFAULT_LIMITS,
    routes: Sequence[BaseRoute] = (),
    report_defect: ReportDefect = lambda operation, fault: None,
) -> Starlette:
    """Build the application.

    routes: further routes, such as those of a page, matched last and guarded like the others. Raises MissingExtraError
    without Starlette.
    """
    try:
        from starlette.applications import Starlette
        from starlette.exceptions import HTTPException
        from starlette.middleware import Middleware
        from starlette.middleware.gzip import GZipMiddleware
        from starlette.routing import Route
    except ImportError as fault:
        raise MissingExtraError("starlette", "service", "pkg serve") from fault
    endpoints = ServiceEndpoints(service, access, limits, report_defect)
    operations = [
        Route(f"/v1/{name}", partial(endpoints.operations.answer, operation=each), methods=list(list_methods(each)))
        for name, each in OPERATIONS.items()
    ]
    return Starlette(
        routes=[
            *operations,
            Route("/openapi.json", endpoints.describe),
            Route("/health", endpoints.get_health),
            Route("/health/live", endpoints.get_live),
            Route("/metrics", endpoints.get_metrics),
            *(routes or [Route("/", endpoints.list_paths)]),
        ],
        middleware=[
            Middleware(WebGuard, hosts=access.browsers.hosts, refuse=_refuse),
            Middleware(CountingMiddleware, metrics=endpoints.metrics),
            Middleware(HttpAccessGuard, access=access),
            Middleware(GZipMiddleware, minimum_size=GZIP_BYTES, compresslevel=GZIP_LEVEL),
        ],
        exception_handlers={HTTPException: answer_http_error},
    )


class ServiceEndpoints:
    """The handlers of all paths, and the state that they share."""

    def __init__(
        self, service: GraphService, access: HttpAccess, limits: HttpLimits, report_defect: ReportDefect
    ) -> None:
        self.metrics = ServiceMetrics()
        self._work = WorkLimit(limits)
        self.operations = OperationEndpoint(service, limits, self._work, report_defect)
        self._access = access
        self._health = HealthCheck(service)
        self._description: bytes | None = None

    async def describe(self, request: Request) -> Response:
        """Return the OpenAPI document."""
        from pkg.service.http.openapi import describe_service

        if self._description is None:
            self._description = write_json(describe_service(OPERATIONS, self._access.token is not None))
        return _respond(self._description)

    async def get_live(self, request: Request) -> Response:
        """Return that the service is running."""
        return _respond(write_json({"live": True}))

    async def get_health(self, request: Request) -> Response:
        """Return whether the graph can be searched."""
        found = await self._health.check()
        status = HTTPStatus.OK if found.ready else HTTPStatus.SERVICE_UNAVAILABLE
        return _respond(write_json({"live": True, **asdict(found)}), status)

    async def get_metrics(self, request: Request) -> Response:
        """Return the metrics."""
        from starlette.responses import Response

        found = await self._health.check()
        gauges = {
            "pkg_requests_in_flight": ("Requests in progress.", self._work.running),
            "pkg_requests_waiting": ("Queued requests.", self._work.waiting),
            "pkg_store_ready": ("Whether the graph can be searched.", float(found.ready)),
            "pkg_store_generation": ("Generation of the graph.", found.generation),
            "process_resident_memory_bytes": ("Resident memory in bytes.", read_memory()),
        }
        return Response(self.metrics.write(gauges), media_type=METRICS_TYPE)

    async def list_paths(self, request: Request) -> Response:
        """List the paths for a person with a browser."""
        from starlette.responses import PlainTextResponse

        lines = [
            f"pkg {__version__}",
            "",
            "GET /openapi.json   all arguments and answers",
            "GET /health",
            "GET /metrics",
        ]
        lines += [f"{'|'.join(list_methods(each)):8} /v1/{name:10} {each.summary}" for name, each in OPERATIONS.items()]
        return PlainTextResponse("\n".join(lines) + "\n")


async def answer_http_error(request: Request, fault: Exception) -> Response:
    """Answer an unknown path or method with the known ones."""
    from starlette.exceptions import HTTPException

    assert isinstance(fault, HTTPException)
    path, status = request.url.path[:100], HTTPStatus(fault.status_code)
    detail = str(fault.detail)
    if status is HTTPStatus.NOT_FOUND:
        detail = f"unknown path '{path}'; expected /v1/ with one of: {', '.join(OPERATIONS)}; or /openapi.json"
    elif status is HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = (fault.headers or {}).get("Allow", "another method")
        detail = f"method {request.method[:20]} is not allowed for '{path}'; expected {allowed}"
    return Problem(status, detail, headers=fault.headers or {}).to_response()


class CountingMiddleware:
    """Middleware that counts requests by status and measures their seconds."""

    def __init__(self, app: ASGIApp, metrics: ServiceMetrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one ASGI request."""
        start, status = time.perf_counter(), HTTPStatus.INTERNAL_SERVER_ERROR.value

        async def send_counted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_counted)
        finally:
            self._metrics.count(_name_series(scope["path"]), status, time.perf_counter() - start)


def _name_series(path: str) -> str:
    """Return the series of a path; all unknown paths share one, so that callers cannot create series."""
    name = path.removeprefix("/v1/")
    return name if name in OPERATIONS and name != path else "other"


def _refuse(status: HTTPStatus, reason: str) -> ASGIApp:
    return Problem(status, reason).to_response()


def _respond(content: bytes, status: HTTPStatus = HTTPStatus.OK) -> Response:
    from starlette.responses import Response

    return Response(content, status, media_type=JSON_TYPE)


@dataclass(frozen=True, slots=True)
class Health:
    """The result of a check: whether the graph can be searched, and its generation."""

    ready: bool
    generation: int = 0
    note: str = ""


class HealthCheck:
    """Checks the store in a thread of its own, at most once per CACHE_SECONDS."""

    def __init__(self, service: GraphService) -> None:
        self._service = service
        self._thread = ThreadPoolExecutor(1, "pkg-health")
        self._checking: asyncio.Future[Health] | None = None
        self._found = Health(False)
        self._until = 0.0

    async def check(self) -> Health:
        """Return the health, at most CACHE_SECONDS old."""
        if time.monotonic() < self._until:
            return self._found
        if self._checking is None or self._checking.done():
            self._checking = asyncio.wrap_future(self._thread.submit(self._check))
        done, _ = await asyncio.wait((self._checking,), timeout=TIMEOUT_SECONDS)
        if not done:
            return Health(False, note=f"the store does not answer within {TIMEOUT_SECONDS:g} seconds")
        self._found, self._until = self._checking.result(), time.monotonic() + CACHE_SECONDS
        return self._found

    def _check(self) -> Health:
        try:
            answer = self._service.run("status", {})
        except PkgError as fault:
            return Health(False, note=type(fault).__name__)  # health is public, and the message may name files
        except Exception:
            return Health(False, note="Defect")
        return Health(bool(answer.lines[0]["ready"]), answer.freshness.generation, answer.freshness.describe())


def serve_graph(
    service: GraphService,
    options: HttpOptions,
    announce: Announce,
    report_defect: ReportDefect,
    routes: Sequence[BaseRoute] = (),
) -> None:
    """Serve a graph; a single-use address that was used is replaced by a new one.

    Raises KeyboardInterrupt on Ctrl-C, UsageError for an invalid address, PkgError for a port that is in use and
    MissingExtraError without the extra service.
    """
    with closing(open_socket(options.host, options.port)) as opened:
        hosts = WebHosts(list_hosts(options.host, opened.getsockname()[1]), has_programs=True)
        browsers = BrowserAccess[str](hosts, "serve")
        address = f"http://{hosts.first}"

        def announce_address() -> None:
            announce(address, f"{address}/" if options.token is None else browsers.make_address("browser"))

        access = HttpAccess(browsers, options.token, announce_address)
        server = make_server(make_app(service, access, options.limits, routes, report_defect), "pkg serve")
        announce_address()
        server.run(sockets=[opened])
