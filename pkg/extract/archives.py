"""Read wheels, source distributions and plain zip and tar files in place; nothing is unpacked by name.

A compressed tar can only be read from the beginning, but files are read in the order of their paths. So the pass that
lists it also copies the chosen files into a spool, in memory or, if large, in an unnamed temporary file.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import stat
import struct
import tarfile
import tempfile
import weakref
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from pkg.errors import PathError
from pkg.extract.files import Discovery, Entry, FileChoice, describe_oversize, print_path, sort_skips
from pkg.extract.ignore import choose_files
from pkg.model import Skip


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive; ``read`` is None if it is not chosen, or cannot be read for a given reason."""

    name: str  # as the archive spells it
    size: int
    fingerprint: str = ""
    read: Callable[[], bytes] | None = field(default=None, repr=False, compare=False)
    reason: str | None = None


# What zipfile raises for damaged bytes: it trusts lengths, dates and names of the archive.
_ZIP_DAMAGE: tuple[type[Exception], ...] = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError)
_ZIP_DAMAGE += (RuntimeError, OverflowError)  # an unknown compression or a password; a number out of range
with suppress(ImportError):  # an optional part of Python, like the compression itself
    from lzma import LZMAError

    _ZIP_DAMAGE += (LZMAError,)

_ENCRYPTED = 0x1  # bit of the general purpose flags


def list_zip(place: str, choice: FileChoice) -> list[Member]:
    """List the files of a zip or wheel from its directory; contents are unpacked when they are read.

    The archive stays open as long as one of the members lives. Raises PathError for a damaged archive.
    """
    try:
        archive = zipfile.ZipFile(place)
    except _ZIP_DAMAGE as error:
        raise PathError(
            f"{print_path(place)}: not a readable archive ({error}); expected a .zip or .whl file; fetch it again"
        ) from error
    return [_make_zip_member(archive, info, choice) for info in archive.infolist() if not info.is_dir()]


def _make_zip_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, choice: FileChoice) -> Member:
    name = info.filename
    limit = choice.find_limit(name)
    if limit is None:
        return Member(name, info.file_size)
    reason = _find_zip_obstacle(info, limit)
    if reason is not None:
        return Member(name, info.file_size, reason=reason)
    fingerprint = f"{info.CRC:08x}-{info.file_size}"
    return Member(name, info.file_size, fingerprint, partial(_read_member, archive, info))


