"""Which line end a text has, so that what is put into it has the same."""

from __future__ import annotations


def find_line_end(text: str) -> str:
    r"""Find the line end that most lines of a text have: \r\n or \n, which is that of a text without any."""
    with_return = text.count("\r\n")
    return "\r\n" if with_return * 2 > text.count("\n") else "\n"
