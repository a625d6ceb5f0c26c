"""Files on disk and elsewhere: identity, cheap fingerprints, reads that notice changes, and decoding."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from pkg.errors import PathError
from pkg.extract.documents.document_kinds import MAX_DOCUMENT_SIZE, find_document_kind
from pkg.extract.text_files.text_kinds import find_text_kind
from pkg.model import Skip

_COOKIE = re.compile(rb"(?:[ \t\f]*(?:#[^\n]*)?\n)?[ \t\f]*#[^\n]*?coding[:=][ \t]*([-\w.]+)")  # PEP 263
_MARKS = (b"\xff\xfe", b"\xfe\xff")
_RETURN = re.compile(rb"\r(?!\n)")


def decode_source(raw: bytes) -> tuple[bytes, str | None]:
    """Return a source as UTF-8, and a note on how it was decoded, if any; an unknown coding changes nothing."""
    if raw.startswith(_MARKS):
        return normalise_newlines(raw.decode("utf-16", "replace").encode("utf-8")), _describe("UTF-16")
    raw = normalise_newlines(raw)
    if raw.isascii() or _is_utf_8(raw):
        return raw, None
    cookie = _COOKIE.match(raw)
    if cookie is None:
        return raw, "not UTF-8, and no coding is declared; letters that are not are replaced"
    coding = cookie.group(1).decode("ascii", "replace")
    try:
        return raw.decode(coding).encode("utf-8"), _describe(coding)
    except (LookupError, ValueError):
        return raw, f"not UTF-8, and not {coding} as it declares; letters that are not are replaced"


def normalise_newlines(text: bytes) -> bytes:
    """Replace each lone carriage return by a line feed: Python ends a line there."""
    return _RETURN.sub(b"\n", text) if b"\r" in text else text


def _is_utf_8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _describe(coding: str) -> str:
    return f"read as {coding}; spans count its UTF-8 form"


SUFFIXES = (".py", ".pyi", ".pyw")
"""Suffixes of Python files."""

DEFAULT_MAX_FILE_SIZE = 5_000_000
"""Hand-written modules are far smaller; larger files are data or generated, and cost more than they tell."""

TOKEN_BUDGET = 100_000
"""Maximal number of tokens (names, numbers, strings, operators) of a text extracted whole: some 10,000 lines.

Each takes up to 1 kB temporarily (benchmarks/results/long_files.json).
"""
ONLY_OUTLINE = "only its classes, functions and imports are kept"
"""End of the reason for a file over the budget."""


@dataclass(frozen=True, slots=True)
class FileChoice:
    """The files to read, by name, and their size limits; all others are ignored."""

    max_file_size: int = DEFAULT_MAX_FILE_SIZE  # bytes of a Python file
    max_text_size: int | None = None  # bytes of a text file; None reads none of these
    has_documents: bool = False  # whether HTML pages and notebooks are read too

    def find_limit(self, name: str) -> int | None:
        """Return the size limit of a file by name or path; None if it is not read."""
        if name.endswith(SUFFIXES):
            return self.max_file_size
        if self.max_text_size is not None and find_text_kind(name) is not None:
            return self.max_text_size
        return MAX_DOCUMENT_SIZE if self.has_documents and find_document_kind(name) is not None else None


ReadCheck: TypeAlias = Callable[[int, str], str | None]
"""Returns why an open file (descriptor, place) must not be read, as pkg.extract.boundary does; None if it may."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file that was found; its content is read later, on demand."""

    path: str  # relative posix path inside the source, printable
    fingerprint: str  # changes whenever the content may have; made without reading the content
    size: int
    read: Callable[[], bytes] = field(repr=False, compare=False)  # raises PathError when it cannot be read


@dataclass(frozen=True, slots=True)
class Discovery:
    """A discovered repository: the files to read and the skipped ones, both sorted by path."""

    root: str  # absolute path, with @REV for a revision
    name: str  # default name of the source
    revision: str | None  # full commit id when a revision is read
    entries: tuple[Entry, ...]
    skipped: tuple[Skip, ...]
    package: str = ""  # dotted name of the root's package
    folders: tuple[tuple[str, int], ...] = ()  # walked folders, with modification times before the walk


def sort_skips(skipped: list[Skip]) -> tuple[Skip, ...]:
    """Sort skips, so that they do not depend on the order of discovery."""
    return tuple(sorted(skipped, key=lambda skip: (skip.path, skip.reason)))


def describe_oversize(size: int, max_file_size: int) -> str:
    """Describe a file over the size limit: its size, the limit, and how to raise it."""
    return f"larger than {max_file_size / 1e6:.1f} MB (seen {size / 1e6:.1f} MB); raise it with --max-file-size"


