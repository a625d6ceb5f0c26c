"""Make an image for the docker backend from the Python that runs here, without a registry and without a network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Iterator
from pathlib import Path

from pkg.errors import SandboxError

LEFT_OUT = {"__pycache__", "test", "tests", "idlelib", "tkinter", "turtledemo", "ensurepip", "lib2to3", "site-packages"}
FOLDERS = ("box", "dev", "proc", "sys", "tmp", "etc", "usr/bin")

_LIBRARY = re.compile(r"(/\S+) \(0x")


def write_image(path: str | Path) -> None:
    """Write a tar archive for `docker import`: this Python with its library and the shared libraries that it needs."""
    if sys.platform != "linux":
        raise SandboxError(
            f"an image can be made from a Python of Linux only, this is {sys.platform}; see docs/security.md"
        )
    python, library = Path(sys.executable).resolve(), Path(sysconfig.get_path("stdlib"))
    with tarfile.open(path, "w") as archive:
        for folder in FOLDERS:
            _add_folder(archive, folder)
        for file in sorted({python, *_list_shared(python, library)}):
            archive.add(file.resolve(), file.as_posix().lstrip("/"))
        archive.add(library, library.as_posix().lstrip("/"), filter=_choose)
        _add_link(archive, "usr/bin/python3", python.as_posix())


def _add_folder(archive: tarfile.TarFile, name: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = tarfile.DIRTYPE, 0o755
    archive.addfile(entry)


def _add_link(archive: tarfile.TarFile, name: str, target: str) -> None:
    if f"/{name}" != target:
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname = tarfile.SYMTYPE, target
        archive.addfile(entry)


def _choose(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Leave out tests, tools with windows, caches and what others installed."""
    parts = entry.name.split("/")
    return None if LEFT_OUT.intersection(parts) or parts[-1].startswith("config-") else entry


def _list_shared(python: Path, library: Path) -> Iterator[Path]:
    """List the shared libraries that the interpreter and its modules load, and the loader itself."""
    modules = sorted(library.joinpath("lib-dynload").glob("*.so"))
    command = ["ldd", os.fspath(python), *map(os.fspath, modules)]
    listing = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout
    yield from {Path(found) for found in _LIBRARY.findall(listing)}
