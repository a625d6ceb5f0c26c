"""Files on disk and elsewhere: identity, a cheap fingerprint, a read that notices changes, and decoding."""

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
from pkg.extract.text_files.text_kinds import find_text_kind
from pkg.model import Skip

_COOKIE = re.compile(rb"(?:[ \t\f]*(?:#[^\n]*)?\n)?[ \t\f]*#[^\n]*?coding[:=][ \t]*([-\w.]+)")  # PEP 263
_MARKS = (b"\xff\xfe", b"\xfe\xff")


_RETURN = re.compile(rb"\r(?!\n)")


def decode_source(raw: bytes) -> tuple[bytes, str | None]:
    """Give a source as UTF-8, and what is to be told of how it was read; an unknown coding changes nothing."""
    if raw.startswith(_MARKS):
        return end_lines(raw.decode("utf-16", "replace").encode("utf-8")), _describe("UTF-16")
    raw = end_lines(raw)
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


def end_lines(text: bytes) -> bytes:
    """Put a line feed in the place of each carriage return that stands alone: Python ends a line there."""
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
"""What a Python file's name ends with."""

DEFAULT_MAX_FILE_SIZE = 5_000_000
"""Hand-written modules stay far below this; what is larger is data or generated, and costs more than it tells."""


@dataclass(frozen=True, slots=True)
class FileChoice:
    """Which files are read, by their names, and how large they may be; everything else is never looked at."""

    max_file_size: int = DEFAULT_MAX_FILE_SIZE  # bytes of a Python file
    max_text_size: int | None = None  # bytes of a text file; None reads none of these

    def find_limit(self, name: str) -> int | None:
        """Give the size cap of the file of a name or path; None for one that is not read."""
        if name.endswith(SUFFIXES):
            return self.max_file_size
        return None if self.max_text_size is None or find_text_kind(name) is None else self.max_text_size


Judge: TypeAlias = Callable[[int, str], str | None]
"""Tell why what was opened (descriptor, place) must not be read, as pkg.extract.boundary does; None when it may be."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file that was found; its content is read later, and only when somebody asks."""

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
    package: str = ""  # dotted name of the package that the root is the folder of
    folders: tuple[tuple[str, int], ...] = ()  # that were walked, each with its time of change before that


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


_PRINTED = re.compile(r"\\(?:(\\)|x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))")


def restore_path(printed: str) -> str:
    """Give the path that print_path has spelled so."""
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
    if 0xDC80 <= code <= 0xDCFF:  # how Python keeps a byte that is not UTF-8 (PEP 383)
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

# A FIFO that took the file's place must not make open() wait for a writer. Windows has neither flag, but O_BINARY.
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def make_entry(path: str, place: str, info: os.stat_result, max_file_size: int, judge: Judge | None = None) -> Entry:
    """Describe the regular file at a place on disk under the path that the source knows it by.

    judge: asked once more when the file is read; None for a file that the user has named.
    """
    return Entry(path, make_fingerprint(info), info.st_size, partial(read_file, place, max_file_size, judge))


def make_fingerprint(info: os.stat_result) -> str:
    """Tell a file's content from another's without reading it.

    A file written within the last clock tick could be written again without a new time: its fingerprint is marked, so
    that it equals no later one and the content is compared at the next build.
    """
    fingerprint = f"{info.st_size}-{info.st_mtime_ns}-{info.st_ctime_ns}-{info.st_ino}"
    is_fresh = time.time_ns() - max(info.st_mtime_ns, info.st_ctime_ns) < CLOCK_TICK_NS
    return f"{fingerprint}-fresh" if is_fresh else fingerprint


def find_obstacle(info: os.stat_result, max_file_size: int) -> str | None:
    """Tell why a file must not be read, if so: it is no regular file, or it is over the size cap."""
    if not stat.S_ISREG(info.st_mode):
        return f"not a regular file ({_KINDS.get(stat.S_IFMT(info.st_mode), 'special file')})"
    return describe_oversize(info.st_size, max_file_size) if info.st_size > max_file_size else None


def read_file(place: str, max_file_size: int, judge: Judge | None = None) -> bytes:
    """Read a whole file; one that changes while it is read is read once more, then it is a PathError.

    So is one that cannot be read, is no regular file, is over the size cap, or that the judge refuses.
    """
    for _ in range(2):
        try:
            data, size = _read_once(place, max_file_size, judge)
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


def _read_once(place: str, max_file_size: int, judge: Judge | None) -> tuple[bytes, int]:
    with open(os.open(place, _OPEN_FLAGS), "rb", buffering=0) as file:
        info = os.fstat(file.fileno())
        obstacle = judge(file.fileno(), place) if judge else None
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