def print_path(path: str) -> str:
    r"""Escape a path so that it prints everywhere and no two paths look the same.

    A byte that is not UTF-8 becomes \xNN, another unprintable character \xNN or \uNNNN, and a backslash is doubled
    so that a name which contains such a sequence remains distinct.
    """
    if path.isprintable() and "\\" not in path:
        return path
    return "".join(map(_print_character, path))


_PRINTED = re.compile(r"\\(?:(\\)|x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))")


def restore_path(printed: str) -> str:
    """Return the path that print_path has escaped."""
    return _PRINTED.sub(_restore_character, printed) if "\\" in printed else printed


def _restore_character(found: re.Match[str]) -> str:
    backslash, byte, short, long = found.groups()
    if byte:
        code = int(byte, 16)
        return chr(code if code < 0x80 else code + 0xDC00)
    return backslash or chr(int(short or long, 16))


def _print_character(character: str) -> str:
    if character == "\\":
        return "\\\\"
    if character.isprintable():
        return character
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # surrogate of a byte that is not UTF-8 (PEP 383)
        return f"\\x{code - 0xDC00:02x}"
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


CLOCK_TICK_NS = 20_000_000  # file times advance in steps of up to 10 ms
_KINDS = {
    stat.S_IFIFO: "FIFO",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "character device",
    stat.S_IFBLK: "block device",
    stat.S_IFDIR: "folder",
}

# A FIFO that replaced the file must not make open() wait for a writer. Windows has only O_BINARY of these flags.
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def make_entry(
    path: str, place: str, info: os.stat_result, max_file_size: int, check: ReadCheck | None = None
) -> Entry:
    """Return the entry of a regular file on disk under its path in the source.

    check: called again when the file is read; None for a file that the user has named.
    """
    return Entry(path, make_fingerprint(info), info.st_size, partial(read_file, place, max_file_size, check))


def make_fingerprint(info: os.stat_result) -> str:
    """Return a fingerprint that changes with the content, without reading it.

    A file written within the last clock tick could change again without a new time: its fingerprint is marked, so
    that it equals no later one and the next build compares the content.
    """
    fingerprint = f"{info.st_size}-{info.st_mtime_ns}-{info.st_ctime_ns}-{info.st_ino}"
    is_fresh = time.time_ns() - max(info.st_mtime_ns, info.st_ctime_ns) < CLOCK_TICK_NS
    return f"{fingerprint}-fresh" if is_fresh else fingerprint


def find_obstacle(info: os.stat_result, max_file_size: int) -> str | None:
    """Return why a file must not be read: it is not regular, or over the size limit; None if it may."""
    if not stat.S_ISREG(info.st_mode):
        return f"not a regular file ({_KINDS.get(stat.S_IFMT(info.st_mode), 'special file')})"
    return describe_oversize(info.st_size, max_file_size) if info.st_size > max_file_size else None


def read_file(place: str, max_file_size: int, check: ReadCheck | None = None) -> bytes:
    """Read a whole file; one that changes while it is read is read again once.

    Raises PathError if it changes again, cannot be read, is not regular, is over the size limit, or fails the check.
    """
    for _ in range(2):
        try:
            data, size = _read_once(place, max_file_size, check)
        except FileNotFoundError:
            raise PathError(f"{print_path(place)}: vanished after it was found; run the build again") from None
        except OSError as error:
            raise PathError(f"{print_path(place)}: cannot be read ({error.strerror}); check its permissions") from error
        if len(data) == size:
            return data
    raise PathError(
        f"{print_path(place)}: changed twice while it was read ({len(data):,} bytes seen, {size:,} expected);"
        " run the build again when it is no longer written to"
    )


def _read_once(place: str, max_file_size: int, check: ReadCheck | None) -> tuple[bytes, int]:
    with open(os.open(place, _OPEN_FLAGS), "rb", buffering=0) as file:
        info = os.fstat(file.fileno())
        obstacle = check(file.fileno(), place) if check else None
        obstacle = obstacle or find_obstacle(info, max_file_size)
        if obstacle is not None:
            raise PathError(f"{print_path(place)}: {obstacle}")
        return _read_bytes(file.fileno(), info.st_size + 1), info.st_size


def _read_bytes(descriptor: int, wanted: int) -> bytes:
    pieces = []
    while wanted > 0 and (piece := os.read(descriptor, wanted)):
        pieces.append(piece)
        wanted -= len(piece)
    return b"".join(pieces)
