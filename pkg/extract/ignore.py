"""The files that are a project's own code: rules of .gitignore and .pkgignore files, and excluded folders."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from pkg.errors import PathError
from pkg.extract.files import FileChoice, read_file
from pkg.model import Skip

GITIGNORE = ".gitignore"
PKGIGNORE = ".pkgignore"
IGNORE_FILES = (GITIGNORE, PKGIGNORE)

MAX_IGNORE_FILE_SIZE = 1_000_000
"""Every rule is tried on every file; a larger rule file is a mistake or an attack."""

GIT_FILE = ".git"
_WORKTREES = "worktrees"  # folder of a repository with the private files of its linked work trees
_FOLDER_MARK = "ps_d"  # pathspec's group of a folder's slash


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules of a folder: those of the folders above it, then its own.

    Paths are relative to the root that is read; a folder's path ends with a slash. As in git the nearest file decides,
    and in a file the last rule; any .pkgignore outranks any .gitignore, so it can include what git ignores.
    """

    prefix: str = ""  # path of the root inside the git work tree: "" or "a/b/"
    git: tuple[tuple[str, IgnoreFile], ...] = ()  # (folder of the rules, rules), outermost first
    pkg: tuple[tuple[str, IgnoreFile], ...] = ()

    def ignores(self, path: str) -> bool:
        """Return whether the rules ignore a file, or a folder if the path ends with a slash."""
        if not self.git and not self.pkg:
            return False
        full = self.prefix + path
        for levels in (self.pkg, self.git):
            for base, file in reversed(levels):
                verdict = file.decide(full[len(base) :])
                if verdict is not None:
                    return verdict
        return False

    def add(self, folder: str, name: str, text: bytes) -> IgnoreRules:
        """Add the rules of an ignore file in a folder below the root ("" for the root itself)."""
        level = (self.prefix + folder, compile_rules(text))
        if name == PKGIGNORE:
            return IgnoreRules(self.prefix, self.git, (*self.pkg, level))
        return IgnoreRules(self.prefix, (*self.git, level), self.pkg)


class _Rule(NamedTuple):
    """A line of an ignore file."""

    number: int
    pattern: re.Pattern[str]
    ignores: bool  # False for a negated rule
    by_name: bool  # without a slash inside: applies to the last part of a path


class IgnoreFile:
    """The rules of one ignore file; the last one that matches decides.

    Most rules apply to names and a tree repeats few names, so the results for names are cached.
    """

    def __init__(self, rules: list[_Rule]) -> None:
        self._name_rules = [rule for rule in reversed(rules) if rule.by_name]
        self._path_rules = [rule for rule in reversed(rules) if not rule.by_name]
        self._by_name: dict[str, _Rule | None] = {}

    def decide(self, path: str) -> bool | None:
        """Return whether a path relative to the file's folder is ignored; None if no rule matches."""
        decisive = self._match_name(path[path.rfind("/", 0, -1) + 1 :])
        for rule in self._path_rules:
            if decisive is not None and decisive.number > rule.number:
                break
            match = rule.pattern.search(path)
            if match is not None and _is_whole(match, path):
                return rule.ignores
        return None if decisive is None else decisive.ignores

    def _match_name(self, name: str) -> _Rule | None:
        if name not in self._by_name:
            self._by_name[name] = next((rule for rule in self._name_rules if rule.pattern.search(name)), None)
        return self._by_name[name]


def _is_whole(match: re.Match[str], path: str) -> bool:
    """Return whether a pattern matched the path itself and not only a folder above it.

    pathspec marks the slash at which a folder's match ends, because it applies such a match to all inside. Git, and the
    walk here, decide on each folder before they enter it, so that ``!folder/`` does not apply to its files.
    """
    if _FOLDER_MARK not in match.re.groupindex or match.end(_FOLDER_MARK) in (-1, len(path)):
        return True
    return any(later.end(_FOLDER_MARK) == len(path) for later in match.re.finditer(path, match.end()))


def compile_rules(text: bytes) -> IgnoreFile:
    """Compile the lines of an ignore file; invalid patterns are skipped, as in git."""
    from pathspec import GitIgnoreSpec  # takes 10 ms, which a tree without ignore files saves

    lines = text.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").split("\n")
    rules = []
    for number, line in enumerate(map(_spell_for_pathspec, lines)):
        try:
            compiled = GitIgnoreSpec.from_lines([line]).patterns
        except (ValueError, re.error):
            continue
        by_name = "/" not in line.rstrip(" ").removesuffix("/")
        rules += [_Rule(number, item.regex, bool(item.include), by_name) for item in compiled if item.regex]
    return IgnoreFile(rules)


def _spell_for_pathspec(line: str) -> str:
    """Write ``a/**`` as ``a/**/*``: in git both match the contents of a, in pathspec the first matches a as well."""
    line = line.removesuffix("\r")
    words = line.rstrip(" ")
    if words.endswith("/**"):
        return f"{words}/*"
    return f"{words}*/" if words.endswith("/**/") else line


