"""Find packages: wheels, source distributions, folders, and installed ones by name."""

from __future__ import annotations

import os
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from email import message_from_string
from email.message import Message
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from pkg.errors import PathError
from pkg.extract.discovery import discover, is_archive
from pkg.extract.files import DEFAULT_MAX_FILE_SIZE, SUFFIXES, Entry, find_obstacle, make_entry, print_path
from pkg.extract.recipe.licences import Licence, read_licence
from pkg.model import Skip

_METADATA_NAMES = ("METADATA", "PKG-INFO")
_MAX_METADATA = 2_000_000  # bytes; long descriptions have some hundred thousand
_DAMAGED = (OSError, EOFError, zlib.error, tarfile.TarError, zipfile.BadZipFile, ValueError, RuntimeError)
_EXPECTED = "expected rows (.jsonl, .json, .csv, .parquet), a wheel, a source distribution, a folder, or the name of an"
_EXPECTED += " installed package"


@dataclass(frozen=True, slots=True)
class Package:
    """A package: name, licence, and Python files."""

    name: str
    version: str
    licence: Licence
    entries: tuple[Entry, ...] = field(repr=False)
    skipped: tuple[Skip, ...] = ()

    @property
    def source(self) -> str:
        """Return name and version, as in the rows of the package."""
        return f"{self.name} {self.version}".strip()


def find_packages(path: str) -> Iterator[Package]:
    """Yield the package at a path, those of a folder of archives, or the installed one of that name.

    Raises PathError if there is none.
    """
    if os.path.isdir(path):
        archives = _list_archives(Path(path))
        for place in archives or [path]:
            yield _read_package(place)
    elif is_archive(path):
        yield _read_package(path)
    else:
        yield _read_installed(path)


def _list_archives(folder: Path) -> list[str]:
    """List the wheels and archives of a folder that is no package or project itself."""
    if (folder / "pyproject.toml").exists() or (folder / "setup.py").exists() or next(folder.glob("*.py"), None):
        return []
    return sorted(str(file) for file in folder.iterdir() if is_archive(str(file)))


def _read_package(path: str) -> Package:
    found = discover(path)
    metadata = _read_archived_metadata(path) if is_archive(path) else _read_folder_metadata(Path(path))
    project = _read_project(Path(path)) if metadata is None and os.path.isdir(path) else {}
    if metadata is None:
        licence = project.get("license")
        text = licence.get("text") if isinstance(licence, dict) else None
        expression = licence if isinstance(licence, str) else None
        known = read_licence(expression, project.get("classifiers", ()), text)
        name, version = project.get("name") or found.name, project.get("version") or ""
        return Package(str(name), str(version), known, found.entries, found.skipped)
    return Package(*_name_metadata(metadata, found.name), found.entries, found.skipped)


def _name_metadata(metadata: Message, name: str) -> tuple[str, str, Licence]:
    """Return name, version and licence from metadata."""
    licence = read_licence(
        metadata.get("License-Expression"), metadata.get_all("Classifier") or (), metadata.get("License")
    )
    return metadata.get("Name") or name, metadata.get("Version") or "", licence


def _read_archived_metadata(path: str) -> Message | None:
    """Read the metadata of a wheel or a source distribution; None if there is none that can be read."""
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                name = _choose_metadata([each.filename for each in archive.infolist()])
                return _parse(archive.open(name).read(_MAX_METADATA)) if name else None
        with tarfile.open(path) as packed:
            for member in packed:
                if member.isfile() and _choose_metadata([member.name]):
                    file = packed.extractfile(member)
                    return _parse(file.read(_MAX_METADATA)) if file else None
    except _DAMAGED:
        return None
    return None


def _choose_metadata(names: list[str]) -> str | None:
    """Choose the archive's own metadata, one folder below its top; those of bundled packages are deeper."""
    return next((each for each in names if each.count("/") == 1 and each.endswith(_METADATA_NAMES)), None)


def _read_folder_metadata(folder: Path) -> Message | None:
    """Read the metadata of an unpacked wheel or source distribution."""
    found = [*sorted(folder.glob("*.dist-info/METADATA")), folder / "PKG-INFO"]
    own = [file for file in found if file.is_file()]
    return _parse(own[0].read_bytes()) if len(own) == 1 else None


def _parse(text: bytes) -> Message:
    return message_from_string(text.decode("utf-8", "replace"))


def _read_project(folder: Path) -> dict[str, Any]:
    """Read the table [project] of a folder's pyproject.toml; {} if there is none."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        table = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8", errors="replace"))
    except (OSError, tomllib.TOMLDecodeError):
        return {}
    project = table.get("project", {})
    return project if isinstance(project, dict) else {}


def _read_installed(name: str) -> Package:
    """Read an installed distribution by name; raise PathError if there is none."""
    try:
        found = distribution(name)
    except (PackageNotFoundError, ValueError):
        raise PathError(f"no such file, folder or installed package: {print_path(name)}; {_EXPECTED}") from None
    entries, skipped = _list_installed(found)
    metadata = _parse((found.read_text("METADATA") or found.read_text("PKG-INFO") or "").encode("utf-8", "replace"))
    return Package(*_name_metadata(metadata, name), tuple(entries), tuple(skipped))


def _list_installed(found: Distribution) -> tuple[list[Entry], list[Skip]]:
    entries, skipped = [], []
    for file in sorted(found.files or (), key=str):
        path = print_path(file.as_posix())
        if not path.endswith(SUFFIXES) or path.startswith(".."):
            continue
        place = str(found.locate_file(file))
        try:
            info = os.stat(place)
        except OSError as fault:
            skipped.append(Skip(path, f"cannot be read ({fault.strerror})"))
            continue
        obstacle = find_obstacle(info, DEFAULT_MAX_FILE_SIZE)
        if obstacle:
            skipped.append(Skip(path, obstacle))
        else:
            entries.append(make_entry(path, place, info, DEFAULT_MAX_FILE_SIZE))
    return entries, skipped
