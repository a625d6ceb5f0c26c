"""Send and receive JSON over a pipe, each message behind its length; both sides of the sandbox use this."""

from __future__ import annotations

import json
import os
from typing import Any

HEAD = 4  # bytes of the length, most significant first


def pack_frame(message: Any) -> bytes:
    """Render a message with its length in front; lone surrogates survive, since JSON escapes them."""
    body = json.dumps(message).encode("ascii")
    return len(body).to_bytes(HEAD, "big") + body


def send_bytes(descriptor: int, data: bytes | memoryview) -> None:
    """Write all of it."""
    sent = 0
    with memoryview(data) as rest:
        while sent < len(rest):
            sent += os.write(descriptor, rest[sent:])


def receive_frame(descriptor: int) -> Any | None:
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


def split_frames(data: bytes) -> list[Any]:
    """Read the whole messages at the front of what an untrusted process wrote; stop at the first that is not one."""
    messages: list[Any] = []
    while len(data) >= HEAD:
        end = HEAD + int.from_bytes(data[:HEAD], "big")
        if end > len(data):
            break
        try:
            messages.append(json.loads(data[HEAD:end]))
        except (ValueError, RecursionError):
            break
        data = data[end:]
    return messages
