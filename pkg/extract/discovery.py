"""Find the Python files of a repository: a folder, a single file, an archive, or a git revision."""

from __future__ import annotations

import os
import stat

from pkg.errors import PathError
from pkg.extract.entries import DEFAULT_MAX_FILE_SIZE, SUFFIXES, Discovery, Entry, print_path, sort_skips
from pkg.model import Skip

__all__ = ["DEFAULT_MAX_FILE_SIZE", "Discovery", "Entry", "discover", "looks_minified"]

ARCHIVE_SUFFIXES = (".zip", ".whl", ".tar.gz", ".tgz", ".tar", ".tar.bz2")

_EXPECTED = "expected a folder, a Python file, an archive (.zip, .whl, .tar.gz) or PATH@REVISION"

_MEAN_LINE = 2_000  # bytes; functions of long formulas reach 1,500
_HEAD = 65_536  # minified text shows it at once


def discover(path: str, max_file_size: int = DEFAULT_MAX_FILE_SIZE) -> Discovery:
    """Find every Python file at a path without reading any content of a file on disk (P-02).

    Folders are walked with their ignore rules; archives and PATH@REVISION are read where they are, never unpacked.
    Raise PathError when there is nothing to read at the path; a single bad file is only a Skip.
    """
    try:
        os.path.abspath(path)
    except FileNotFoundError:
        raise PathError(f"cannot read {path}: the working folder was deleted; change to one that exists") from None
    if os.path.isdir(path):
        from pkg.extract.folders import discover_folder

        return discover_folder(path, max_file_size)
    if os.path.lexists(path):
        return _discover_file(path, max_file_size)
    return _discover_revision(path, max_file_size)


def looks_minified(text: bytes) -> bool:
    """Tell whether the lines of the first 64 KB are 2,000 bytes long on average: minified or data, not written.

    One long line says nothing: hand-written modules hold such strings and tables.
    """
    head = text[:_HEAD]
    return len(head) > _MEAN_LINE * (head.count(b"\n") + head.count(b"\r") + 1)


def _discover_file(path: str, max_file_size: int) -> Discovery:
    from pkg.extract.files import find_obstacle, make_entry

    place = os.path.abspath(path)
    try:
        info = os.stat(place)
    except OSError as error:
        raise PathError(f"{print_path(path)}: cannot be read ({error.strerror}); {_EXPECTED}") from error
    label = print_path(os.path.basename(place))
    obstacle = find_obstacle(info, max_file_size)
    if not stat.S_ISREG(info.st_mode):
        raise PathError(f"{print_path(path)}: {obstacle}; {_EXPECTED}")
    if place.lower().endswith(ARCHIVE_SUFFIXES):
        from pkg.extract.archives import discover_archive

        return discover_archive(place, max_file_size)
    if not place.lower().endswith(SUFFIXES):
        raise PathError(f"{print_path(path)}: neither a Python file nor an archive; {_EXPECTED}")
    entries = () if obstacle else (make_entry(label, place, info, max_file_size),)
    skipped = sort_skips([Skip(label, obstacle)] if obstacle else [])
    return Discovery(print_path(place), os.path.splitext(label)[0], "repository", None, entries, skipped)


def _discover_revision(path: str, max_file_size: int) -> Discovery:
    """Read PATH@REVISION, where PATH ends at the first @ that follows a folder's name."""
    at = path.find("@")
    while at >= 0:
        if os.path.isdir(path[:at]):
            from pkg.extract.revisions import discover_revision

            return discover_revision(path[:at], path[at + 1 :], max_file_size)
        at = path.find("@", at + 1)
    raise PathError(f"no such file or folder: {print_path(path)}; {_EXPECTED}")
