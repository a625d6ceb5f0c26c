"""Find the files of a corpus: those that a pattern matches, or below a folder, on disk or in a bucket (P-01).

A bucket is read with the file systems of pyarrow, which get credentials from the environment as the tools of the
service do. Only an address that the user names is read.
"""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import Any, BinaryIO, cast

from pkg.errors import InputError, MissingExtraError, PathError
from pkg.extract.files import make_fingerprint, print_path
from pkg.extract.records import is_corpus, open_file

SCHEMES = ("abfs", "abfss", "gcs", "gs", "hdfs", "hf", "s3")

_ADDRESS = re.compile(rf"(?P<scheme>{'|'.join(SCHEMES)})://(?P<user>[^/]*@)?", re.IGNORECASE)
_WILDCARDS = re.compile(r"[*?\[]")
_EXPECTED = "expected rows as .jsonl, .json, .csv (each also .gz) or .parquet"


@dataclass(frozen=True, slots=True)
class RowFile:
    """A file of rows."""

    name: str  # below the folder that a pattern begins with
    size: int  # bytes
    fingerprint: str  # changes with the content
    open: Callable[[], BinaryIO]  # raises PathError, or InputError for one of a bucket


def is_address(place: str) -> bool:
    """Return whether a place of rows is the address of a bucket, such as s3://bucket/rows."""
    return _ADDRESS.match(place) is not None


def is_many(place: str) -> bool:
    """Return whether a place of rows may hold several files: an address, a pattern, or a folder."""
    return is_address(place) or os.path.isdir(place) or (bool(_WILDCARDS.search(place)) and not os.path.isfile(place))


def find_row_files(place: str) -> tuple[RowFile, ...]:
    """Return the files of rows at an address, below a folder, or that match a pattern, by name.

    In a pattern, `*` and `?` match characters other than a slash, `[a-z]` one of several, and `**` any folders. Below a
    folder, names that begin with a dot or an underscore are left out, as those of other data beside the rows.
    Raises PathError if there are none, or if the place cannot be read, MissingExtraError without pyarrow for an
    address.
    """
    base, pattern = split_place(place)
    list_files = _list_bucket if is_address(place) else _list_folder
    found = sorted(list_files(place, base, pattern == "**" or "/" in pattern), key=lambda file: file.name)
    if len(found) == 1 and found[0].name == "":  # the address of a file
        return (_name_alone(base, found[0]),)
    is_match = _make_filter(pattern)
    files = tuple(file for file in found if is_corpus(file.name) and is_match(file.name))
    if not files:
        seen = f"; seen: {', '.join(file.name for file in found[:3])}" if found else ""
        raise PathError(f"no files of rows at {print_path(place)}{seen}; {_EXPECTED}")
    return files


def split_place(place: str) -> tuple[str, str]:
    """Return the folder that a pattern begins with, and the rest; `**` for all files below a folder."""
    parts = _remove_options(place).split("/")
    fixed = next((at for at, part in enumerate(parts) if _WILDCARDS.search(part)), None)
    if fixed is None:
        return "/".join(parts).rstrip("/") or "/", "**"
    return "/".join(parts[:fixed]) or ("/" if place.startswith("/") else "."), "/".join(parts[fixed:])


def stamp_files(files: tuple[RowFile, ...]) -> str:
    """Return a fingerprint of the files of a corpus: of their names, sizes and times.

    It ends in `-fresh` if one of them was written so recently that it could change again without a new time.
    """
    kept = blake2b(digest_size=16)
    for file in files:
        size, written = file.fingerprint.split("-")[:2]
        kept.update(f"{file.name}\0{size}\0{written}\0".encode("utf-8", "surrogateescape"))
    is_fresh = any(file.fingerprint.endswith("-fresh") for file in files)
    return f"{kept.hexdigest()}-fresh" if is_fresh else kept.hexdigest()


