"""Listen on this machine, close every connection, and record the received bytes."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

WAIT = 0.2  # seconds for a client to send something


@dataclass
class Listener:
    """The port of the listener, the number of clients and the bytes received."""

    port: int
    clients: int = 0
    received: bytes = b""


@contextmanager
def listen_locally() -> Iterator[Listener]:
    """Listen until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        listener = Listener(server.getsockname()[1])
        thread = threading.Thread(target=_serve, args=(server, listener))
        thread.start()
        try:
            yield listener
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


def _serve(server: socket.socket, listener: Listener) -> None:
    with suppress(OSError):
        while True:
            client, _ = server.accept()
            with client, suppress(OSError):
                listener.clients += 1
                client.settimeout(WAIT)
                listener.received += client.recv(1 << 16)
