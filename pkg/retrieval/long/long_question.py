"""Long questions, such as issues: which ones are, and the kinds of text in them."""

from __future__ import annotations

import re
from enum import Enum

MIN_TEXT = 120  # characters of the shortest long question; two thirds of the examined issues have 700
MIN_LINES = 2  # title and body


class Part(str, Enum):
    """Kinds of text in a long question."""

    TITLE = "title"
    PROSE = "prose"
    CODE = "code"
    OUTPUT = "output"  # printed output, configuration, commands
    ERROR = "error"  # last lines of stack traces


_STARTS_AS_CODE = re.compile(
    r"\s*(?:(?:from\s+[\w.]+\s+)?import\s+\w|(?:async\s+)?def\s+\w+\s*\(|class\s+\w+\s*[(:]|@\w)"
)


def is_long(text: str) -> bool:
    """Return whether a question is worth splitting; code alone is one part, however long it is."""
    if len(text) < MIN_TEXT or _STARTS_AS_CODE.match(text):
        return False
    return sum(1 for line in text.splitlines() if line.strip()) >= MIN_LINES
