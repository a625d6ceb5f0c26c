"""The templates' own lines, and quoting, which keeps a task, helper or feedback from imitating them.

Quoting escapes hidden characters and breaks control tokens (pkg.quoting). A quoted line that equals a template's own
gets ``> `` before its words. Code is put in comments, or in a fence longer than any run of backticks in the prompt.
"""

from __future__ import annotations

import re

from pkg.quoting.data_marks import quote_data

HELPERS_START, HELPERS_END = "The following code might be helpful.", "End of helper section."
HELPERS_NOTE = "Code that may help:"
CODE_NOTE = "Code of the project:"
ATTEMPTS_START, ATTEMPTS_END = "Earlier attempts failed, the oldest first:", "End of attempts."
PROBLEM_START, PROBLEM_END = "Problem:", "End of problem."
RESULT = "What happened:"
ATTEMPTS_ADVICE = "Find out why they failed, and write code that does not."

_LINES = (
    *(HELPERS_START, HELPERS_END, HELPERS_NOTE, CODE_NOTE),
    *(ATTEMPTS_START, ATTEMPTS_END, PROBLEM_START, PROBLEM_END, RESULT),
)
MARKER = re.compile(
    rf"(?P<head>\s*(?:#\s*)*)(?:{'|'.join(map(re.escape, _LINES))}|helper code \d+:|attempt \d+:)\s*", re.IGNORECASE
)
"""A template's own line, plain or as a comment."""


def quote(text: str) -> str:
    """Quote a text, and mark each line that equals a template's own."""
    return "\n".join(map(_mark_line, quote_data(text).split("\n")))


def _mark_line(line: str) -> str:
    found = MARKER.fullmatch(line)
    if found is None:
        return line
    words = found.end("head")  # after the # of a comment, so that code stays code
    return f"{line[:words]}> {line[words:]}"


def quote_place(place: str) -> str:
    """Quote a place on one line, whatever characters its path has."""
    return quote(" ".join(place.split()))


def comment(text: str, mark: str = "# ") -> str:
    """Quote a text and put a comment mark before each line."""
    return "\n".join(f"{mark}{line}".rstrip() for line in quote(text).splitlines())
