"""The dotted name of a folder's package: its own name, and those of the packages above it."""

from __future__ import annotations

import os
from collections.abc import Callable

_INITS = ("__init__.py", "__init__.pyi")


def name_package(folder: str, is_package: Callable[[str], bool]) -> str:
    """Return the dotted name that a folder is imported by; "" if it is neither a package nor inside one.

    folder: absolute path. is_package: returns whether a folder holds an __init__.py. A direct subfolder of a package
    needs none; a folder whose name cannot be imported is no package.
    """
    names: list[str] = []
    above, name = os.path.split(folder)
    while name.isidentifier() and (
        is_package(folder) or (not names and os.path.basename(above).isidentifier() and is_package(above))
    ):
        names.append(name)
        folder = above
        above, name = os.path.split(folder)
    return ".".join(reversed(names))


def holds_init(folder: str) -> bool:
    """Return whether a folder on disk holds an __init__.py, which is not read."""
    return any(os.path.isfile(os.path.join(folder, name)) for name in _INITS)


def list_inits(folder: str) -> list[str]:
    """Return the paths, with slashes, of the files that make a folder a package."""
    return [f"{folder}/{name}" if folder else name for name in _INITS]
