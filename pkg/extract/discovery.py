"""Find the Python and text files of a repository: a folder, a single file, an archive, or a git revision."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from typing import NamedTuple

from pkg.errors import PathError
from pkg.extract.boundary import make_boundary
from pkg.extract.files import (
    DEFAULT_MAX_FILE_SIZE,
    SUFFIXES,
    Discovery,
    Entry,
    FileChoice,
    find_obstacle,
    make_entry,
    print_path,
    read_file,
    sort_skips,
)
from pkg.extract.ignore import (
    BUILD_REASON,
    GIT_FILE,
    IGNORE_FILES,
    MAX_IGNORE_FILE_SIZE,
    PROJECT_FILES,
    SITE_PACKAGES,
    VENV_FILE,
    VENV_REASON,
    WORKTREE_REASON,
    IgnoreRules,
    is_build_output,
    is_left_out,
    is_other_work_tree,
    load_outer_rules,
)
from pkg.extract.package_name import holds_init, name_package
from pkg.model import Skip

_MARKERS = PROJECT_FILES | {VENV_FILE, GIT_FILE}


LINK_REASON = "its rules are not applied: a link, which git does not follow either"


def discover_folder(folder: str, choice: FileChoice, follow_links: bool = False) -> Discovery:
    """Find the files of a folder (P-02); the root is read whatever its name or the ignore rules above it.

    Links that lead out of the folder are skipped and reported; with follow_links those that stay in the user's home are
    followed.
    """
    root = os.path.abspath(folder)
    walk = _FolderWalk(root, choice, follow_links)
    walk.run()
    entries = walk.collect_entries()
    return Discovery(
        root=print_path(root),
        name=print_path(os.path.basename(root)) or "root",
        revision=None,
        entries=entries,
        skipped=sort_skips(walk.skipped),
        package=name_package(root, holds_init),
        folders=tuple(walk.folders),
    )


class _Folder(NamedTuple):  # a tree has thousands, and a frozen dataclass takes four times as long to make
    """A folder to list: its place on disk, its path below the root ("" or "a/b/"), the rules from above."""

    place: str
    path: str
    rules: IgnoreRules
    linked: bool  # reached through a link to a folder


class _Found(NamedTuple):
    """A file that may be read."""

    path: str
    place: str
    linked: bool
    info: os.stat_result
    limit: int  # bytes


@dataclass(slots=True)
class _Listing:
    """The entries of a folder that matter to discovery."""

    folders: list[os.DirEntry[str]] = field(default_factory=list)
    files: list[tuple[os.DirEntry[str], int]] = field(default_factory=list)  # with the size cap of each
    links: list[str] = field(default_factory=list)  # links to folders
    ignore_files: list[str] = field(default_factory=list)
    ignore_links: list[str] = field(default_factory=list)
    markers: list[str] = field(default_factory=list)


def _list_folder(place: str, choice: FileChoice) -> _Listing:
    """List a folder without a system call per entry: most entries are neither read nor folders."""
    listing = _Listing()
    with os.scandir(place) as entries:
        for entry in entries:
            name = entry.name
            if entry.is_dir(follow_symlinks=False):
                listing.folders.append(entry)
            elif entry.is_symlink() and _leads_to_folder(entry):
                listing.links.append(name)
            elif (limit := choice.find_limit(name)) is not None:
                listing.files.append((entry, limit))
                if name in _MARKERS:
                    listing.markers.append(name)
            elif name in IGNORE_FILES and (entry.is_symlink() or entry.is_file()):
                (listing.ignore_links if entry.is_symlink() else listing.ignore_files).append(name)
            elif name in _MARKERS:
                listing.markers.append(name)
    return listing


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself, or through an inaccessible folder
        return False


class _FolderWalk:
    """A breadth-first walk: first folders, then, round by round, the links to folders found before."""

    def __init__(self, root: str, choice: FileChoice, follow_links: bool) -> None:
        self.skipped: list[Skip] = []
        self.folders: list[tuple[str, int]] = []  # with modification times
        self._root = root
        self._choice = choice
        self._boundary = make_boundary(root, follow_links)
        self._found: list[_Found] = []
        self._links: list[_Folder] = []
        self._walked: dict[str, str] = {self._boundary.source: "the root"}
        self._is_venv = os.path.lexists(os.path.join(root, VENV_FILE))

    def run(self) -> None:
        """Walk the root, then the targets of its links."""
        # A virtual environment has a .gitignore that hides all of it; one named as the root is read.
        rules = IgnoreRules() if self._is_venv else load_outer_rules(self._root)
        self._walk(_Folder(self._root, "", rules, linked=False))
        while self._links:
            links, self._links = sorted(self._links, key=lambda link: link.path), []
            for link in links:
                self._follow(link)

    def collect_entries(self) -> tuple[Entry, ...]:
        """Return each real file once: by its own path rather than a link's, then by the first path in order."""
        paths: dict[tuple[int, int], str] = {}
        entries, judge = [], self._boundary.find_opened_violation
        for found in sorted(self._found, key=lambda found: (found.linked, found.path)):
            path = print_path(found.path)
            file_id = (found.info.st_dev, found.info.st_ino)
            first = paths.setdefault(file_id, path) if found.info.st_ino else path  # 0: no inode number on this system
            if first != path:
                self.skipped.append(Skip(path, f"same file as {first}"))
            else:
                entries.append(make_entry(path, found.place, found.info, found.limit, judge))
        return tuple(sorted(entries, key=lambda entry: entry.path))

    def _walk(self, start: _Folder) -> None:
        pending = [start]
        while pending:
            folder = pending.pop()
            try:
                changed = os.stat(folder.place).st_mtime_ns  # before listing, so that later changes are noticed
                listing = _list_folder(folder.place, self._choice)
            except OSError as error:
                self._skip_folder(folder, error)
                continue
            if folder.path and VENV_FILE in listing.markers:
                self._skip(folder.path, VENV_REASON)
                continue
            if folder.path and GIT_FILE in listing.markers and is_other_work_tree(folder.place, self._root):
                self._skip(folder.path, WORKTREE_REASON)
                continue
            self.folders.append((folder.place, changed))
            rules = self._add_rules(folder, listing)
            self._take_files(folder, listing.files, rules)
            self._take_links(folder, listing.links, rules)
            pending += self._enter_folders(folder, listing, rules)

    def _add_rules(self, folder: _Folder, listing: _Listing) -> IgnoreRules:
        rules = folder.rules
        if self._is_venv:
            return rules
        for name in listing.ignore_links:
            self._skip(folder.path + name, LINK_REASON)
        for name in listing.ignore_files:
            try:
                text = read_file(
                    os.path.join(folder.place, name), MAX_IGNORE_FILE_SIZE, self._boundary.find_opened_violation
                )
            except PathError as error:
                self._skip(folder.path + name, f"its rules are not applied: {error}")
            else:
                rules = rules.add(folder.path, name, text)
        return rules

    def _enter_folders(self, folder: _Folder, listing: _Listing, rules: IgnoreRules) -> list[_Folder]:
        entered = []
        for entry in listing.folders:
            path = f"{folder.path}{entry.name}/"
            if self._is_left_out(entry.name) or rules.ignores(path):
                continue
            if is_build_output(path, listing.markers):
                self._skip(path, BUILD_REASON)
                continue
            if not (folder.linked and entry.path in self._walked):
                entered.append(_Folder(entry.path, path, rules, folder.linked))
        return entered

    def _take_files(self, folder: _Folder, files: list[tuple[os.DirEntry[str], int]], rules: IgnoreRules) -> None:
        for entry, limit in files:
            path = folder.path + entry.name
            if rules.ignores(path):
                continue
            try:
                info = entry.stat()
            except OSError as error:
                self._skip(path, _describe_failure(entry, error))
                continue
            is_link = entry.is_symlink()
            obstacle = find_obstacle(info, limit)
            if is_link and stat.S_ISREG(info.st_mode):  # do not reveal the size of another's file
                obstacle = self._boundary.find_violation(entry.path) or obstacle
            if obstacle is not None:
                self._skip(path, obstacle)
            else:
                self._found.append(_Found(path, entry.path, folder.linked or is_link, info, limit))

    def _take_links(self, folder: _Folder, names: list[str], rules: IgnoreRules) -> None:
        for name in names:
            path = f"{folder.path}{name}/"
            real = os.path.realpath(os.path.join(folder.place, name))
            if self._is_left_out(name) or self._is_left_out(os.path.basename(real)) or rules.ignores(path):
                continue
            fault = self._boundary.find_violation(real)
            if fault is not None:
                self._skip(path, fault)
            else:
                self._links.append(_Folder(real, path, rules, linked=True))

    def _follow(self, link: _Folder) -> None:
        for walked, label in self._walked.items():
            if link.place == walked or link.place.startswith(walked.rstrip(os.sep) + os.sep):
                self._skip(link.path, f"link to a folder inside {label}, which is not read twice")
                return
        if next(iter(self._walked)).startswith(link.place.rstrip(os.sep) + os.sep):
            self._skip(link.path, "link to a folder that holds the root, which is not read twice")
            return
        self._walked[link.place] = print_path(link.path.rstrip("/"))
        self._walk(link)

    def _is_left_out(self, name: str) -> bool:
        return is_left_out(name) and not (self._is_venv and name == SITE_PACKAGES)

    def _skip_folder(self, folder: _Folder, error: OSError) -> None:
        if not folder.path:
            raise PathError(
                f"{print_path(folder.place)}: the folder cannot be read ({error.strerror}); check its permissions"
            ) from error
        self._skip(folder.path, f"the folder cannot be read ({error.strerror})")

    def _skip(self, path: str, reason: str) -> None:
        self.skipped.append(Skip(print_path(path.removesuffix("/")), reason))


