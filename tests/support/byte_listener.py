"""Listen on this machine, hang up on whoever comes, and count what they sent."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

WAIT = 0.2  # seconds for a client to say something


@dataclass
class Listener:
    """Where it listens, who came and what they sent."""

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
