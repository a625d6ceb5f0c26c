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
_BLANKS = (
    (0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2065, 0x2065), (0x2800, 0x2800),
    (0x3164, 0x3164), (0xFDD0, 0xFDEF), (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0xE0000, 0xE0FFF),
)  # fmt: skip
"""From which to which character: letters and marks by their category that show nothing all the same, such as fillers,
joiners and selectors of variants."""


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
    code = ord(char)
    is_no_character = code & 0xFFFE == 0xFFFE  # the last two of each plane are none
    is_blank = any(first <= code <= last for first, last in _BLANKS)
    return is_no_character or is_blank or unicodedata.category(char) in _CATEGORIES


def _spell(match: re.Match[str]) -> str:
    return ascii(match[0])[1:-1] if is_hidden(match[0]) else match[0]


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    if not is_hidden(char):
        return char
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
