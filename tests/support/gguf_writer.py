"""Tiny hand-written GGUF files."""

from __future__ import annotations

import struct
from pathlib import Path

UINT32, TEXT, LIST = 4, 8, 9
FLOAT32 = 0  # type of a tensor


def write_gguf(
    path: Path, settings: dict[str, int | str | list[str]], weights: int = 64, version: int = 3, missing: int = 0
) -> Path:
    """Write a file with one tensor of float32 weights; its last bytes may be missing."""
    head = b"GGUF" + struct.pack("<IQQ", version, 1, len(settings))
    for name, value in settings.items():
        head += _text(name)
        if isinstance(value, int):
            head += struct.pack("<II", UINT32, value)
        elif isinstance(value, str):
            head += struct.pack("<I", TEXT) + _text(value)
        else:
            head += struct.pack("<IIQ", LIST, TEXT, len(value)) + b"".join(map(_text, value))
    head += _text("weights") + struct.pack("<IQIQ", 1, weights, FLOAT32, 0)
    head += b"\0" * (-len(head) % 32)
    data = b"".join(struct.pack("<f", number) for number in range(weights))
    path.write_bytes(head + data[: len(data) - missing])
    return path


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data
