"""Speak HTTP/1.1 with clients that may be slow, but not for ever: each would keep a connection."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0  # for the head of a request to arrive
TAKE_SECONDS = 30.0  # in which a client that is given an answer takes none of it, until it is cut off


class PatientProtocol(H11Protocol):
    """Cuts off who sends no whole head of a request, and who takes nothing of an answer."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait(HEAD_SECONDS)

    def data_received(self, data: bytes) -> None:
        """Wait no more once a request is whole enough to be answered."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self._waiting is None:
            self._wait(HEAD_SECONDS)

    def pause_writing(self) -> None:
        """Begin to wait for the client to take what it is given."""
        super().pause_writing()
        self._wait(TAKE_SECONDS)

    def resume_writing(self) -> None:
        """Wait no more."""
        super().resume_writing()
        self._stop_waiting()

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that asks for nothing, even if its last answer was not taken."""
        super().timeout_keep_alive_handler()
        self._wait(TAKE_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self, seconds: float) -> None:
        self._stop_waiting()
        self._waiting = self.loop.call_later(seconds, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