def _describe_failure(entry: os.DirEntry[str], error: OSError) -> str:
    if not entry.is_symlink():
        return f"cannot be read ({error.strerror})"
    try:
        target = print_path(os.readlink(entry))
    except OSError:
        target = "nowhere"
    return f"broken link to {target} ({error.strerror})"


ARCHIVE_SUFFIXES = (".zip", ".whl", ".tar.gz", ".tgz", ".tar", ".tar.bz2")

_EXPECTED = "expected a folder, a Python file, an archive (.zip, .whl, .tar.gz) or PATH@REVISION"

_MEAN_LINE = 2_000  # bytes; functions of long formulas reach 1,500
_HEAD = 65_536  # enough to recognise minified text


def discover(
    path: str,
    max_file_size: int = DEFAULT_MAX_FILE_SIZE,
    follow_links: bool = False,
    max_text_size: int | None = None,
    has_documents: bool = False,
) -> Discovery:
    """Find the Python files at a path without reading files on disk (P-02).

    Folders are walked with their ignore rules; archives and PATH@REVISION are read in place.
    max_text_size: maximal bytes of text files, which are found as well; None excludes them.
    has_documents: find HTML pages and notebooks as well.
    follow_links: follow links out of a folder within the user's home; those of an archive or a revision are never
    followed.
    Raises PathError if the path has nothing to read; a single bad file is only a Skip.
    """
    try:
        os.path.abspath(path)
    except FileNotFoundError:
        raise PathError(f"cannot read {path}: the working folder was deleted; change to one that exists") from None
    choice = FileChoice(max_file_size, max_text_size, has_documents)
    if os.path.isdir(path):
        return discover_folder(path, choice, follow_links)
    if os.path.lexists(path):
        return _discover_file(path, choice)
    return _discover_revision(path, choice, follow_links)