def check_address(place: str) -> None:
    """Raise InputError for an address with credentials, which the graph would store and show."""
    found = _ADDRESS.match(place)
    if found is not None and found["user"]:
        without = f"{found['scheme']}://{place[found.end() :]}"
        raise InputError(
            f"the address of {print_path(without)} holds credentials, which the graph would store; give it without"
            " them, and set them in the environment as for the tools of the service (such as AWS_ACCESS_KEY_ID)"
        )


def _remove_options(place: str) -> str:
    """Remove the options of an address, such as `?region=eu-west-1`."""
    return place.partition("?")[0] if is_address(place) else place


def _make_filter(pattern: str) -> Callable[[str], bool]:
    if pattern == "**":
        return lambda name: not any(part.startswith((".", "_")) for part in name.split("/"))
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines([f"/{pattern}"]).match_file


def _list_folder(place: str, base: str, is_deep: bool) -> Iterator[RowFile]:
    """Yield the files in a folder, or below it."""
    faults: list[OSError] = []
    for folder, folders, names in os.walk(base, onerror=faults.append):
        for name in names:
            path = os.path.join(folder, name)
            try:
                info = os.stat(path)
            except OSError:
                continue  # removed meanwhile, or a link to nothing
            if stat.S_ISREG(info.st_mode):
                below = print_path(os.path.relpath(path, base))
                yield RowFile(below, info.st_size, make_fingerprint(info), partial(open_file, path))
        if not is_deep:
            folders.clear()
        folders.sort()
    if faults:
        raise PathError(f"cannot read {print_path(place)}: {faults[0].filename}: {faults[0].strerror}; {_EXPECTED}")


def _list_bucket(place: str, base: str, is_deep: bool) -> Iterator[RowFile]:
    """Yield the files at an address; a single one has no name."""
    try:
        from pyarrow import ArrowException, fs
    except ImportError as error:
        raise MissingExtraError("pyarrow", "parquet", f"reading {place}") from error
    options = place[len(_remove_options(place)) :]
    try:
        system, root = fs.FileSystem.from_uri(base + options)
        info = system.get_file_info(root)
        if info.type == fs.FileType.NotFound:
            raise PathError(f"no such file or folder: {print_path(base)}; {_EXPECTED}")
        found = [info] if info.is_file else system.get_file_info(fs.FileSelector(root, recursive=is_deep))
    except (ArrowException, ImportError, OSError) as fault:
        raise PathError(
            f"cannot read {print_path(place)}: {_shorten(fault)}; check the address and the credentials"
        ) from fault
    for each in found:
        if each.is_file:
            name = print_path(each.path.removeprefix(root).lstrip("/"))
            stamp = f"{each.size}-{each.mtime_ns}"
            yield RowFile(name, each.size, stamp, partial(open_remote, system, each.path, place))


def _name_alone(base: str, file: RowFile) -> RowFile:
    """Name a single file by the end of its address."""
    return RowFile(base.rpartition("/")[2], file.size, file.fingerprint, file.open)


def open_remote(system: Any, path: str, place: str) -> BinaryIO:
    """Open a file of a file system of pyarrow; raises InputError, also when a read fails."""
    return cast(BinaryIO, io.BufferedReader(_RemoteFile(system, path, place), 1 << 20))


class _RemoteFile(io.RawIOBase):
    """A file of a bucket; a failed read ends the build, so that no rows are taken as removed."""

    def __init__(self, system: Any, path: str, place: str) -> None:
        self._path, self._place = path, place
        self._file = self._run(partial(system.open_input_file, path))

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        """Read the next bytes into a buffer."""
        data: bytes = self._run(partial(self._file.read, len(target)))
        target[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to an offset."""
        return int(self._run(partial(self._file.seek, offset, whence)))

    def tell(self) -> int:
        """Return the offset."""
        return int(self._file.tell())

    def _run(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except OSError as fault:
            raise InputError(
                f"cannot read {self._path} of {self._place}: {_shorten(fault)}; the graph is unchanged, build again"
            ) from fault


def _shorten(fault: Exception) -> str:
    """Return the first line of what a service answers."""
    return (str(fault).strip() or type(fault).__name__).splitlines()[0].rstrip(".")[:300]
