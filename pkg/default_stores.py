"""The store of a command that names none: that of the repository around the current folder, else the shared one.

Both are in the user's data folder. `pkg setup --here` makes the store of a repository.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from pkg.config import find_data_folder
from pkg.errors import FILE_SCHEME, PathError, refuse_file
from pkg.private_files import make_folder, replace_file

RECORD = "stores.json"  # the name of each repository's store, by the root folder of the repository
STORES = "stores"  # folder with one folder for each store
GRAPH = "graph.db"


def default_store() -> str:
    """Return the address of the store for the current folder: of the innermost repository with one, else the shared.

    Raises PathError for a record that cannot be read.
    """
    names = read_own_stores()
    for folder in _list_folders() if names else ():
        if folder in names:
            return _make_address(names[folder])
    return shared_store()


def shared_store() -> str:
    """Return the address of the user's store for all repositories without one of their own."""
    return f"{FILE_SCHEME}{find_data_folder() / GRAPH}"


def find_own_store(root: str) -> str | None:
    """Return the address of a repository's own store; None if it has none. Raises PathError as default_store."""
    name = read_own_stores().get(root)
    return None if name is None else _make_address(name)


def name_own_store(root: str) -> str:
    """Return the address of a repository's own store, or the one that it would get, which no other has.

    Raises PathError as default_store.
    """
    names = read_own_stores()
    if root in names:
        return _make_address(names[root])
    taken = {name.casefold() for name in names.values()}  # some file systems ignore case
    first = re.sub(r"[^\w.-]+", "-", Path(root).name).strip(".-") or "root"
    name, number = first, 1
    while name.casefold() in taken:
        number += 1
        name = f"{first}-{number}"
    return _make_address(name)


def keep_own_store(root: str, address: str) -> None:
    """Make an address of name_own_store the default inside a repository; raises PathError if it cannot be recorded."""
    _write({**read_own_stores(), root: Path(address.removeprefix(FILE_SCHEME)).parent.name})


def delete_own_store(root: str) -> None:
    """Delete a repository's own store, and use the shared one inside it; raises PathError if that fails."""
    names = read_own_stores()
    folder = find_data_folder() / STORES / names.pop(root)
    try:
        if folder.exists():
            shutil.rmtree(folder)
    except OSError as fault:
        raise refuse_file(folder, fault) from fault
    _write(names)


def read_own_stores() -> dict[str, str]:
    """Read the names of the repositories' own stores by root; raises PathError for a damaged record."""
    path = find_data_folder() / RECORD
    try:
        names = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as fault:
        raise PathError(f"cannot read {path}: {fault.strerror}") from fault
    except ValueError as fault:
        raise _refuse(path, str(fault)) from fault
    if not isinstance(names, dict) or not all(isinstance(name, str) for name in names.values()):
        raise _refuse(path, "expected an object of names")
    return names


def _refuse(path: Path, reason: str) -> PathError:
    return PathError(f"{path} is no record of stores ({reason}); delete it, then the shared store is used everywhere")


def _list_folders() -> list[str]:
    """List the current folder and those around it, the innermost first; none for a folder that was deleted."""
    try:
        here = Path.cwd().resolve()
    except OSError:
        return []
    return [str(each) for each in (here, *here.parents)]


def _make_address(name: str) -> str:
    return f"{FILE_SCHEME}{find_data_folder() / STORES / name / GRAPH}"


def _write(names: dict[str, str]) -> None:
    path = find_data_folder() / RECORD
    make_folder(path.parent)
    try:
        with replace_file(path) as temporary:
            temporary.write_text(json.dumps(dict(sorted(names.items())), indent=1) + "\n", encoding="utf-8")
    except OSError as fault:
        raise refuse_file(path, fault) from fault
