"""Packages of a repository that import each other: an unrelated neighbour is not part of a package.

Guesses are made among the classes of these, so that a neighbour changes no link (A-12).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pkg.resolution.program import Program

_INIT = "__init__.py"


class KnownPackages:
    """Packages of a repository, named by their outermost folders, and their imports."""

    def __init__(self, program: Program) -> None:
        self._program = program
        split = (path.rpartition("/") for path in program.units)
        self._packages = frozenset(folder for folder, _, name in split if name == _INIT)
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
