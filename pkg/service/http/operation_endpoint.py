"""Answer an operation over HTTP: read its arguments, run it in a thread, and write the accepted media type."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from http import HTTPStatus
from threading import Event
from typing import TYPE_CHECKING, Any

from pkg.errors import PkgError
from pkg.service.graph_service import GraphService
from pkg.service.http.answer_writing import EVENTS_TYPE, JSON_TYPE, LINES_TYPE, TEXT_TYPE, choose_type, write_answer
from pkg.service.http.ask_stream import AskStream, CallerGoneError
from pkg.service.http.http_options import HttpLimits
from pkg.service.http.problems import Problem, ReportDefect, describe_defect, describe_fault
from pkg.service.http.request_reading import read_object, read_query
from pkg.service.http.work_limit import WorkLimit
from pkg.service.operations.operation import Operation

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

ASK = "ask"
CLIENT_GONE = 499  # the customary status of a request whose client has disconnected; it is never sent


class OperationEndpoint:
    """The handler of all operations."""

    def __init__(self, service: GraphService, limits: HttpLimits, work: WorkLimit, report_defect: ReportDefect) -> None:
        self._service, self._limits, self._work, self._report_defect = service, limits, work, report_defect

    async def answer(self, request: Request, operation: Operation) -> Response:
        """Answer one request; every failure is answered as a problem."""
        from starlette.requests import ClientDisconnect
        from starlette.responses import Response

        try:
            return await self._answer(request, operation)
        except Problem as problem:
            return problem.to_response()
        except PkgError as fault:
            return describe_fault(fault).to_response()
        except ClientDisconnect:
            return Response(status_code=CLIENT_GONE)
        except Exception as fault:
            self._report_defect(operation.name, fault)
            return describe_defect().to_response()

    async def _answer(self, request: Request, operation: Operation) -> Response:
        from starlette.responses import Response

        if operation.writes_graph and not self._service.options.allow_build:
            detail = f"{operation.name} changes the graph, and this service only reads; start it with --allow-build"
            raise Problem(HTTPStatus.FORBIDDEN, detail)
        arguments = await self._read_arguments(request, operation)
        kind = choose_type(request.headers.get("accept", ""), list_types(operation))
        if kind == EVENTS_TYPE:
            return await AskStream(self._service, self._limits, self._work, self._report_defect).open(arguments)
        return Response(await self._run_for(request, operation.name, arguments, kind), media_type=kind)

    async def _read_arguments(self, request: Request, operation: Operation) -> Mapping[str, Any]:
        if request.method == "POST":
            arguments = await read_object(request, self._limits)
            operation.check_strictly(arguments)
            return arguments
        return read_query(request, operation.schema)

    async def _run_for(self, request: Request, name: str, arguments: Mapping[str, Any], kind: str) -> bytes:
        """Run an operation until it ends, the client disconnects or the time limit passes.

        A model is stopped in the latter two cases; other work runs to its end.
        """
        from starlette.requests import ClientDisconnect

        is_abandoned = Event()

        def check_abandoned(_: str) -> None:
            if is_abandoned.is_set():
                raise CallerGoneError

        def work() -> bytes:
            if name == ASK:
                return write_answer(self._service.stream_answer(arguments, check_abandoned), kind)
            return write_answer(self._service.run(name, arguments), kind)

        task, gone = asyncio.ensure_future(self._run(work)), asyncio.ensure_future(_await_disconnect(request))
        try:
            await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise ClientDisconnect
            return task.result()
        finally:
            is_abandoned.set()
            task.cancel()
            gone.cancel()

    async def _run(self, work: Callable[[], bytes]) -> bytes:
        future = await self._work.start(work)
        done, _ = await asyncio.wait((future,), timeout=self._limits.seconds)
        if done:
            return future.result()
        raise Problem(
            HTTPStatus.GATEWAY_TIMEOUT,
            f"not answered within {self._limits.seconds:g} seconds; ask for less (budget, limit, depth, source), or"
            " start with a longer --timeout",
        )


async def _await_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def list_types(operation: Operation) -> tuple[str, ...]:
    """List the media types of the answers of an operation, JSON first."""
    return (JSON_TYPE, LINES_TYPE, TEXT_TYPE, *([EVENTS_TYPE] if operation.name == ASK else []))


def list_methods(operation: Operation) -> tuple[str, ...]:
    """List the HTTP methods of an operation; one that changes the graph or runs code needs POST."""
    return ("POST",) if operation.writes_graph or operation.runs_code else ("GET", "POST")
