"""Send and receive length-prefixed JSON messages over a pipe; used on both sides of the sandbox."""

from __future__ import annotations

import json
import os
from typing import Any

HEADER_BYTES = 4  # of the length, big-endian


def pack_message(message: Any) -> bytes:
    """Return a message with its length prefix; lone surrogates are preserved, because JSON escapes them."""
    body = json.dumps(message).encode("ascii")
    return len(body).to_bytes(HEADER_BYTES, "big") + body


def send_bytes(descriptor: int, data: bytes | memoryview) -> None:
    """Write all data."""
    sent = 0
    with memoryview(data) as rest:
        while sent < len(rest):
            sent += os.write(descriptor, rest[sent:])


def receive_message(descriptor: int) -> Any | None:
    """Receive one message; None at the end of the pipe."""
    head = receive_bytes(descriptor, HEADER_BYTES)
    body = receive_bytes(descriptor, int.from_bytes(head, "big")) if head else None
    return None if body is None else json.loads(body)


def receive_bytes(descriptor: int, size: int) -> bytes | None:
    """Receive exactly that many bytes; None if the pipe ends before."""
    pieces, missing = [], size
    while missing:
        piece = os.read(descriptor, min(missing, 1 << 20))
        if not piece:
            return None
        pieces.append(piece)
        missing -= len(piece)
    return b"".join(pieces)


def split_messages(data: bytes) -> list[bytes]:
    """Split the output of an untrusted process into message bodies; an incomplete one is dropped."""
    bodies: list[bytes] = []
    start = 0
    while start + HEADER_BYTES <= len(data):
        end = start + HEADER_BYTES + int.from_bytes(data[start : start + HEADER_BYTES], "big")
        if end > len(data):
            break
        bodies.append(data[start + HEADER_BYTES : end])
        start = end
    return bodies
