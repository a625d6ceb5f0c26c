"""Speak HTTP/1.1 with clients that may be slow, but not for ever: each would keep a connection."""

from __future__ import annotations

import asyncio
import json

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_BYTES = 65_536  # of a request line with all headers
HEAD_SECONDS = 10.0  # for the head of a request to arrive
TAKE_SECONDS = 30.0  # in which a client that is given an answer takes none of it, until it is cut off


class PatientProtocol(H11Protocol):
    """Cuts off who sends no whole head of a request, and who takes nothing of an answer."""

    _arriving: asyncio.TimerHandle | None = None  # until a whole head is there
    _taking: asyncio.TimerHandle | None = None  # until the client takes some of its answer

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._arriving = self._abort_after(HEAD_SECONDS)

    def data_received(self, data: bytes) -> None:
        """Wait no more once a request is whole enough to be answered."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            _cancel(self._arriving)
            self._arriving = None
        elif self._arriving is None:
            self._arriving = self._abort_after(HEAD_SECONDS)

    def pause_writing(self) -> None:
        """Begin to wait for the client to take what it is given."""
        super().pause_writing()
        _cancel(self._taking)
        self._taking = self._abort_after(TAKE_SECONDS)

    def resume_writing(self) -> None:
        """Wait no more."""
        super().resume_writing()
        _cancel(self._taking)

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that asks for nothing, even if its last answer was not taken."""
        super().timeout_keep_alive_handler()
        _cancel(self._taking)
        self._taking = self._abort_after(TAKE_SECONDS)

    def send_400_response(self, msg: str) -> None:
        """Answer what is no request, before any application sees it, as the applications answer."""
        detail = f"no request that can be read, or a head of more than {HEAD_BYTES:,} bytes; POST what is long"
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
        """Forget the connection."""
        _cancel(self._arriving)
        _cancel(self._taking)
        super().connection_lost(exc)

    def _abort_after(self, seconds: float) -> asyncio.TimerHandle:
        return self.loop.call_later(seconds, self.transport.abort)


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    """Stop a timer, if there is one."""
    if timer is not None:
        timer.cancel()
