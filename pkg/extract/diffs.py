"""Read the files that differ between two states of a git repository, with both texts; git runs no filter."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pkg.errors import PathError
from pkg.extract.boundary import make_boundary
from pkg.extract.files import SUFFIXES, decode_source, print_path
from pkg.extract.revisions import Blobs, Object, first_line, resolve_commit, run_git

_OPTIONS = (
    "--raw", "-z", "--no-abbrev", "--find-renames", "--no-ext-diff", "--no-color", "--relative",
    "--diff-filter=ACDMRTU", "--ignore-submodules=all",
)  # fmt: skip
_LINK = "120000"  # git's file mode of a symbolic link
_NO_FILE = "000000"
_UNMERGED = "not merged: git holds several versions of it; resolve them, then run: git add"
_ANOTHER_TYPE = "a link in the place of a file, or a file in that of a link"


@dataclass(frozen=True, slots=True)
class FileChange:
    """A Python file that differs; path and text are None on a side that lacks the file."""

    old_path: str | None
    new_path: str | None
    old: bytes | None
    new: bytes | None
    fault: str | None = None  # why the new text of a present file cannot be read

    @property
    def path(self) -> str:
        """Return the new path, or the old one of a deleted file."""
        return self.new_path or self.old_path or ""

    @property
    def status(self) -> str:
        """Return added, deleted, renamed or changed."""
        if self.old_path is None:
            return "added"
        if self.new_path is None:
            return "deleted"
        return "changed" if self.old_path == self.new_path else "renamed"


@dataclass(frozen=True, slots=True)
class Diff:
    """The difference between two states below a folder."""

    old: str  # in words
    new: str
    is_of_files: bool  # whether the new state is that of the files on disk
    files: tuple[FileChange, ...]  # Python files only, by path
    others: int  # changed files that are not Python


def read_diff(folder: str, revision: str | None = None, is_staged: bool = False) -> Diff:
    """Compare a revision with the files below a folder, with the index, or with another revision (REV..REV, REV...REV).

    revision: default HEAD. Untracked files count as added if the new state is that of the files.
    Raises PathError if the folder is in no git repository, or git lacks a revision.
    """
    root = os.path.abspath(folder)
    if not os.path.isdir(root):
        raise PathError(f"{print_path(folder)} is not a folder; expected the git work tree that was built")
    fault = make_boundary(root, False).find_violation(os.path.join(root, ".git"))
    if fault is not None:
        raise PathError(f"{print_path(folder)}: .git is {fault}")
    old, new = _find_ends(root, revision or "HEAD", is_staged)
    if new is not None:
        return _Reader(root, old, new).read(new)
    return _Reader(root, old, "what is staged" if is_staged else None).read(*(["--cached"] if is_staged else []))


def _find_ends(root: str, revision: str, is_staged: bool) -> tuple[str, str | None]:
    """Return the commits of both ends; None for an end that is no commit."""
    first, dots, second = revision.partition("...") if "..." in revision else revision.partition("..")
    for each in (first, second):
        if each.startswith("-"):  # git would read it as an option
            raise PathError(f"'{print_path(each)}' is not a revision; expected a branch, tag or commit")
    if not dots:
        return resolve_commit(root, first), None
    if is_staged:
        raise PathError(f"'{print_path(revision)}' names two revisions; staged changes are compared with one")
    ends = resolve_commit(root, first or "HEAD"), resolve_commit(root, second or "HEAD")
    if dots == "..":
        return ends
    found = run_git(root, "merge-base", *ends)
    if found.returncode != 0:
        raise PathError(f"'{print_path(revision)}': the two have no commit in common here; expected REV..REV")
    return found.stdout.decode("ascii").strip(), ends[1]


class _Raw(NamedTuple):
    """A line of git's raw diff; paths and object ids are as git writes them."""

    old_path: str | None
    new_path: str | None
    old_oid: str
    new_oid: str  # zeros for a file on disk
    is_link: bool  # on any side
    status: str  # letter of git

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the paths of both sides."""
        return tuple(path for path in (self.old_path, self.new_path) if path is not None)


def _split_raw(raw: str) -> Iterator[_Raw]:
    """Parse the output of --raw -z: a head, a path, and a second path for renamed or copied files."""
    words = iter(raw.split("\0"))
    for head in words:
        if head:
            old_mode, new_mode, old_oid, new_oid, status = head[1:].split()
            old: str | None = next(words)
            new = next(words) if status[0] in "RC" else old
            old = None if status[0] in "AC" else old  # the original of a copy is unchanged
            new = None if status[0] == "D" else new
            is_link = {old_mode, new_mode} <= {_LINK, _NO_FILE}
            yield _Raw(old, new, old_oid, new_oid, is_link, status[0])


class _Reader:
    """Read one difference."""

    def __init__(self, root: str, old: str, new: str | None) -> None:
        self._root = root
        self._old = old
        self._new = new  # None for the files on disk
        self._blobs = Blobs(root)

    def read(self, *ends: str) -> Diff:
        """Read the texts of the Python files that differ."""
        found = self._run("diff", *_OPTIONS, self._old, *ends, "--")
        changes = [*_split_raw(found), *(self._list_unknown() if self._new is None else ())]
        changes = list({each.paths: each for each in sorted(changes, key=lambda each: each.status != "U")}.values())
        python = [each for each in changes if any(path.endswith(SUFFIXES) for path in each.paths) and not each.is_link]
        files = sorted(map(self._read_change, python), key=lambda each: each.path)
        return Diff(self._old, self._new or "the files", self._new is None, tuple(files), len(changes) - len(python))

    def _run(self, *arguments: str) -> str:
        result = run_git(self._root, *self._forbid_filters(), *arguments)
        if result.returncode != 0:
            raise PathError(f"{print_path(self._root)}: git cannot compare ({first_line(result.stderr)})")
        return result.stdout.decode("utf-8", "surrogateescape")

    def _forbid_filters(self) -> Iterator[str]:
        """Disable the programs that a repository's settings name for reading its files."""
        listed = run_git(self._root, "config", "-z", "--name-only", "--get-regexp", r"^filter\..*\.(clean|process)$")
        for name in sorted(set(listed.stdout.decode("utf-8", "surrogateescape").split("\0")) - {""}):
            yield from ("-c", f"{name}=", "-c", f"{name.rpartition('.')[0]}.required=false")

    def _list_unknown(self) -> Iterator[_Raw]:
        for path in self._run("ls-files", "--others", "--exclude-standard", "-z").split("\0"):
            if path.endswith(SUFFIXES):
                yield _Raw(None, path, "", "", os.path.islink(os.path.join(self._root, path)), "A")

    def _read_change(self, raw: _Raw) -> FileChange:
        old_path, new_path = (None if path is None else print_path(path) for path in (raw.old_path, raw.new_path))
        place = None if self._new is not None else Path(self._root, raw.new_path or raw.old_path or "")
        fault = _ANOTHER_TYPE if raw.status == "T" else _UNMERGED if raw.status == "U" and place is None else None
        if fault is not None:
            return FileChange(old_path, new_path, None, None, fault)
        old = None if raw.old_path is None else self._read_blob(raw.old_path, raw.old_oid)
        if place is None:
            new = None if raw.new_path is None else self._read_blob(raw.new_path, raw.new_oid)
            return FileChange(old_path, new_path, old, new)
        try:  # also for deleted files, which may be in a folder that cannot be entered
            if os.path.lexists(place) and not place.is_file():  # a FIFO would make the reader wait
                return FileChange(old_path, new_path or old_path, old, None, "cannot be read: not a regular file")
            return FileChange(old_path, new_path or old_path, old, decode_source(place.read_bytes())[0])
        except FileNotFoundError:
            return FileChange(old_path, None, old, None)
        except OSError as error:
            return FileChange(old_path, new_path or old_path, old, None, f"cannot be read: {error.strerror}")

    def _read_blob(self, path: str, oid: str) -> bytes:
        return decode_source(self._blobs.read(print_path(path), Object(path, "", "blob", oid, -1)))[0]
