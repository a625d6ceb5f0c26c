"""Decide which changes on disk can affect a build: to its files, its folders, and the rules that choose them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

from pkg.errors import PathError
from pkg.extract.boundary import make_boundary
from pkg.extract.files import FileChoice, print_path, read_file
from pkg.extract.ignore import (
    IGNORE_FILES,
    MAX_IGNORE_FILE_SIZE,
    PROJECT_FILES,
    VENV_FILE,
    IgnoreRules,
    is_build_output,
    is_left_out,
    is_other_work_tree,
    load_outer_rules,
)
from pkg.extract.text_files.text_kinds import MAX_TEXT_SIZE

_RULE_FILES = frozenset(IGNORE_FILES) | PROJECT_FILES | {VENV_FILE}


class WatchFilter:
    """Judge changes below a folder by the result and the rules of its last discovery.

    In doubt it accepts a change: discovery decides, and a build without changes costs little. A filter caches the rules
    of folders, so each discovery needs a new one.
    """

    def __init__(self, root: str, known: Iterable[str], follow_links: bool = False, text: bool = False) -> None:
        """Take the real path of the folder, and the printable paths that were found there or skipped by name.

        text: whether text files count.
        """
        self._choice = FileChoice(max_text_size=MAX_TEXT_SIZE if text else None)
        self._root = root
        self._prefix = root.rstrip(os.sep) + os.sep
        self._boundary = make_boundary(root, follow_links)
        self._known = _add_folders(known)
        self._is_venv = os.path.lexists(os.path.join(root, VENV_FILE))
        self._markers = [name for name in PROJECT_FILES if os.path.lexists(os.path.join(root, name))]
        self._rules: dict[str, IgnoreRules | None] = {}  # None: the folder is excluded

    def keeps(self, place: str) -> bool:
        """Return whether a change at a place, which may no longer exist, may need a build."""
        if not place.startswith(self._prefix):
            return True  # the folder itself, or another spelling of it
        path = place[len(self._prefix) :].replace(os.sep, "/")
        name = os.path.basename(path)
        if print_path(path) in self._known:
            return True
        if name in _RULE_FILES:
            return self._find_rules(_name_folder(path)) is not None
        if os.path.isdir(place):
            return self._find_rules(path + "/") is not None
        is_read = self._choice.find_limit(name) is not None
        return is_read and os.path.lexists(place) and self._holds_file(path)

    def _holds_file(self, path: str) -> bool:
        if is_editor_lock(path):
            return False
        rules = self._find_rules(_name_folder(path))
        return rules is not None and not rules.ignores(path)

    def _find_rules(self, folder: str) -> IgnoreRules | None:
        """Return the rules of a folder ("" or "a/b/"), or None if a build does not enter it."""
        unknown = []
        while folder and folder not in self._rules:
            unknown.append(folder)
            folder = _name_folder(folder[:-1])
        rules = self._rules[folder] if folder in self._rules else self._begin_rules()
        for inner in reversed(unknown):
            rules = self._rules[inner] = None if rules is None else self._enter(inner, rules)
        return rules

    def _begin_rules(self) -> IgnoreRules:
        # As in discovery: a virtual environment named as the root is read, whatever its .gitignore says.
        rules = IgnoreRules() if self._is_venv else self._add_rules("", load_outer_rules(self._root))
        self._rules[""] = rules
        return rules

    def _enter(self, folder: str, rules: IgnoreRules) -> IgnoreRules | None:
        if self._is_venv:
            return rules
        if is_left_out(os.path.basename(folder[:-1])) or rules.ignores(folder):
            return None
        if self._boundary.find_violation(self._prefix + folder) is not None:
            return None
        if is_build_output(folder, self._markers) or os.path.lexists(self._prefix + folder + VENV_FILE):
            return None
        if is_other_work_tree(self._prefix + folder, self._root):
            return None
        return self._add_rules(folder, rules)

    def _add_rules(self, folder: str, rules: IgnoreRules) -> IgnoreRules:
        for name in IGNORE_FILES:
            place = self._prefix + folder + name
            if not os.path.isfile(place) or os.path.islink(place):
                continue
            try:
                rules = rules.add(folder, name, read_file(place, MAX_IGNORE_FILE_SIZE))
            except PathError:  # the build reports it
                continue
        return rules


def is_editor_lock(path: str) -> bool:
    """Return whether a path is a lock of Emacs, a dangling link beside a file that is being edited."""
    return os.path.basename(path).startswith(".#")


def _name_folder(path: str) -> str:
    """Return the folder of a path, with a trailing slash; "" for the top."""
    return path[: path.rfind("/") + 1]


def _add_folders(paths: Iterable[str]) -> Collection[str]:
    """Add the parent folders of paths, without trailing slashes."""
    known = set(paths)
    for path in tuple(known):
        while (path := _name_folder(path)[:-1]) and path not in known:
            known.add(path)
    return known
