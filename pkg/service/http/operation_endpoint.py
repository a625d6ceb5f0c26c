"""Answer an operation over HTTP: read its arguments, run it in a thread, and write the accepted media type."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from pkg.errors import PkgError
from pkg.quoting.hidden_characters import escape_json, spell_hidden
from pkg.service.graph_service import Answer, GraphService
from pkg.service.http.http_options import (
    ASK,
    EVENTS_TYPE,
    JSON_TYPE,
    LINES_TYPE,
    NOTICE,
    TEXT_TYPE,
    HttpLimits,
    list_types,
)
from pkg.service.http.problems import RETRY_SECONDS, Problem, ReportDefect, describe_defect, describe_fault
from pkg.service.operations.catalogue import Operation

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


CLIENT_GONE = 499  # the customary status of a request whose client has disconnected; it is never sent
_CLOSE = {"connection": "close"}  # the rest of the body is not read
KEEPALIVE_SECONDS = 10.0  # without an event, until a comment is sent; writing it also detects disconnected callers

Event = tuple[str, Mapping[str, Any]]
"""The name of an event, and its data."""
_END: Event = ("end", {})
Found = TypeVar("Found")


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

        is_abandoned = threading.Event()

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


def choose_type(accepted: str, offered: tuple[str, ...]) -> str:
    """Return the first media type of an Accept header that is offered, else the first offered one."""
    named = (each.partition(";")[0].strip().lower() for each in accepted.split(","))
    return next((each for each in named if each in offered), offered[0])


def write_answer(answer: Answer, kind: str) -> bytes:
    """Return the body of an answer in a media type."""
    if kind == TEXT_TYPE:
        return (spell_hidden(answer.to_text()) + "\n").encode()
    if kind == LINES_TYPE:
        return b"".join(write_json(line) + b"\n" for line in answer.lines)
    return write_json(describe_answer(answer))


def describe_answer(answer: Answer) -> dict[str, Any]:
    """Return an answer as a JSON-ready object, with the notice and the caveats in words."""
    described = {"notice": NOTICE, **answer.to_json()}
    described["freshness"]["note"] = answer.freshness.describe()
    return described


def write_json(found: Mapping[str, Any]) -> bytes:
    """Return JSON as UTF-8; bytes of file names that are not valid UTF-8 are kept as escapes."""
    return escape_json(json.dumps(found, ensure_ascii=False)).encode()


async def read_object(request: Request, limits: HttpLimits) -> dict[str, Any]:
    """Read a JSON object from the body; an empty body is an empty object.

    Raises Problem for anything else, and for a body that is too long or arrives too slowly.
    """
    try:
        content = await asyncio.wait_for(_read_body(request, limits.body_bytes), limits.body_seconds)
    except asyncio.TimeoutError:
        detail = f"the body did not arrive within {limits.body_seconds:g} seconds; send it again, at once"
        raise Problem(HTTPStatus.REQUEST_TIMEOUT, detail, headers=_CLOSE) from None
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != JSON_TYPE and (given or content):
        seen = f"content-type '{given[:80]}'" if given else "no content-type"
        raise Problem(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"{seen}; expected {JSON_TYPE}")
    return parse_object(content or b"{}")


async def _read_body(request: Request, most: int) -> bytes:
    announced = request.headers.get("content-length", "")
    content = bytearray()
    if not (announced.isdecimal() and int(announced[:20]) > most):
        async for piece in request.stream():
            content += piece
            if len(content) > most:
                break
        else:
            return bytes(content)
    detail = f"the body is longer than {most:,} bytes; expected the arguments of one operation"
    raise Problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail, headers=_CLOSE)


def parse_object(content: bytes) -> dict[str, Any]:
    """Parse a JSON object; raises Problem for anything else."""
    try:
        found = json.loads(content, parse_float=_read_number, parse_constant=_refuse_constant)
    except UnicodeDecodeError:
        raise Problem(HTTPStatus.BAD_REQUEST, "the body is not UTF-8; expected a JSON object") from None
    except json.JSONDecodeError as fault:
        place = f"line {fault.lineno}, column {fault.colno}"
        raise Problem(HTTPStatus.BAD_REQUEST, f"invalid JSON: {fault.msg} ({place}); expected an object") from None
    except (RecursionError, ValueError) as fault:
        reason = "nested too deeply" if isinstance(fault, RecursionError) else str(fault)[:80]
        raise Problem(HTTPStatus.BAD_REQUEST, f"unsupported JSON: {reason}; expected an object") from None
    if not isinstance(found, dict):
        raise Problem(HTTPStatus.BAD_REQUEST, f"the JSON value is a {type(found).__name__}; expected an object")
    return found


def _read_number(written: str) -> int | float:
    """Parse a number: JSON does not distinguish 3.0 from 3."""
    number = float(written)
    return int(number) if number.is_integer() else number


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def read_query(request: Request, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Read the arguments in the query of a URL, converted to the types of the schema; lists repeat their name.

    A value that cannot be converted stays a string, which the validation of the operation reports. Raises Problem for
    a repeated argument that is not a list.
    """
    query, properties = request.query_params, schema.get("properties", {})
    found = dict[str, Any]()
    for name in dict.fromkeys(query):
        kinds, values = _list_types(properties.get(name, {})), query.getlist(name)
        if "array" in kinds:
            found[name] = values
        elif len(values) > 1:
            detail = f"argument '{name}' is given {len(values)} times; expected it once"
            raise Problem(HTTPStatus.BAD_REQUEST, detail)
        else:
            found[name] = _read_value(values[0], kinds)
    return found