def _find_zip_obstacle(info: zipfile.ZipInfo, max_file_size: int) -> str | None:
    if info.flag_bits & _ENCRYPTED:
        return "encrypted; unpack it with its password first"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "link; links in archives are not followed"
    return describe_oversize(info.file_size, max_file_size) if info.file_size > max_file_size else None


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Unpack one member, up to the size in its header; the checksum is verified."""
    try:
        with archive.open(info) as file:
            data = file.read(info.file_size + 1)
    except _ZIP_DAMAGE as error:
        raise PathError(_describe_damage(archive, info, str(error))) from error
    if len(data) != info.file_size:
        raise PathError(_describe_damage(archive, info, f"{len(data):,} bytes seen, {info.file_size:,} expected"))
    return data


def _describe_damage(archive: zipfile.ZipFile, info: zipfile.ZipInfo, what: str) -> str:
    filename = print_path(os.path.basename(archive.filename or "archive"))
    return f"{filename}: {print_path(info.filename)}: damaged ({what}); fetch the archive again"


_SPOOL_IN_MEMORY = 64_000_000  # the Python of all but the largest source distributions
_SPOOL_LIMIT = 2_000_000_000  # a decompression bomb must not fill the disk
_MAX_HEADER = 16_000_000  # real extended headers have a few hundred bytes
_MAX_MEMBERS = 300_000  # the Linux kernel has 90,000; headers compress so well that a bomb could fill the memory

_TAR_DAMAGE = (tarfile.TarError, EOFError, OSError, zlib.error, ValueError, OverflowError)


def list_tar(place: str, choice: FileChoice) -> list[Member]:
    """List the files of a .tar, .tar.gz or .tar.bz2; the first bytes determine the compression.

    Raises PathError for a damaged archive.
    """
    spool = _Spool()
    try:
        with _open_packed(place) as packed:
            reader = _BoundedReader(packed, max(choice.max_file_size + 1, _MAX_HEADER))
            with tarfile.TarFile(fileobj=reader) as archive:  # type: ignore[arg-type]
                return [_make_tar_member(archive, info, spool, choice) for info in _list_headers(archive)]
    except _TAR_DAMAGE as error:
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


def _make_tar_member(archive: tarfile.TarFile, info: tarfile.TarInfo, spool: _Spool, choice: FileChoice) -> Member:
    limit = choice.find_limit(info.name)
    if limit is None:
        return Member(info.name, info.size)
    reason = _find_tar_obstacle(info, spool, limit)
    file = archive.extractfile(info) if reason is None else None
    if file is None:
        return Member(info.name, info.size, reason=reason)
    data = file.read(limit + 1)
    if len(data) != info.size:
        raise tarfile.ReadError(f"{info.name}: {len(data):,} bytes seen, {info.size:,} expected")
    return Member(info.name, info.size, f"{zlib.crc32(data):08x}-{info.size}", spool.put(data))


def _find_tar_obstacle(info: tarfile.TarInfo, spool: _Spool, max_file_size: int) -> str | None:
    if info.islnk():
        return f"same file as {print_path(info.linkname)}"
    if info.issym():
        return "link; links in archives are not followed"
    if not info.isreg():
        return "not a regular file"
    if info.size > max_file_size:
        return describe_oversize(info.size, max_file_size)
    if spool.size + info.size > _SPOOL_LIMIT:
        return f"the archive holds more than {_SPOOL_LIMIT / 1e9:.0f} GB of text; unpack it and read the folder"
    return None


class _Spool:
    """Concatenated texts, read back by offset; closed when the last reader is gone."""

    def __init__(self) -> None:
        self.size = 0
        self._file = tempfile.SpooledTemporaryFile(max_size=_SPOOL_IN_MEMORY)  # noqa: SIM115 - it outlives this call
        weakref.finalize(self, self._file.close)

    def put(self, data: bytes) -> partial[bytes]:
        """Store a text and return the function that reads it."""
        self._file.seek(self.size)
        self._file.write(data)
        reader = partial(self._read, self.size, len(data))
        self.size += len(data)
        return reader

    def _read(self, start: int, size: int) -> bytes:
        self._file.seek(start)
        return self._file.read(size)


class _BoundedReader:
    """A file that refuses reads beyond a bound: tarfile reads whole extended headers of any claimed size."""

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


_MAX_NAME = 4_096  # PATH_MAX; no file system holds longer names

_ARCHIVE_SUFFIX = re.compile(r"\.(zip|whl|tgz|tar(\.gz|\.bz2)?)$", re.IGNORECASE)
_VERSION_SUFFIX = re.compile(r"(?<=.)-v?\d[\w.+!]*$")


def discover_archive(place: str, choice: FileChoice) -> Discovery:
    """Find the files of an archive; a damaged one raises PathError, an unreadable member is a Skip."""
    list_members = list_zip if place.lower().endswith((".zip", ".whl")) else list_tar
    members, skipped = _label_members(list_members(place, choice))
    if not place.lower().endswith(".whl"):
        members = _strip_top_folder(members)
    chosen, left_out = choose_files(members.keys(), choice)
    skipped += left_out
    entries = []
    for path in chosen:
        member = members[path]
        if member.read is None:
            skipped.append(Skip(path, member.reason or "cannot be read"))
        else:
            entries.append(Entry(path, member.fingerprint, member.size, member.read))
    name = name_archive(os.path.basename(place))
    is_package = "__init__.py" in members and "PKG-INFO" not in members and not place.lower().endswith(".whl")
    package = name if is_package and name.isidentifier() else ""  # the contents of the folder itself were packed
    return Discovery(print_path(place), name, None, tuple(entries), sort_skips(skipped), package)


def name_archive(filename: str) -> str:
    """Return the project of an archive: django for django-5.2.8-py3-none-any.whl, spyder for spyder-6.0.0a4.tar.gz."""
    stem = _ARCHIVE_SUFFIX.sub("", filename)
    if filename.lower().endswith(".whl"):
        return print_path(stem.split("-")[0])
    return print_path(_VERSION_SUFFIX.sub("", stem))


def _label_members(members: Iterable[Member]) -> tuple[dict[str, Member], list[Skip]]:
    """Key members by a clean relative path; of equal ones the last counts, as in every unpacker."""
    labelled: dict[str, Member] = {}
    skipped = []
    for member in members:
        label = _clean_name(member.name)
        if len(label) > _MAX_NAME:
            skipped.append(Skip(label[:80] + "...", f"name longer than {_MAX_NAME:,} characters"))
            continue
        if label in labelled and labelled[label].read is not None:
            skipped.append(Skip(label, "a later member has the same name"))
        labelled[label] = member
    return labelled, skipped


def _clean_name(name: str) -> str:
    """Turn a member's name into a path below the root: no leading slash, no empty or dotted parts."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    return print_path("/".join(parts))


def _strip_top_folder(members: dict[str, Member]) -> dict[str, Member]:
    """Drop the one top folder of a source distribution, unless that folder is a package itself."""
    tops = {path.partition("/")[0] + "/" for path in members}
    if len(tops) != 1:
        return members
    top = tops.pop()
    is_package = top + "__init__.py" in members and top + "PKG-INFO" not in members
    if is_package or top[:-1] in members:
        return members
    return {path[len(top) :]: member for path, member in members.items()}
