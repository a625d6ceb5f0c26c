"""Tell text files that people write from all other files, by their names, and what each is written in."""

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
"""Names without a suffix of a kind, such as LICENSE or COPYING.LESSER; what is not in capitals may be a program."""
_TITLE_CASE = re.compile(r"[A-Z][a-z]+")

TEXT_VERSION = 1  # of what chunks are made of a text: a build of another reads all inputs again

MAX_TEXT_SIZE = 1_000_000
"""The longest text that people wrote in thirty projects, a changelog, has 533,049 bytes; longer ones are generated."""


def find_text_kind(path: str) -> TextKind | None:
    """Tell what the text file of a name or path is written in; None for every other file."""
    name = path[path.rfind("/") + 1 :]
    dot = name.rfind(".")
    kind = _KINDS.get(name[dot:].lower()) if dot > 0 else None
    if name == "METADATA" and path.endswith(".dist-info/METADATA"):  # of a wheel, which has its README in there
        return "markdown"
    if kind is None and name[:1].isupper():
        plain = name.upper() if _TITLE_CASE.fullmatch(name) else name
        kind = "text" if _PLAIN.fullmatch(plain) else None
    return kind
