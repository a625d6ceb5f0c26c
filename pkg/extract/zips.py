"""List a zip file's members, each with a bounded, checked read."""

from __future__ import annotations

import os
import stat
import struct
import zipfile
import zlib
from contextlib import suppress
from functools import partial

from pkg.errors import PathError
from pkg.extract.entries import SUFFIXES, describe_oversize, print_path
from pkg.extract.members import Member

# What zipfile lets out when bytes are damaged: it trusts lengths, dates and names of the archive.
_DAMAGE: tuple[type[Exception], ...] = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError)
_DAMAGE += (RuntimeError, OverflowError)  # an unknown compression or a password; a number out of range
with suppress(ImportError):  # an optional part of Python, like the compression itself
    from lzma import LZMAError

    _DAMAGE += (LZMAError,)

_ENCRYPTED = 0x1  # bit of the general purpose flags


def list_zip(place: str, max_file_size: int) -> list[Member]:
    """List the files of a zip or wheel from its directory; contents stay packed until they are asked for.

    The archive stays open as long as one of the members lives.
    """
    try:
        archive = zipfile.ZipFile(place)
    except _DAMAGE as error:
        raise PathError(
            f"{print_path(place)}: not a readable archive ({error}); expected a .zip or .whl file; fetch it again"
        ) from error
    return [_make_member(archive, info, max_file_size) for info in archive.infolist() if not info.is_dir()]


def _make_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, max_file_size: int) -> Member:
    name = info.filename
    if not name.endswith(SUFFIXES):
        return Member(name, info.file_size)
    reason = _find_obstacle(info, max_file_size)
    if reason is not None:
        return Member(name, info.file_size, reason=reason)
    fingerprint = f"{info.CRC:08x}-{info.file_size}"
    return Member(name, info.file_size, fingerprint, partial(_read_member, archive, info))


def _find_obstacle(info: zipfile.ZipInfo, max_file_size: int) -> str | None:
    if info.flag_bits & _ENCRYPTED:
        return "encrypted; unpack it with its password first"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "link; links in archives are not followed"
    return describe_oversize(info.file_size, max_file_size) if info.file_size > max_file_size else None


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    """Unpack one member, never further than the size that its header promised; the checksum is verified."""
    try:
        with archive.open(info) as file:
            data = file.read(info.file_size + 1)
    except _DAMAGE as error:
        raise PathError(_describe_damage(archive, info, str(error))) from error
    if len(data) != info.file_size:
        raise PathError(_describe_damage(archive, info, f"{len(data):,} bytes seen, {info.file_size:,} expected"))
    return data


def _describe_damage(archive: zipfile.ZipFile, info: zipfile.ZipInfo, what: str) -> str:
    filename = print_path(os.path.basename(archive.filename or "archive"))
    return f"{filename}: {print_path(info.filename)}: damaged ({what}); fetch the archive again"
