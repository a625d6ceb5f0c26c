"""How names are written in texts, where Python knows them otherwise: private ones, and those not in NFKC (A-12)."""

from __future__ import annotations

import re
from unicodedata import normalize

_PRIVATE = re.compile(r"_[^_].*(__.+)(?<!__)\Z", re.DOTALL)  # with the class; the end stands in every text that has it


def encode(name: str) -> bytes:
    """Write a name as it stands in a text."""
    return name.encode("utf-8", "replace")


def encode_end(name: str) -> bytes:
    """Write what stands of a name in every text that has it: of a private one, its end."""
    private = _PRIVATE.match(name)
    return encode(private[1] if private else name)


def match_name(name: str) -> bytes:
    """Give a pattern of a name as it is written: of a private one the class may be left out."""
    return (rb"\w*" if _PRIVATE.match(name) else b"") + re.escape(encode_end(name))


def normalise(text: bytes) -> bytes:
    """Give a text in which names stand as Python knows them, to look for these."""
    return text if text.isascii() else normalize("NFKC", text.decode("utf-8", "replace")).encode("utf-8", "replace")
