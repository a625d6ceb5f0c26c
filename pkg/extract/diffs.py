"""Read which files differ between two states of a git repository, with both of their texts; git runs no filter."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pkg.errors import PathError
from pkg.extract.boundary import draw_boundary
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
    """One Python file that differs; a path and a text are None on the side that lacks the file."""

    old_path: str | None
    new_path: str | None
    old: bytes | None
    new: bytes | None
    fault: str | None = None  # why the new text cannot be read, though the file is there

    @property
    def path(self) -> str:
        """Give the path that it has, or had."""
        return self.new_path or self.old_path or ""

    @property
    def status(self) -> str:
        """Tell what became of it: added, deleted, renamed or changed."""
        if self.old_path is None:
            return "added"
        if self.new_path is None:
            return "deleted"
        return "changed" if self.old_path == self.new_path else "renamed"


@dataclass(frozen=True, slots=True)
class Diff:
    """What differs between two states below a folder."""

    old: str  # in words
    new: str
    is_of_files: bool  # whether it is compared with the files as they lie there
    files: tuple[FileChange, ...]  # Python files alone, by path
    others: int  # changed files that are not Python


def read_diff(folder: str, revision: str | None = None, is_staged: bool = False) -> Diff:
    """Compare a revision with the files below a folder, with what is staged, or with another (REV..REV, REV...REV).

    revision: without one HEAD. Files that git does not know yet count as added, where the files are compared.
    Raise PathError where the folder is in no git repository, or git lacks a revision.
    """
    root = os.path.abspath(folder)
    if not os.path.isdir(root):
        raise PathError(f"{print_path(folder)} is no folder; a diff is read in the git work tree that was built")
    fault = draw_boundary(root, False).find_fault(os.path.join(root, ".git"))
    if fault is not None:
        raise PathError(f"{print_path(folder)}: .git is {fault}")
    old, new = _find_ends(root, revision or "HEAD", is_staged)
    if new is not None:
        return _Reader(root, old, new).read(new)
    return _Reader(root, old, "what is staged" if is_staged else None).read(*(["--cached"] if is_staged else []))


def _find_ends(root: str, revision: str, is_staged: bool) -> tuple[str, str | None]:
    """Give the commits of both ends; of the end that is no commit None."""
    first, dots, second = revision.partition("...") if "..." in revision else revision.partition("..")
    for each in (first, second):
        if each.startswith("-"):  # git would read it as an option
            raise PathError(f"'{print_path(each)}' is no revision; expected a branch, tag or commit")
    if not dots:
        return resolve_commit(root, first), None
    if is_staged:
        raise PathError(f"'{print_path(revision)}' has two ends, and what is staged is a third; expected one revision")
    ends = resolve_commit(root, first or "HEAD"), resolve_commit(root, second or "HEAD")
    if dots == "..":
        return ends
    found = run_git(root, "merge-base", *ends)
    if found.returncode != 0:
        raise PathError(f"'{print_path(revision)}': the two have no commit in common here; expected REV..REV")
    return found.stdout.decode("ascii").strip(), ends[1]


class _Raw(NamedTuple):
    """One line of what git says differs; paths and object ids are as git gives them."""

    old_path: str | None
    new_path: str | None
    old_oid: str
    new_oid: str  # zeros for a file that is read as it lies there
    is_link: bool  # on each side that it has
    status: str  # a letter of git's

    @property
    def paths(self) -> tuple[str, ...]:
        """Give the paths of both sides."""
        return tuple(path for path in (self.old_path, self.new_path) if path is not None)


def _split_raw(raw: str) -> Iterator[_Raw]:
    """Take the lines of --raw -z apart: a head, a path, and for what was renamed or copied another path."""
    words = iter(raw.split("\0"))
    for head in words:
        if head:
            old_mode, new_mode, old_oid, new_oid, status = head[1:].split()
            old: str | None = next(words)
            new = next(words) if status[0] in "RC" else old
            old = None if status[0] in "AC" else old  # the original of a copy stays as it is
            new = None if status[0] == "D" else new
            is_link = {old_mode, new_mode} <= {_LINK, _NO_FILE}
            yield _Raw(old, new, old_oid, new_oid, is_link, status[0])


class _Reader:
    """Read one difference."""

    def __init__(self, root: str, old: str, new: str | None) -> None:
        self._root = root
        self._old = old
        self._new = new  # None for the files as they lie there
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
        """Empty the programs that a repository's settings name for reading its files."""
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
        try:  # also of what git says is deleted: it may lie behind a folder that cannot be entered
            if os.path.lexists(place) and not place.is_file():  # a FIFO would make the reader wait
                return FileChange(old_path, new_path or old_path, old, None, "cannot be read: no file lies there")
            return FileChange(old_path, new_path or old_path, old, decode_source(place.read_bytes())[0])
        except FileNotFoundError:
            return FileChange(old_path, None, old, None)
        except OSError as error:
            return FileChange(old_path, new_path or old_path, old, None, f"cannot be read: {error.strerror}")

    def _read_blob(self, path: str, oid: str) -> bytes:
        return decode_source(self._blobs.read(print_path(path), Object(path, "", "blob", oid, -1)))[0]
