"""Which folders are never a project's own code, and which files of a flat listing remain without them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pkg.extract.entries import SUFFIXES
from pkg.extract.ignore import PKGIGNORE, IgnoreRules
from pkg.model import Skip

SITE_PACKAGES = "site-packages"
_LEFT_OUT = frozenset(
    {".git", ".hg", ".svn", "__pycache__", "node_modules", ".tox", ".nox", ".mypy_cache", ".pytest_cache"}
    | {".ruff_cache", ".eggs", SITE_PACKAGES}
)
_BUILD_OUTPUT = frozenset({"build/", "dist/"})
PROJECT_FILES = frozenset({"pyproject.toml", "setup.py"})
VENV_FILE = "pyvenv.cfg"

VENV_REASON = "virtual environment (it holds pyvenv.cfg); name it as PATH to read it"
BUILD_REASON = "build output beside pyproject.toml or setup.py; name it as PATH to read it"


def is_left_out(name: str) -> bool:
    """Tell whether a folder of that name holds version control, caches or installed packages."""
    return name in _LEFT_OUT or name.endswith(".egg-info")


def is_build_output(folder: str, siblings: Collection[str]) -> bool:
    """Tell whether a folder (path with a slash at its end) is the build output of the project at the root."""
    return folder in _BUILD_OUTPUT and not PROJECT_FILES.isdisjoint(siblings)


def choose_files(paths: Collection[str], pkgignore: Mapping[str, bytes] | None = None) -> tuple[list[str], list[Skip]]:
    """Choose the Python files of an archive or a revision, by the same rules that a folder on disk is read by.

    pkgignore maps a folder ("" or "a/b/") to the text of its .pkgignore. The second list has one Skip for each
    virtual environment and each folder of build output.
    """
    listing = _Listing(paths, pkgignore or {})
    chosen = [path for path in paths if path.endswith(SUFFIXES) and listing.keeps(path)]
    return sorted(chosen), listing.skipped


class _Listing:
    """The folders of a flat listing, each judged once."""

    def __init__(self, paths: Collection[str], pkgignore: Mapping[str, bytes]) -> None:
        self.skipped: list[Skip] = []
        self._venvs = {path.removesuffix(VENV_FILE) for path in paths if path.endswith("/" + VENV_FILE)}
        self._top_files = [name for name in PROJECT_FILES if name in paths]
        self._pkgignore = pkgignore
        top = IgnoreRules()
        self._rules: dict[str, IgnoreRules | None] = {"": self._add_rules(top, "")}  # None: the folder is left out

    def keeps(self, path: str) -> bool:
        """Tell whether a file lies in no folder that is left out and no rule names it."""
        rules = self._rules_of(path[: path.rfind("/") + 1])
        return rules is not None and not rules.ignores(path)

    def _rules_of(self, folder: str) -> IgnoreRules | None:
        unknown = []
        while folder not in self._rules:
            unknown.append(folder)
            folder = folder[: folder.rfind("/", 0, -1) + 1]
        rules = self._rules[folder]
        for inner in reversed(unknown):
            rules = self._rules[inner] = None if rules is None else self._enter(inner, rules)
        return rules

    def _enter(self, folder: str, rules: IgnoreRules) -> IgnoreRules | None:
        if is_left_out(folder[folder.rfind("/", 0, -1) + 1 : -1]) or rules.ignores(folder):
            return None
        if folder in self._venvs:
            self.skipped.append(Skip(folder[:-1], VENV_REASON))
            return None
        if is_build_output(folder, self._top_files):
            self.skipped.append(Skip(folder[:-1], BUILD_REASON))
            return None
        return self._add_rules(rules, folder)

    def _add_rules(self, rules: IgnoreRules, folder: str) -> IgnoreRules:
        text = self._pkgignore.get(folder)
        return rules if text is None else rules.add(folder, PKGIGNORE, text)