def load_outer_rules(root: str) -> IgnoreRules:
    """Load the rules of the git work tree that apply to a root: those above it and .git/info/exclude.

    A root that these rules ignore was named on purpose: then none of them apply.
    """
    root = os.path.realpath(root)
    top = find_work_tree(root)
    if top is None:
        return IgnoreRules()
    prefix = "" if top == root else os.path.relpath(root, top).replace(os.sep, "/") + "/"
    rules = IgnoreRules()
    exclude = _read_rules(os.path.join(find_git_folder(top), "info", "exclude"))
    if exclude is not None:
        rules = rules.add("", GITIGNORE, exclude)
    for folder, inside in _list_levels(prefix):
        for name in IGNORE_FILES:
            text = _read_rules(os.path.join(top, folder, name))
            rules = rules if text is None else rules.add(folder, name, text)
        if rules.ignores(inside):
            return IgnoreRules()
    return IgnoreRules(prefix, rules.git, rules.pkg)


def _list_levels(prefix: str) -> Iterator[tuple[str, str]]:
    """Pair every folder above the root with the next one on the way down: ("", "a/"), ("a/", "a/b/")."""
    end = -1
    while (following := prefix.find("/", end + 1)) >= 0:
        yield prefix[: end + 1], prefix[: following + 1]
        end = following


def find_work_tree(folder: str) -> str | None:
    """Return the folder with .git, a folder or file, that is or contains a folder; None outside of git."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder


def find_git_folder(top: str) -> str:
    """Return the folder of info/exclude: .git, or the target of a linked work tree's or submodule's .git file."""
    place = os.path.join(top, ".git")
    pointer = _read_rules(place)
    if pointer is not None and pointer.startswith(b"gitdir:"):
        place = os.path.join(top, os.fsdecode(pointer[len(b"gitdir:") :].strip()))
    common = _read_rules(os.path.join(place, "commondir"))
    return place if common is None else os.path.join(place, os.fsdecode(common.strip()))


def _read_rules(place: str) -> bytes | None:
    """Read a small regular file; None if there is none, or it is a link, which git does not follow either."""
    if os.path.islink(place) or not os.path.isfile(place):
        return None
    try:
        return read_file(place, MAX_IGNORE_FILE_SIZE)
    except PathError:
        return None


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
WORKTREE_REASON = "another work tree of this git repository; name it as PATH to read it"


def is_left_out(name: str) -> bool:
    """Return whether a folder of that name holds version control, caches or installed packages."""
    return name in _LEFT_OUT or name.endswith(".egg-info")


def is_build_output(folder: str, siblings: Collection[str]) -> bool:
    """Return whether a folder (path with a slash at its end) is the build output of the project at the root."""
    return folder in _BUILD_OUTPUT and not PROJECT_FILES.isdisjoint(siblings)


def choose_files(
    paths: Collection[str], choice: FileChoice, pkgignore: Mapping[str, bytes] | None = None
) -> tuple[list[str], list[Skip]]:
    """Choose the files of an archive or a revision by the rules for a folder on disk.

    pkgignore maps a folder ("" or "a/b/") to the text of its .pkgignore. The second list has one Skip for each
    virtual environment and each folder of build output.
    """
    listing = _Listing(paths, pkgignore or {})
    chosen = [path for path in paths if choice.find_limit(path) is not None and listing.keeps(path)]
    return sorted(chosen), listing.skipped


class _Listing:
    """The folders of a flat listing, each checked once."""

    def __init__(self, paths: Collection[str], pkgignore: Mapping[str, bytes]) -> None:
        self.skipped: list[Skip] = []
        self._venvs = {path.removesuffix(VENV_FILE) for path in paths if path.endswith("/" + VENV_FILE)}
        self._top_files = [name for name in PROJECT_FILES if name in paths]
        self._pkgignore = pkgignore
        top = IgnoreRules()
        self._rules: dict[str, IgnoreRules | None] = {"": self._add_rules(top, "")}  # None: the folder is excluded

    def keeps(self, path: str) -> bool:
        """Return whether a file lies in no excluded folder and no rule ignores it."""
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


def is_other_work_tree(place: str, root: str) -> bool:
    """Return whether a folder below a root is a linked work tree of the repository of the root: a copy of its code.

    `git worktree add` creates a .git file there that points into the repository. The .git file of a submodule points to
    a repository of its own, and a clone has a .git folder; both are other code.
    """
    if not os.path.isfile(os.path.join(place, GIT_FILE)):
        return False
    top = find_work_tree(os.path.realpath(root))
    with suppress(ValueError):  # a path with a null byte, which a broken file may hold
        return top is not None and _find_repository(place) == _find_repository(top)
    return False


def _find_repository(top: str) -> str:
    """Return the folder that all work trees of a repository share; its former place if git has forgotten one."""
    folder = os.path.realpath(find_git_folder(top))
    holder = os.path.dirname(folder)
    return os.path.dirname(holder) if os.path.basename(holder) == _WORKTREES else folder