def _list_types(schema: Mapping[str, Any]) -> set[str]:
    choices = schema.get("anyOf", [schema])
    return {each.get("type", "") for each in choices}


def _read_value(value: str, kinds: set[str]) -> Any:
    if "boolean" in kinds and value in ("true", "false"):
        return value == "true"
    if "integer" in kinds and value.removeprefix("-").isascii() and value.removeprefix("-").isdecimal():
        return int(value[:20])
    return value


class CallerGoneError(Exception):
    """Stops a model whose caller has disconnected."""


class AskStream:
    """One question, and the queue of events that its worker thread fills."""

    def __init__(self, service: GraphService, limits: HttpLimits, work: WorkLimit, report_defect: ReportDefect) -> None:
        self._service, self._limits, self._work, self._report_defect = service, limits, work, report_defect
        self._events: asyncio.Queue[Event | Problem] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._is_gone = threading.Event()
        self._end = 0.0

    async def open(self, arguments: Mapping[str, Any]) -> Response:
        """Start to answer; raises Problem if that fails before the first event."""
        from starlette.responses import StreamingResponse

        await self._work.start(partial(self._answer, arguments))
        self._end = time.monotonic() + self._limits.stream_seconds
        try:
            first = await self._next()
        except BaseException:
            self._is_gone.set()
            raise
        if isinstance(first, Problem):
            self._is_gone.set()
            raise first
        return StreamingResponse(self._write(first), media_type=EVENTS_TYPE, headers={"x-accel-buffering": "no"})

    async def _write(self, event: Event | Problem) -> AsyncIterator[bytes]:
        """Write events until the last one; stop the worker when the caller disconnects."""
        try:
            yield _render("notice", {"notice": NOTICE})
            while event is not _END:
                if isinstance(event, Problem):
                    yield _render("problem", event.to_json())
                    return
                yield b": working\n\n" if event is _KEEPALIVE else _render(*event)
                event = await self._next(KEEPALIVE_SECONDS)
        finally:
            self._is_gone.set()

    async def _next(self, timeout: float | None = None) -> Event | Problem:
        left = self._end - time.monotonic()
        wait = left if timeout is None else min(left, timeout)
        try:
            return await asyncio.wait_for(self._events.get(), max(0.0, wait))
        except asyncio.TimeoutError:
            if time.monotonic() < self._end:
                return _KEEPALIVE
            detail = f"not answered within {self._limits.stream_seconds:g} seconds; ask for less: tokens, max_tokens"
            return Problem(HTTPStatus.GATEWAY_TIMEOUT, detail)

    def _answer(self, arguments: Mapping[str, Any]) -> None:
        """Answer in the worker thread, and queue each event as soon as it is known."""
        try:
            answer = self._service.stream_answer(
                arguments, self._send_text, lambda line: self._send(("evidence", line))
            )
            self._send(("answer", describe_answer(answer)))
            self._send(_END)
        except CallerGoneError:
            pass
        except PkgError as fault:
            self._send(describe_fault(fault))
        except Exception as fault:
            self._report_defect("ask", fault)
            self._send(describe_defect())

    def _send_text(self, piece: str) -> None:
        self._send(("text", {"text": piece}))

    def _send(self, event: Event | Problem) -> None:
        if self._is_gone.is_set():
            raise CallerGoneError
        self._loop.call_soon_threadsafe(self._events.put_nowait, event)


