"""Map imports to files: import roots, packages, relative imports, external libraries (Q-04).

Paths begin at the top of the outermost package: where the source is the folder of a package, its parent packages
are prefixed to the path of each file, though their other contents are unknown.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from pkg.model import Import

if TYPE_CHECKING:
    from pkg.resolution.program import Program

INIT = "__init__.py"
STUB_INIT = "__init__.pyi"
_SOURCE_FOLDERS = ("src", "lib", "python")
"""Folders that projects put on sys.path by convention."""
_STANDARD = sys.stdlib_module_names | {"__main__"}


@dataclass(frozen=True, slots=True)
class Found:
    """Target of a dotted name: a file, a folder without __init__.py (a namespace package), or neither.

    `others` are alternatives; one with neither file nor folder stands for a library.
    """

    module: str | None = None  # path of the file in the source
    folder: str | None = None  # path of the folder of a package, in the map
    others: tuple[Found, ...] = ()

    def __bool__(self) -> bool:
        return self.module is not None or self.folder is not None

    def list_all(self) -> tuple[Found, ...]:
        """Return all alternatives."""
        return (Found(self.module, self.folder), *self.others) if self.others else (self,)

    @property
    def modules(self) -> list[str]:
        """Return the files of all alternatives."""
        return [each.module for each in self.list_all() if each.module is not None]

    @property
    def may_be_library(self) -> bool:
        """Return whether an alternative is a library."""
        return not all(self.list_all())


NOTHING = Found()


def _join_found(found: Iterable[Found]) -> Found:
    """Join alternatives into one result."""
    first, *rest = dict.fromkeys(found) or (NOTHING,)
    return Found(first.module, first.folder, tuple(rest)) if rest else first


class _Roots(NamedTuple):
    """Import roots of a name: several where they are equally near."""

    folders: tuple[str, ...] = ()
    is_sure: bool = True  # whether the name is certainly not a library's


class ModuleMap:
    """Files of a repository as modules, found by imported names.

    package: dotted name of the package whose folder the repository is; "" where it is none.
    """

    def __init__(self, paths: Iterable[str], package: str = "") -> None:
        outer = package.split(".") if package else []
        self._prefix = "".join(f"{name}/" for name in outer)
        self._paths = frozenset(self._prefix + path for path in paths)
        self._outer = frozenset("/".join(outer[:count]) for count in range(1, len(outer)))
        self._packages = self._outer | {
            _parent(path) for path in self._paths if path.rpartition("/")[2] in (INIT, STUB_INIT)
        }
        self._outermost: dict[str, str | None] = {}  # package by folder
        self._roots: dict[tuple[str, str], _Roots] = {}  # by folder of the importer, and name
        self._found: dict[tuple[str, int, str, str | None], Found] = {}  # by import statement
        self.folders: set[str] = {""}
        for path in self._paths:
            folder = _parent(path)
            while folder not in self.folders:
                self.folders.add(folder)
                folder = _parent(folder)

    @cached_property
    def _homes(self) -> dict[str, list[str]]:
        """Return the folders, other than packages, that hold a module or folder, by the name of that."""
        found: dict[str, set[str]] = {}
        for path in (*self._paths, *self.folders):
            folder, _, name = path.rpartition("/")
            if not self._is_package(folder):
                found.setdefault(name.removesuffix(".pyi").removesuffix(".py"), set()).add(folder)
        return {name: sorted(folders) for name, folders in found.items()}

    def find_root(self, path: str) -> str:
        """Return the import root of a file's package."""
        folder = self._find_folder(path)
        while self._is_package(folder):
            folder = _parent(folder)
        return folder

    def _find_folder(self, path: str) -> str:
        return _parent(self._prefix + path)

    def _is_package(self, folder: str) -> bool:
        """Return whether a folder is a regular package with an importable name."""
        return folder in self._packages and folder.rpartition("/")[2].isidentifier()

    def is_outer(self, folder: str) -> bool:
        """Return whether a folder is a parent package outside of the repository."""
        return folder in self._outer

    def open(self, path: str) -> Found:
        """Return a file as the result of importing it."""
        is_init = path.rpartition("/")[2].startswith("__init__.")
        return Found(path, self._find_folder(path) if is_init else None)

    def find_import(self, importer: str, record: Import) -> Found:
        """Return the module that an import statement names.

        Of a namespace package in several folders, the one that has the imported name is chosen.
        """
        key = self._find_folder(importer), record.level, record.module, record.name
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._search_import(importer, record)
        return _leave_out(importer, found)

    def _search_import(self, importer: str, record: Import) -> Found:
        if record.level:
            return self.find_relative(importer, record.level, record.module)
        found = self._walk_from(self._find_roots(importer, record.module), record.module)
        if found.module is not None or record.name in (None, "*"):
            return found
        roots = self._find_roots(importer, f"{record.module}.{record.name}")
        inner = self._walk_from(roots, f"{record.module}.{record.name}")
        return self._walk_from(roots, record.module) if inner else NOTHING

    def find_bound(self, importer: str, record: Import) -> Found:
        """Return the module that an import binds to a name; NOTHING where it binds a definition."""
        if record.name is None and record.alias is None:
            top = record.module.partition(".")[0]
            found = _leave_out(importer, self._walk_from(self._find_roots(importer, record.module), top))
            return found or self.find_absolute(importer, top)
        found = self.find_import(importer, record)
        return found if record.name is None else self.step(found, record.name)

    def find_absolute(self, importer: str, name: str) -> Found:
        """Return the module of an absolute name as imported by a file; NOTHING for a library."""
        return _leave_out(importer, self._walk_from(self._find_roots(importer, name), name))

    def _walk_from(self, roots: _Roots, name: str) -> Found:
        found = [each for root in roots.folders if (each := self.walk(Found(folder=root), name))]
        return _join_found(found if roots.is_sure else [*found, NOTHING])

    def _find_roots(self, importer: str, name: str) -> _Roots:
        key = self._find_folder(importer), name
        found = self._roots.get(key)
        if found is None:
            found = self._roots[key] = self._search_roots(importer, name)
        return found

    def _search_roots(self, importer: str, name: str) -> _Roots:
        """Return the nearest import roots from which a name leads to a module.

        A package of its first part decides, even without the rest; a module decides where there is no rest,
        and a namespace package does not. One that matches the whole name is the last resort, if it
        contains the importer.
        """
        top, here = name.partition(".")[0], self._find_folder(importer)
        groups = list(self._group_homes(importer, top))
        for group in groups:
            whole = [root for root in group if self.walk(Found(folder=root), name).module is not None]
            chosen = whole or [root for root in group if self._decides(self.step(Found(folder=root), top), top == name)]
            if chosen:
                return _Roots(tuple(chosen), all(self._is_sure(root, top, here) for root in chosen))
        if top in _STANDARD:
            return _Roots()
        around = [root for group in groups for root in group if _is_around(root, here)]
        spaces = ((root, self.walk(Found(folder=root), name).folder) for root in around)
        chosen = [root for root, folder in spaces if folder is not None and not self.is_outer(folder)]
        return _Roots(tuple(chosen[:1])) if chosen else self._search_package(importer, name)

    def _decides(self, found: Found, is_whole: bool) -> bool:
        """Return whether the target of the first part of a name is decisive: a plain module has no submodules."""
        return found.module is not None and (is_whole or found.folder is not None)

    def _group_homes(self, importer: str, top: str) -> Iterator[list[str]]:
        """Iterate over the import roots that offer a top-level name, the nearest first; equally near ones together.

        First comes the folder of a script, or the root of the importer's package; then the roots that share most
        of the importer's path, of these its parents. Names of the standard library are searched there and at
        the top of the repository only. A folder inside a package is a root for files of that package alone.
        """
        here, own = self._find_folder(importer), self.find_root(importer)
        homes = [root for root in self._homes.get(top, ()) if _is_around(self._find_outermost(root) or "", here)]
        if top in _STANDARD:
            homes = [root for root in homes if root in (own, "")]

        def rate(root: str) -> tuple[bool, int, bool, bool]:
            is_source = root.rpartition("/")[2] in _SOURCE_FOLDERS
            return root != own, -_count_shared(root, here), not _is_around(root, here), not is_source

        for _, group in groupby(sorted(homes, key=rate), key=rate):
            yield list(group)

    def _is_sure(self, root: str, top: str, here: str) -> bool:
        """Return whether a root is certainly on sys.path: folders of scripts elsewhere need not be."""
        if _is_around(root, here) or root.rpartition("/")[2] in _SOURCE_FOLDERS:
            return True
        return self._is_package(_join(root, top))

    def _search_package(self, importer: str, name: str) -> _Roots:
        """Return the outermost package of the importer as a root, as for a script run in it; never certain."""
        outermost = self._find_outermost(self._find_folder(importer))
        if outermost is None or self.walk(Found(folder=outermost), name).module is None:
            return _Roots()
        return _Roots((outermost,), is_sure=False)

    def _find_outermost(self, folder: str) -> str | None:
        """Return the outermost package around a folder; None where there is none."""
        if folder not in self._outermost:
            parts = folder.split("/")
            folders = ("/".join(parts[: count + 1]) for count in range(len(parts)))
            self._outermost[folder] = next((each for each in folders if self._is_package(each)), None)
        return self._outermost[folder]

    def find_relative(self, importer: str, level: int, name: str) -> Found:
        """Return the module of a relative name: one dot is the folder of the importer."""
        folder = self._find_folder(importer)
        for _ in range(level - 1):
            if not folder:
                return NOTHING
            folder = _parent(folder)
        return self.walk(self._enter(folder), name)

    def walk(self, found: Found, name: str) -> Found:
        """Resolve a dotted name inside a package."""
        for part in name.split(".") if name else ():
            found = self.step(found, part)
            if not found:
                return NOTHING
        return found

    def step(self, found: Found, name: str) -> Found:
        """Return a module or package inside a package; a package hides a module of that name."""
        if found.others:
            return _join_found(under for each in found.list_all() if (under := self.step(each, name)))
        if found.folder is None:
            return NOTHING
        inner = _join(found.folder, name)
        if inner in self._packages:
            return self._enter(inner)
        for ending in (".py", ".pyi"):
            if inner + ending in self._paths:
                return Found(self._cut(inner + ending))
        return self._enter(inner) if inner in self.folders else NOTHING

    def _enter(self, folder: str) -> Found:
        for name in (INIT, STUB_INIT):
            if _join(folder, name) in self._paths:
                return Found(self._cut(_join(folder, name)), folder)
        return Found(folder=folder) if folder in self.folders else NOTHING

    def _cut(self, path: str) -> str:
        """Return the path in the source of a path in the map."""
        return path[len(self._prefix) :]


