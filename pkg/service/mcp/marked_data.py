"""Mark what comes from a repository, so that nothing written in it passes for a word of the server."""

from __future__ import annotations

import re
import secrets
import unicodedata

_PLAIN = re.compile(r"[^\n\t\x20-\x7e]")
_HIDDEN = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
"""Categories of characters that show nothing, and may turn or hide what stands beside them."""
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8"
    "\U000e0000-\U000e0fff]"
)
"""Letters and marks by their category that show nothing all the same: fillers, joiners and selectors of variants."""


def mark_data(text: str) -> str:
    """Put a text between tags that it does not hold itself, with its hidden characters spelled out.

    The name of the tags is drawn for each text: whoever wrote the code has not seen it, and cannot close it.
    """
    shown = spell_hidden(text)
    tag = _draw_tag()
    while tag in shown:
        tag = _draw_tag()
    return f"<{tag}>\n{shown}\n</{tag}>"


def _draw_tag() -> str:
    return f"data-{secrets.token_hex(8)}"


def spell_hidden(text: str) -> str:
    r"""Spell characters that nobody sees as \x1b or \u202e, as Python writes them."""
    return _PLAIN.sub(_spell, text.replace("\r\n", "\n"))


def spell_line(text: str) -> str:
    r"""Spell ends of lines too, as \n: the name of a file may hold some, and begin a line of its own with them."""
    return spell_hidden(text).replace("\n", "\\n")


def _spell(match: re.Match[str]) -> str:
    char = match[0]
    return ascii(char)[1:-1] if unicodedata.category(char) in _HIDDEN or _BLANK.match(char) else char
