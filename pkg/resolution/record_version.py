"""The version of the records that a resolution leaves, apart from them for builds that read none."""

from __future__ import annotations

VERSION = 26


def is_outdated(packed: bytes) -> bool:
    """Return whether a record was written by another version, whose links may be others."""
    return packed[:1] != bytes([VERSION])
