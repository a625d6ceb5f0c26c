"""One file on disk: its identity, its kind in words, and a read that notices when it changes underneath."""

from __future__ import annotations

import os
import stat
import time
from functools import partial

from pkg.errors import PathError
from pkg.extract.entries import Entry, describe_oversize, print_path

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


def make_entry(path: str, place: str, info: os.stat_result, max_file_size: int) -> Entry:
    """Describe the regular file at a place on disk under the path that the source knows it by."""
    return Entry(path, make_fingerprint(info), info.st_size, partial(read_file, place, max_file_size))


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


def read_file(place: str, max_file_size: int) -> bytes:
    """Read a whole file; one that changes while it is read is read once more, then it is a PathError."""
    for _ in range(2):
        try:
            data, size = _read_once(place, max_file_size)
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


def _read_once(place: str, max_file_size: int) -> tuple[bytes, int]:
    with open(os.open(place, _OPEN_FLAGS), "rb", buffering=0) as file:
        info = os.fstat(file.fileno())
        obstacle = find_obstacle(info, max_file_size)
        if obstacle is not None:
            raise PathError(f"{print_path(place)}: {obstacle}")
        return _read_bytes(file.fileno(), info.st_size + 1), info.st_size


def _read_bytes(descriptor: int, wanted: int) -> bytes:
    pieces = []
    while wanted > 0 and (piece := os.read(descriptor, wanted)):
        pieces.append(piece)
        wanted -= len(piece)
    return b"".join(pieces)
