"""List a tar file's members in one pass, their Python kept aside, since a packed tar has no way back.

A compressed tar can only be read from its beginning, while files are asked for in the order of their paths. So the
one pass that lists it also copies the Python files into a spool: in memory while small, then in an unnamed temporary
file. Reading is then free in any order.
"""

from __future__ import annotations

import gzip
import io
import tarfile
import tempfile
import weakref
import zlib
from collections.abc import Iterator
from functools import partial

from pkg.errors import PathError
from pkg.extract.entries import SUFFIXES, describe_oversize, print_path
from pkg.extract.members import Member

_SPOOL_IN_MEMORY = 64_000_000  # the Python of all but the largest source distributions
_SPOOL_LIMIT = 2_000_000_000  # a packed bomb must not fill the disk
_MAX_HEADER = 16_000_000  # a real extended header has some hundred bytes
_MAX_MEMBERS = 300_000  # the Linux kernel has 90,000; headers pack so well that a bomb could fill the memory

_DAMAGE = (tarfile.TarError, EOFError, OSError, zlib.error, ValueError, OverflowError)


def list_tar(place: str, max_file_size: int) -> list[Member]:
    """List the files of a .tar, .tar.gz or .tar.bz2; the compression is known by its first bytes."""
    spool = _Spool()
    try:
        with _open_packed(place) as packed:
            reader = _BoundedReader(packed, max(max_file_size + 1, _MAX_HEADER))
            with tarfile.TarFile(fileobj=reader) as archive:  # type: ignore[arg-type]
                return [_make_member(archive, info, spool, max_file_size) for info in _list_headers(archive)]
    except _DAMAGE as error:
        raise PathError(
            f"{print_path(place)}: not a readable archive ({error}); expected a .tar, .tar.gz,"
            " .tgz or .tar.bz2 file; fetch it again"
        ) from error


def _list_headers(archive: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    for count, info in enumerate(archive):
        if count == _MAX_MEMBERS:
            raise tarfile.ReadError(f"more than {_MAX_MEMBERS:,} members")
        if not info.isdir():
            yield info


def _open_packed(place: str) -> io.BufferedIOBase:
    with open(place, "rb") as file:
        magic = file.read(3)
    if magic.startswith(b"\x1f\x8b"):
        return gzip.open(place)
    if magic.startswith(b"BZh"):
        import bz2  # an optional part of Python: absent where it was built without the library

        return bz2.open(place)
    return open(place, "rb")


def _make_member(archive: tarfile.TarFile, info: tarfile.TarInfo, spool: _Spool, max_file_size: int) -> Member:
    if not info.name.endswith(SUFFIXES):
        return Member(info.name, info.size)
    reason = _find_obstacle(info, spool, max_file_size)
    file = archive.extractfile(info) if reason is None else None
    if file is None:
        return Member(info.name, info.size, reason=reason)
    data = file.read(max_file_size + 1)
    if len(data) != info.size:
        raise tarfile.ReadError(f"{info.name}: {len(data):,} bytes seen, {info.size:,} expected")
    return Member(info.name, info.size, f"{zlib.crc32(data):08x}-{info.size}", spool.put(data))


def _find_obstacle(info: tarfile.TarInfo, spool: _Spool, max_file_size: int) -> str | None:
    if info.islnk():
        return f"same file as {print_path(info.linkname)}"
    if info.issym():
        return "link; links in archives are not followed"
    if not info.isreg():
        return "not a regular file"
    if info.size > max_file_size:
        return describe_oversize(info.size, max_file_size)
    if spool.size + info.size > _SPOOL_LIMIT:
        return f"the archive holds more than {_SPOOL_LIMIT / 1e9:.0f} GB of Python; unpack it and read the folder"
    return None


class _Spool:
    """Texts put one behind the other, each given back by its place; closed when the last reader is gone."""

    def __init__(self) -> None:
        self.size = 0
        self._file = tempfile.SpooledTemporaryFile(max_size=_SPOOL_IN_MEMORY)  # noqa: SIM115 - it outlives this call
        weakref.finalize(self, self._file.close)

    def put(self, data: bytes) -> partial[bytes]:
        """Keep a text and give the function that reads it."""
        self._file.seek(self.size)
        self._file.write(data)
        reader = partial(self._read, self.size, len(data))
        self.size += len(data)
        return reader

    def _read(self, start: int, size: int) -> bytes:
        self._file.seek(start)
        return self._file.read(size)


class _BoundedReader:
    """A file that refuses a single read beyond a bound: tarfile reads extended headers whole, at any claimed size."""

    def __init__(self, file: io.BufferedIOBase, bound: int) -> None:
        self._file = file
        self._bound = bound
        self.seek = file.seek
        self.tell = file.tell

    def read(self, size: int) -> bytes:
        """Read as the file does, up to the bound."""
        if not 0 <= size <= self._bound:
            raise tarfile.ReadError(f"a piece of {size:,} bytes seen, at most {self._bound:,} expected")
        return self._file.read(size)