def looks_minified(text: bytes) -> bool:
    """Return whether the first 64 KB have lines of 2,000 bytes on average: minified or data, not written.

    A single long line is not enough: hand-written modules hold such strings and tables.
    """
    head = text[:_HEAD]
    return len(head) > _MEAN_LINE * (head.count(b"\n") + head.count(b"\r") + 1)


def is_archive(path: str) -> bool:
    """Return whether a path is an archive."""
    return path.lower().endswith(ARCHIVE_SUFFIXES) and os.path.isfile(path)


def _discover_file(path: str, choice: FileChoice) -> Discovery:
    place = os.path.abspath(path)
    try:
        info = os.stat(place)
    except OSError as error:
        raise PathError(f"{print_path(path)}: cannot be read ({error.strerror}); {_EXPECTED}") from error
    label, limit = print_path(os.path.basename(place)), choice.max_file_size
    obstacle = find_obstacle(info, limit)
    if not stat.S_ISREG(info.st_mode):
        raise PathError(f"{print_path(path)}: {obstacle}; {_EXPECTED}")
    if place.lower().endswith(ARCHIVE_SUFFIXES):
        from pkg.extract.archives import discover_archive

        return discover_archive(place, choice)
    if not place.lower().endswith(SUFFIXES):
        raise PathError(f"{print_path(path)}: neither a Python file nor an archive; {_EXPECTED}")
    entries = () if obstacle else (make_entry(label, place, info, limit),)
    skipped = sort_skips([Skip(label, obstacle)] if obstacle else [])
    package = name_package(os.path.dirname(place), holds_init)
    return Discovery(print_path(place), os.path.splitext(label)[0], None, entries, skipped, package)


def _discover_revision(path: str, choice: FileChoice, follow_links: bool) -> Discovery:
    parts = split_revision(path)
    if parts is None:
        raise PathError(f"no such file or folder: {print_path(path)}; {_EXPECTED}")
    from pkg.extract.revisions import discover_revision

    return discover_revision(*parts, choice, follow_links)


def split_revision(path: str) -> tuple[str, str] | None:
    """Split PATH@REVISION at the first @ that follows the path of a folder; None if there is no such folder."""
    at = path.find("@")
    while at >= 0:
        if os.path.isdir(path[:at]):
            return path[:at], path[at + 1 :]
        at = path.find("@", at + 1)
    return None
