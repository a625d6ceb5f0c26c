"""Which file an import means: packages, roots, relative imports, and names that are external libraries (Q-04)."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from pkg.model import Import

INIT = "__init__.py"
STUB_INIT = "__init__.pyi"


@dataclass(frozen=True, slots=True)
class Found:
    """What a dotted name leads to: a file, a folder without __init__.py (a namespace package), or neither."""

    module: str | None = None  # path of the file
    folder: str | None = None  # path of the folder of a package

    def __bool__(self) -> bool:
        return self.module is not None or self.folder is not None


NOTHING = Found()


class ModuleMap:
    """The files of a repository as modules: found by the name that an import gives, from where it stands."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = frozenset(paths)
        self._found: dict[tuple[str, int, str], Found] = {}  # by the folder of the importer, and what it names
        self._folders: set[str] = {""}
        for path in self.paths:
            folder = _parent(path)
            while folder not in self._folders:
                self._folders.add(folder)
                folder = _parent(folder)

    @cached_property
    def roots(self) -> tuple[str, ...]:
        """Give the folders that hold top-level packages or scripts: the repository itself first."""
        found = {self.find_root(path) for path in self.paths}
        found |= {folder for folder in self._folders if folder.rpartition("/")[2] in ("src", "lib", "python")}
        return ("", *sorted(found - {""}, key=lambda root: (root.count("/"), root)))

    def find_root(self, path: str) -> str:
        """Give the folder from which the modules of a file's package are named."""
        folder = _parent(path)
        while folder and self._is_package(folder):
            folder = _parent(folder)
        return folder

    def _is_package(self, folder: str) -> bool:
        return _join(folder, INIT) in self.paths or _join(folder, STUB_INIT) in self.paths

    def find_import(self, importer: str, record: Import) -> Found:
        """Find the module that an import statement names."""
        key = _parent(importer), record.level, record.module
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = (
                self.find_relative(importer, record.level, record.module)
                if record.level
                else self.find_absolute(importer, record.module)
            )
        return found

    def find_bound(self, importer: str, record: Import) -> Found:
        """Find the module that an import binds its name to; nothing where that is something inside a module."""
        if record.name is None and record.alias is None:
            return self.find_absolute(importer, record.module.partition(".")[0])
        found = self.find_import(importer, record)
        return found if record.name is None else self.step(found, record.name)

    def find_absolute(self, importer: str, name: str) -> Found:
        """Find the module of an absolute name, as an import in a file means it; nothing for a library.

        Searched are the folder of a script or the root of the importer's package, the repository itself, and for names
        that are not of the standard library every other root: the first that has the top-level name decides.
        """
        top, _, rest = name.partition(".")
        for root in self._order_roots(importer, top):
            found = self.step(Found(folder=root), top)
            if found:
                return self.walk(found, rest)
        return NOTHING

    def _order_roots(self, importer: str, top: str) -> Iterator[str]:
        own = self.find_root(importer)
        yield own
        if own:
            yield ""
        if top not in sys.stdlib_module_names:
            yield from (root for root in self.roots if root not in (own, ""))

    def find_relative(self, importer: str, level: int, name: str) -> Found:
        """Find the module of a relative name: one dot is the folder of the importer."""
        folder = _parent(importer)
        for _ in range(level - 1):
            if not folder:
                return NOTHING
            folder = _parent(folder)
        return self.walk(self._enter(folder), name)

    def walk(self, found: Found, name: str) -> Found:
        """Follow a dotted name down from a package."""
        for part in name.split(".") if name else ():
            found = self.step(found, part)
            if not found:
                return NOTHING
        return found

    def step(self, found: Found, name: str) -> Found:
        """Find a module or package inside a package; a package wins over a module of that name."""
        if found.folder is None:
            return NOTHING
        inner = _join(found.folder, name)
        if inner in self._folders and self._is_package(inner):
            return self._enter(inner)
        for ending in (".py", ".pyi"):
            if inner + ending in self.paths:
                return Found(module=inner + ending)
        return self._enter(inner) if inner in self._folders else NOTHING

    def _enter(self, folder: str) -> Found:
        for name in (INIT, STUB_INIT):
            if _join(folder, name) in self.paths:
                return Found(_join(folder, name), folder)
        return Found(folder=folder) if folder in self._folders else NOTHING


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
