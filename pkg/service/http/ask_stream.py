"""Answer a question as server-sent events: the evidence, the text as the model writes it, then the checked answer."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Mapping
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from pkg.errors import PkgError
from pkg.service.graph_service import GraphService
from pkg.service.http.answer_writing import EVENTS_TYPE, NOTICE, describe_answer, write_json
from pkg.service.http.http_options import HttpLimits
from pkg.service.http.problems import Problem, ReportDefect, describe_defect, describe_fault
from pkg.service.http.work_limit import WorkLimit

if TYPE_CHECKING:
    from starlette.responses import Response

KEEPALIVE_SECONDS = 10.0  # without an event, until a comment is sent; writing it also detects disconnected callers

Event = tuple[str, Mapping[str, Any]]
"""The name of an event, and its data."""
_END: Event = ("end", {})


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
