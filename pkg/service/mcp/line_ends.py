"""Line ends of a text, so that inserted lines have the same."""

from __future__ import annotations


def find_line_end(text: str) -> str:
    r"""Return the most frequent line end of a text, \r\n or \n; \n for a text without lines."""
    with_return = text.count("\r\n")
    return "\r\n" if with_return * 2 > text.count("\n") else "\n"
