"""Mark what comes from a repository, so that nothing written in it passes for a word of the server."""

from __future__ import annotations

import re
import secrets
import unicodedata

_PLAIN = re.compile(r"[^\n\t\x20-\x7e]")
_HIDDEN = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})
"""Categories of characters that show nothing, and may turn or hide what stands beside them."""


def mark_data(text: str) -> str:
    """Put a text between tags that it cannot hold itself, with its hidden characters spelled out.

    The name of the tags is drawn for each text: whoever wrote the code has not seen it, and cannot close it.
    """
    tag = f"data-{secrets.token_hex(2)}"
    return f"<{tag}>\n{spell_hidden(text)}\n</{tag}>"


def spell_hidden(text: str) -> str:
    r"""Spell characters that nobody sees as \x1b or \u202e, as Python writes them."""
    return _PLAIN.sub(_spell, text.replace("\r\n", "\n"))


def spell_line(text: str) -> str:
    r"""Spell ends of lines too, as \n: the name of a file may hold some, and begin a line of its own with them."""
    return spell_hidden(text).replace("\n", "\\n")


def _spell(match: re.Match[str]) -> str:
    char = match[0]
    return ascii(char)[1:-1] if unicodedata.category(char) in _HIDDEN else char
