"""Read source bytes as Python does: UTF-8, UTF-16 by its mark, else by the coding comment of the file."""

from __future__ import annotations

import re

_COOKIE = re.compile(rb"(?:[ \t\f]*(?:#[^\n]*)?\n)?[ \t\f]*#[^\n]*?coding[:=][ \t]*([-\w.]+)")  # PEP 263
_MARKS = (b"\xff\xfe", b"\xfe\xff")


def decode_source(raw: bytes) -> tuple[bytes, str | None]:
    """Give a source as UTF-8, and what it was read as when it was something else; an unknown coding changes nothing."""
    if raw.startswith(_MARKS):
        return raw.decode("utf-16", "replace").encode("utf-8"), _describe("UTF-16")
    cookie = None if raw.isascii() else _COOKIE.match(raw)
    if cookie is None or _is_utf_8(raw):
        return raw, None
    coding = cookie.group(1).decode("ascii", "replace")
    try:
        return raw.decode(coding).encode("utf-8"), _describe(coding)
    except (LookupError, ValueError):
        return raw, None


def _is_utf_8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _describe(coding: str) -> str:
    return f"read as {coding}; spans count its UTF-8 form"