def _leave_out(importer: str, found: Found) -> Found:
    """Drop an importer that seems to import itself, where the name may be a library's."""
    return NOTHING if found.may_be_library and found.module == importer else found


def _count_shared(root: str, here: str) -> int:
    """Count the leading folders that two paths share."""
    pairs = zip(root.split("/"), here.split("/"), strict=False)
    return next((count for count, (one, other) in enumerate(pairs) if one != other), root.count("/") + 1) if root else 0


def _is_around(root: str, here: str) -> bool:
    return not root or here == root or here.startswith(f"{root}/")


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


class KnownPackages:
    """Packages of a repository, named by their outermost folders, and their imports.

    Guesses are made among the classes of packages that import each other: an unrelated neighbour changes no link.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        split = (path.rpartition("/") for path in program.units)
        self._packages = frozenset(folder for folder, _, name in split if name == INIT)
        self._found: dict[str, str] = {}  # by folder
        self._paths: dict[str, list[str]] = {}
        self._known: dict[str, frozenset[str]] = {}
        for path in program.modules:
            self._paths.setdefault(self.find(path), []).append(path)

    def find(self, path: str) -> str:
        """Find the package of a file: the outermost folder around it up to which each has an __init__.py."""
        folder = path.rpartition("/")[0]
        found = self._found.get(folder)
        if found is None:
            found = above = folder
            while above in self._packages:
                found, above = above, above.rpartition("/")[0]
                if found == above:
                    break
            self._found[folder] = found
        return found

    def list_known(self, package: str) -> frozenset[str]:
        """Return a package and those that its files import from."""
        known = self._known.get(package)
        if known is None:
            paths = self._paths.get(package, ())
            known = self._known[package] = frozenset((package,)).union(*map(self.list_imported, paths))
        return known

    def list_imported(self, path: str) -> set[str]:
        """Return the packages that a file imports from."""
        count = len(self._program.units[path].imports)
        found = (self._program.find_bound(path, number) for number in range(count))
        return {self.find(module) for each in found for module in each.modules}
