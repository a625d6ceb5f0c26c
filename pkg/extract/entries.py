"""What discovery hands on: Python files with a cheap fingerprint and a way to read them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from pkg.model import Skip

SUFFIXES = (".py", ".pyi", ".pyw")
"""What a Python file's name ends with; everything else is never looked at."""

DEFAULT_MAX_FILE_SIZE = 5_000_000
"""Hand-written modules stay far below this; what is larger is data or generated, and costs more than it tells."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One Python file that was found; its content is read later, and only when somebody asks."""

    path: str  # relative posix path inside the source, printable
    fingerprint: str  # changes whenever the content may have changed; made without reading the content
    size: int
    read: Callable[[], bytes] = field(repr=False, compare=False)  # raises PathError when it cannot be read


@dataclass(frozen=True, slots=True)
class Discovery:
    """One repository as it was found: what will be read and what was left out, both sorted by path."""

    root: str  # absolute path, with @REV for a revision
    name: str  # default name of the source
    kind: str  # "repository"
    revision: str | None  # full commit id when a revision is read
    entries: tuple[Entry, ...]
    skipped: tuple[Skip, ...]


def sort_skips(skipped: list[Skip]) -> tuple[Skip, ...]:
    """Put what was left out into an order that does not depend on the order of finding."""
    return tuple(sorted(skipped, key=lambda skip: (skip.path, skip.reason)))


def describe_oversize(size: int, max_file_size: int) -> str:
    """Say that a file is over the size cap, how large it is, and what raises the cap."""
    return f"larger than {max_file_size / 1e6:.1f} MB (seen {size / 1e6:.1f} MB); raise it with --max-file-size"


def print_path(path: str) -> str:
    r"""Spell a path so that it prints everywhere and no two paths look the same.

    A byte that is not UTF-8 becomes \xNN, another unprintable character \xNN or \uNNNN, and a backslash is doubled
    so that a name which really holds such a sequence stays apart.
    """
    if path.isprintable() and "\\" not in path:
        return path
    return "".join(map(_print_character, path))


def _print_character(character: str) -> str:
    if character == "\\":
        return "\\\\"
    if character.isprintable():
        return character
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # how Python keeps a byte that is not UTF-8 (PEP 383)
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
