"""The name of the package that a folder is: its own, and those of the packages above it."""

from __future__ import annotations

import os
from collections.abc import Callable

_INITS = ("__init__.py", "__init__.pyi")


def name_package(folder: str, is_package: Callable[[str], bool]) -> str:
    """Give the dotted name that a folder is imported by; "" for one that is neither a package nor inside of one.

    folder: absolute path. is_package: tells of a folder whether it holds an __init__.py. A folder right inside of a
    package needs none; one whose name no import can spell is no package, whatever it holds.
    """
    names: list[str] = []
    above, name = os.path.split(folder)
    while name.isidentifier() and (is_package(folder) or (not names and _is_named(above) and is_package(above))):
        names.append(name)
        folder = above
        above, name = os.path.split(folder)
    return ".".join(reversed(names))


def _is_named(folder: str) -> bool:
    return os.path.basename(folder).isidentifier()


def holds_init(folder: str) -> bool:
    """Tell whether a folder on disk holds an __init__.py; nothing is read of it."""
    return any(os.path.isfile(os.path.join(folder, name)) for name in _INITS)


def list_inits(folder: str) -> list[str]:
    """Give the paths, with slashes, of the files that make a folder a package."""
    return [f"{folder}/{name}" if folder else name for name in _INITS]
