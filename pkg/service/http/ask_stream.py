"""Answer a question as server-sent events: the evidence, the text as a model writes it, then the checked answer."""

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
from pkg.service.http.problems import Problem, SayDefect, describe_defect, describe_fault
from pkg.service.http.work_limit import WorkLimit

if TYPE_CHECKING:
    from starlette.responses import Response

ALIVE_SECONDS = 10.0  # without news, after which a comment tells that the work goes on, and shows who has gone

Event = tuple[str, Mapping[str, Any]]
"""A name, and what it tells."""
_END: Event = ("end", {})


class CallerGoneError(Exception):
    """Say to a model that nobody reads what it writes."""


class AskStream:
    """One question, and the events that its thread tells while it works."""

    def __init__(self, service: GraphService, limits: HttpLimits, work: WorkLimit, say_defect: SayDefect) -> None:
        self._service, self._limits, self._work, self._say_defect = service, limits, work, say_defect
        self._events: asyncio.Queue[Event | Problem] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._is_gone = threading.Event()
        self._end = 0.0

    async def open(self, arguments: Mapping[str, Any]) -> Response:
        """Begin to answer; a Problem where that fails before there is anything to tell."""
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
        """Write events until the last one; when the caller goes, the work is told to stop."""
        try:
            yield _render("notice", {"notice": NOTICE})
            while event is not _END:
                if isinstance(event, Problem):
                    yield _render("problem", event.to_json())
                    return
                yield b": working\n\n" if event is _ALIVE else _render(*event)
                event = await self._next(ALIVE_SECONDS)
        finally:
            self._is_gone.set()

    async def _next(self, patience: float | None = None) -> Event | Problem:
        left = self._end - time.monotonic()
        wait = left if patience is None else min(left, patience)
        try:
            return await asyncio.wait_for(self._events.get(), max(0.0, wait))
        except asyncio.TimeoutError:
            if time.monotonic() < self._end:
                return _ALIVE
            detail = f"not answered within {self._limits.stream_seconds:g} seconds; ask for less: tokens, max_tokens"
            return Problem(HTTPStatus.GATEWAY_TIMEOUT, detail)

    def _answer(self, arguments: Mapping[str, Any]) -> None:
        """Work, in a thread, and tell what there is as soon as it is there."""
        try:
            answer = self._service.ask_aloud(arguments, self._tell_text, lambda line: self._tell(("evidence", line)))
            self._tell(("answer", describe_answer(answer)))
            self._tell(_END)
        except CallerGoneError:
            pass
        except PkgError as fault:
            self._tell(describe_fault(fault))
        except Exception as fault:
            self._say_defect("ask", fault)
            self._tell(describe_defect())

    def _tell_text(self, piece: str) -> None:
        self._tell(("text", {"text": piece}))

    def _tell(self, event: Event | Problem) -> None:
        if self._is_gone.is_set():
            raise CallerGoneError
        self._loop.call_soon_threadsafe(self._events.put_nowait, event)


_ALIVE: Event = ("alive", {})


def _render(name: str, told: Mapping[str, Any]) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + write_json(told) + b"\n\n"
