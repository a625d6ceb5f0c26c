"""HTTP/1.1 with timeouts for slow clients, each of which would keep a connection."""

from __future__ import annotations

import asyncio
import json

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_BYTES = 65_536  # of a request line with all headers
HEAD_SECONDS = 10.0  # to receive the head of a request
WRITE_SECONDS = 30.0  # without reading any of its answer, after which a client is disconnected


class TimeoutProtocol(H11Protocol):
    """Disconnects clients that do not send a complete request head, or do not read their answer."""

    _head_timer: asyncio.TimerHandle | None = None  # runs until the request head is complete
    _write_timer: asyncio.TimerHandle | None = None  # runs until the client reads some of its answer

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timeout of the request head."""
        super().connection_made(transport)
        self._head_timer = self._abort_after(HEAD_SECONDS)

    def data_received(self, data: bytes) -> None:
        """Stop the timeout when the request head is complete."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            _cancel(self._head_timer)
            self._head_timer = None
        elif self._head_timer is None:
            self._head_timer = self._abort_after(HEAD_SECONDS)

    def pause_writing(self) -> None:
        """Start the timeout of the answer."""
        super().pause_writing()
        _cancel(self._write_timer)
        self._write_timer = self._abort_after(WRITE_SECONDS)

    def resume_writing(self) -> None:
        """Stop the timeout of the answer."""
        super().resume_writing()
        _cancel(self._write_timer)

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection, even if the client did not read its last answer."""
        super().timeout_keep_alive_handler()
        _cancel(self._write_timer)
        self._write_timer = self._abort_after(WRITE_SECONDS)

    def send_400_response(self, msg: str) -> None:
        """Answer an invalid request, which no application sees, with a problem as the applications do."""
        detail = f"invalid HTTP request, or a head of more than {HEAD_BYTES:,} bytes; send long arguments by POST"
        problem = {"type": "about:blank", "title": "Bad Request", "status": 400, "detail": detail, "kind": "Request"}
        content = json.dumps(problem).encode()
        headers = [(b"content-type", b"application/problem+json"), (b"connection", b"close")]
        for event in (
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=content),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all timeouts."""
        _cancel(self._head_timer)
        _cancel(self._write_timer)
        super().connection_lost(exc)

    def _abort_after(self, seconds: float) -> asyncio.TimerHandle:
        return self.loop.call_later(seconds, self.transport.abort)


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    """Stop a timer, if there is one."""
    if timer is not None:
        timer.cancel()
