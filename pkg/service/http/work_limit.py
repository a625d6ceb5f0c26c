"""Work on so many requests at once in threads; others wait, so many of them and so long, and are then refused."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http import HTTPStatus
from typing import TypeVar

from pkg.service.http.http_options import HttpLimits
from pkg.service.http.problems import RETRY_SECONDS, Problem

Found = TypeVar("Found")


class WorkLimit:
    """The threads that work; a place is free again when its work has ended, whoever still waits for that."""

    def __init__(self, limits: HttpLimits) -> None:
        self._limits = limits
        self._threads = ThreadPoolExecutor(limits.at_once, "pkg-serve")
        self._free = limits.at_once
        self._queue: dict[asyncio.Future[None], None] = {}  # those that wait, the first one first

    @property
    def running(self) -> int:
        """Count the requests that are worked on."""
        return self._limits.at_once - self._free

    @property
    def waiting(self) -> int:
        """Count the requests that wait for a place."""
        return len(self._queue)

    async def start(self, work: Callable[[], Found]) -> asyncio.Future[Found]:
        """Begin some work when there is a place; give its future. A Problem where that takes too long."""
        await self._take_place()
        loop = asyncio.get_running_loop()

        def free(_: object) -> None:
            with suppress(RuntimeError):  # the loop has ended before the work
                loop.call_soon_threadsafe(self._free_place)

        try:
            submitted = self._threads.submit(work)
        except RuntimeError as fault:
            raise Problem(HTTPStatus.SERVICE_UNAVAILABLE, "the service ends just now; start it again") from fault
        submitted.add_done_callback(free)
        started = asyncio.wrap_future(submitted)
        started.add_done_callback(lambda future: future.cancelled() or future.exception())  # nobody may wait any more
        return started

    async def _take_place(self) -> None:
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
                self._free_place()
            raise
        finally:
            self._queue.pop(turn, None)

    def _free_place(self) -> None:
        """Hand the place to who waits longest, or keep it free."""
        for turn in self._queue:
            if not turn.done():
                turn.set_result(None)
                del self._queue[turn]
                return
        self._free += 1

    def _refuse(self) -> Problem:
        return Problem(
            HTTPStatus.SERVICE_UNAVAILABLE,
            f"{self.running} requests are worked on and {self.waiting} wait; try again in {RETRY_SECONDS} seconds, or"
            " ask for less at once",
            headers={"retry-after": str(RETRY_SECONDS)},
        )
