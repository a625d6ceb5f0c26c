"""Read the files of a project once, so that test runs use copies and never write into the project."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import os
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pkg.errors import InputError, PathError

LEFT_OUT = {".git", ".hg", ".svn", "__pycache__", ".tox", ".nox", ".venv", "venv", "env", "node_modules"}
LEFT_OUT |= {".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".eggs", "build", "dist"}
"""Names of folders that tests do not need."""
MOST_FILES, MOST_BYTES = 950, 40 << 20  # limits of the folder of a run in the sandbox
LEFT_OUT_SUFFIXES = (".pyc", ".pyo")


@dataclass(frozen=True)
class Project:
    """The files of a project by their paths relative to its folder."""

    name: str
    files: Mapping[str, bytes]
    sha256: str

    def read_text(self, path: str) -> str | None:
        """Return a file as text with LF line ends; None if it is not UTF-8."""
        try:
            return self.files[path].decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError:
            return None

    def pack(self, without: str = "") -> str:
        """Pack the files, except for one, into a base64-encoded archive."""
        return _pack(self, without)

    def __hash__(self) -> int:
        return hash(self.sha256)


def read_project(path: Path) -> Project:
    """Read a folder; symbolic links are not followed.

    Raises PathError if it does not exist, InputError if it has no Python file or exceeds the limits of the sandbox.
    """
    if not path.is_dir():
        raise PathError(f"no folder {path}; expected the folder of a project with its tests")
    files: dict[str, bytes] = {}
    size = 0
    for place in _list_files(path):
        files[place.relative_to(path).as_posix()] = data = place.read_bytes()
        size += len(data)
        if len(files) > MOST_FILES or size > MOST_BYTES:
            raise InputError(
                f"{path} holds more than {MOST_FILES} files or {MOST_BYTES >> 20} MiB, which a run in the sandbox"
                " cannot; name a folder inside of it that holds a package with its tests"
            )
    if not any(name.endswith(".py") for name in files):
        raise InputError(f"no Python file in {path}; expected the folder of a project with its tests")
    digest = hashlib.sha256()
    for name, data in sorted(files.items()):
        digest.update(f"{name}\n{hashlib.sha256(data).hexdigest()}\n".encode("utf-8", "surrogateescape"))
    return Project(path.resolve().name, files, digest.hexdigest())


def _list_files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in LEFT_OUT and not Path(folder, name).is_symlink())
        for name in sorted(names):
            place = Path(folder, name)
            if not name.endswith(LEFT_OUT_SUFFIXES) and place.is_file() and not place.is_symlink():
                yield place


@lru_cache(maxsize=4)
def _pack(project: Project, without: str) -> str:
    """Pack files into a reproducible archive; cached, because the same archives are requested again."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", mtime=0, compresslevel=6) as stream,
        tarfile.open(fileobj=stream, mode="w") as archive,
    ):
        for name, data in sorted(project.files.items()):
            if name != without:
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode = len(data), 0o644
                archive.addfile(entry, io.BytesIO(data))
    return base64.b64encode(packed.getvalue()).decode("ascii")
