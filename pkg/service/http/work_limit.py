"""Limit concurrent requests: a fixed number runs in threads, further ones are queued, then refused."""

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
