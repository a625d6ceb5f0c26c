"""Words that several messages share."""

from __future__ import annotations


def shorten(text: str, longest: int) -> str:
    """Cut a text at a number of characters, and show that it was cut."""
    return text if len(text) <= longest else text[: longest - 3] + "..."