_KEEPALIVE: Event = ("alive", {})


def _render(name: str, data: Mapping[str, Any]) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + write_json(data) + b"\n\n"


class WorkLimit:
    """A thread pool with a bounded queue; a slot is freed when its work has ended, even if the caller has left."""

    def __init__(self, limits: HttpLimits) -> None:
        self._limits = limits
        self._threads = ThreadPoolExecutor(limits.at_once, "pkg-serve")
        self._free = limits.at_once
        self._queue: dict[asyncio.Future[None], None] = {}  # waiting requests, in order of arrival

    @property
    def running(self) -> int:
        """Number of requests in progress."""
        return self._limits.at_once - self._free

    @property
    def waiting(self) -> int:
        """Number of queued requests."""
        return len(self._queue)

    async def start(self, work: Callable[[], Found]) -> asyncio.Future[Found]:
        """Wait for a slot, start the work and return its future; raises Problem if there is no slot in time."""
        await self._acquire()
        loop = asyncio.get_running_loop()

        def free(_: object) -> None:
            with suppress(RuntimeError):  # the loop has ended before the work
                loop.call_soon_threadsafe(self._release)

        try:
            submitted = self._threads.submit(work)
        except RuntimeError as fault:
            raise Problem(HTTPStatus.SERVICE_UNAVAILABLE, "the service is shutting down; start it again") from fault
        submitted.add_done_callback(free)
        started = asyncio.wrap_future(submitted)
        started.add_done_callback(lambda future: future.cancelled() or future.exception())  # the caller may have left
        return started

    async def _acquire(self) -> None:
        if self._free:
            self._free -= 1
            return
        if len(self._queue) >= self._limits.waiting:
            raise self._refuse()
        turn = asyncio.get_running_loop().create_future()
        self._queue[turn] = None
        try:
            await asyncio.wait_for(asyncio.shield(turn), self._limits.waiting_seconds)
        except asyncio.TimeoutError:
            if not turn.done():
                raise self._refuse() from None
        except asyncio.CancelledError:
            if turn.done():
                self._release()
            raise
        finally:
            self._queue.pop(turn, None)

    def _release(self) -> None:
        """Hand the slot to the request that waits longest, or keep it free."""
        for turn in self._queue:
            if not turn.done():
                turn.set_result(None)
                del self._queue[turn]
                return
        self._free += 1

    def _refuse(self) -> Problem:
        return Problem(
            HTTPStatus.SERVICE_UNAVAILABLE,
            f"{self.running} requests are in progress and {self.waiting} wait; try again in {RETRY_SECONDS} seconds, or"
            " send fewer requests at once",
            headers={"retry-after": str(RETRY_SECONDS)},
        )
