"""Recognise text files written by people, by their names, and their formats."""

from __future__ import annotations

import re
from typing import Literal, get_args

TextKind = Literal["markdown", "rst", "text", "toml", "ini", "yaml"]
TEXT_KINDS: tuple[TextKind, ...] = get_args(TextKind)

_KINDS: dict[str, TextKind] = {
    ".md": "markdown", ".markdown": "markdown", ".rst": "rst", ".txt": "text", ".toml": "toml", ".cfg": "ini",
    ".ini": "ini", ".yml": "yaml", ".yaml": "yaml",
}  # fmt: skip

_PLAIN = re.compile(
    r"(?:README|CHANGE(?:LOG|S)|HISTORY|NEWS|LICEN[CS]ES?|COPYING|NOTICE|AUTHORS|CONTRIBUT(?:ORS|ING)|MAINTAINERS|THANKS"
    r"|CREDITS|INSTALL(?:ING)?|UPGRAD(?:E|ING)|RELEAS(?:E|ES|ING)|SECURITY|SUPPORT|CODE_OF_CONDUCT|TODO|FAQ)"
    r"(?:[-_.][A-Z0-9]+)*"
)
"""Names without a known suffix, such as LICENSE or COPYING.LESSER; names not in capitals may be programs."""
_TITLE_CASE = re.compile(r"[A-Z][a-z]+")

TEXT_VERSION = 1  # of the chunks made of a text: after a change, builds read all inputs again

MAX_TEXT_SIZE = 1_000_000
"""The longest text written by people in thirty projects, a changelog, has 533,049 bytes; longer ones are generated."""


def find_text_kind(path: str) -> TextKind | None:
    """Return the format of a text file by name or path; None for other files."""
    name = path[path.rfind("/") + 1 :]
    dot = name.rfind(".")
    kind = _KINDS.get(name[dot:].lower()) if dot > 0 else None
    if name == "METADATA" and path.endswith(".dist-info/METADATA"):  # of a wheel, which contains its README
        return "markdown"
    if kind is None and name[:1].isupper():
        plain = name.upper() if _TITLE_CASE.fullmatch(name) else name
        kind = "text" if _PLAIN.fullmatch(plain) else None
    return kind
