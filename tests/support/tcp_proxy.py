"""A TCP proxy on loopback whose connections a test cuts or stalls."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from types import TracebackType
from urllib.parse import urlsplit

LOOPBACK = "127.0.0.1"
PIECE = 16_384  # bytes that are passed on at once


class TcpProxy:
    """Pass connections on to a server; count what goes there, cut it off, or let it stand still."""

    def __init__(self, uri: str) -> None:
        """Listen on a free port for the server at a bolt address."""
        target = urlsplit(uri)
        self._target = target.hostname or LOOPBACK, target.port or 7687
        self._listener = socket.create_server((LOOPBACK, 0))
        self.uri = f"bolt://{LOOPBACK}:{self._listener.getsockname()[1]}"
        self.accepted = 0  # connections
        self.sent = 0  # bytes that went to the server
        self._limit: int | None = None  # cut when so many have gone
        self._trigger: bytes | None = None  # cut when these come by
        self._delivers = False  # pass on what holds the trigger
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._flows = threading.Event()
        self._flows.set()

    def __enter__(self) -> TcpProxy:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()
        self._flows.set()

    def cut(self) -> None:
        """Break every connection that is open; new ones are accepted."""
        with self._lock:
            ends, self._open = self._open, set()
            self._limit = self._trigger = None
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut_after(self, count: int) -> None:
        """Break every connection when so many more bytes have gone to the server, in the middle of a message."""
        self._limit = self.sent + count

    def cut_at(self, content: bytes, delivers: bool) -> None:
        """Break every connection when a client sends these bytes, which are still passed on or are not."""
        self._trigger, self._delivers = content, delivers

    def stall(self) -> None:
        """Let connections stand open and pass nothing on, either way."""
        self._flows.clear()

    def resume(self) -> None:
        """Pass on again, with what has come meanwhile."""
        self._flows.set()

    def _accept(self) -> None:
        with suppress(OSError):  # the listener is closed at the end
            while True:
                client, _ = self._listener.accept()
                self.accepted += 1
                self._join(client)

    def _join(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(self._target)
        except OSError:
            client.close()
            return
        with self._lock:
            self._open |= {client, server}
        for source, target, is_client in ((client, server, True), (server, client, False)):
            threading.Thread(target=self._pump, args=(source, target, is_client), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket, is_client: bool) -> None:
        """Pass on until either end closes; the pump of the client's bytes closes both."""
        with suppress(OSError):
            while piece := source.recv(PIECE):
                self._flows.wait()
                if not (is_client and self._cuts(piece, target)):
                    target.sendall(piece)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            if is_client:
                end.close()

    def _cuts(self, piece: bytes, server: socket.socket) -> bool:
        """Count a piece of a client's; cut when it is the one that was waited for."""
        self.sent += len(piece)
        is_trigger = self._trigger is not None and self._trigger in piece
        if not is_trigger and (self._limit is None or self.sent < self._limit):
            return False
        if is_trigger and self._delivers:
            server.sendall(piece)
        self.cut()
        return True
