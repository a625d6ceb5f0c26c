"""Version of link records, in a module of its own for builds that read none."""

from __future__ import annotations

VERSION = 28


def is_outdated(packed: bytes) -> bool:
    """Return whether a record was written by another version, whose links may differ."""
    return packed[:1] != bytes([VERSION])
