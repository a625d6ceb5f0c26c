"""Send and receive JSON over a pipe, each message behind its length; both sides of the sandbox use this."""

from __future__ import annotations

import json
import os
from typing import Any

HEAD = 4  # bytes of the length, most significant first


def pack_message(message: Any) -> bytes:
    """Render a message with its length in front; lone surrogates survive, since JSON escapes them."""
    body = json.dumps(message).encode("ascii")
    return len(body).to_bytes(HEAD, "big") + body


def send_bytes(descriptor: int, data: bytes | memoryview) -> None:
    """Write all of it."""
    sent = 0
    with memoryview(data) as rest:
        while sent < len(rest):
            sent += os.write(descriptor, rest[sent:])


def receive_message(descriptor: int) -> Any | None:
    """Read one message; None at the end of the pipe."""
    head = receive_bytes(descriptor, HEAD)
    body = receive_bytes(descriptor, int.from_bytes(head, "big")) if head else None
    return None if body is None else json.loads(body)


def receive_bytes(descriptor: int, size: int) -> bytes | None:
    """Read exactly as many bytes; None where the pipe ends before."""
    pieces, missing = [], size
    while missing:
        piece = os.read(descriptor, min(missing, 1 << 20))
        if not piece:
            return None
        pieces.append(piece)
        missing -= len(piece)
    return b"".join(pieces)


def split_messages(data: bytes) -> list[bytes]:
    """Cut what an untrusted process wrote into the bodies of its messages; one that breaks off is left out."""
    bodies: list[bytes] = []
    start = 0
    while start + HEAD <= len(data):
        end = start + HEAD + int.from_bytes(data[start : start + HEAD], "big")
        if end > len(data):
            break
        bodies.append(data[start + HEAD : end])
        start = end
    return bodies
