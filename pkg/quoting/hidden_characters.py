"""Spell characters that show nothing, or that change how others are shown, in every text that is written.

Control characters command a terminal, marks of direction make code read differently from what it does, and characters
of no width carry words that only a model reads.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

_PLAIN = re.compile(r"[^\n\t\x20-\x7e]")
_CATEGORIES = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufdd0-\ufdef\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\U000e0000-\U000e0fff]"
)
"""Letters and marks by their category that show nothing all the same: fillers, joiners, selectors of variants."""


def spell_hidden(text: str) -> str:
    r"""Spell hidden characters as Python writes them, such as \x1b or \u202e; tabs and ends of lines stay."""
    if text.isascii() and text.isprintable():
        return text
    return _PLAIN.sub(_spell, text.replace("\r\n", "\n"))


def spell_line(text: str) -> str:
    r"""Spell ends of lines too, as \n: the name of a file may hold some, and would begin a line of its own."""
    return spell_hidden(text).replace("\n", "\\n")


def escape_json(written: str) -> str:
    r"""Escape hidden characters in JSON that is written, so that it reads back as the same data.

    Half of a surrogate pair has no other form in UTF-8, and U+2028 ends a line for some readers of JSON lines.
    """
    return written if written.isascii() else _PLAIN.sub(_escape, written)


@cache
def is_hidden(char: str) -> bool:
    """Return whether a character shows nothing, or changes how others are shown."""
    is_no_character = ord(char) & 0xFFFE == 0xFFFE  # the last two of each plane are none
    return is_no_character or unicodedata.category(char) in _CATEGORIES or _BLANK.match(char) is not None


def _spell(match: re.Match[str]) -> str:
    return ascii(match[0])[1:-1] if is_hidden(match[0]) else match[0]


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    if not is_hidden(char):
        return char
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
