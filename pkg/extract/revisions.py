"""Read a git revision from the object database, with all settings disabled by which a repository could run code."""

from __future__ import annotations

import os
import shlex
import subprocess
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from pkg.errors import PathError
from pkg.extract.boundary import make_boundary
from pkg.extract.files import Discovery, Entry, FileChoice, describe_oversize, print_path, sort_skips
from pkg.extract.ignore import MAX_IGNORE_FILE_SIZE, PKGIGNORE, choose_files
from pkg.extract.package_name import list_inits, name_package
from pkg.model import Skip

_OPTIONS = ("--no-pager", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")

# Variables of a surrounding git process (such as a hook) that would point git to another repository.
_FOREIGN = {"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE"} | {
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_PREFIX",
    "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE",
    "GIT_REPLACE_REF_BASE",
}
_SETTINGS = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",  # an object id is the fingerprint of its own content
    "GIT_NO_LAZY_FETCH": "1",  # a partial clone names a program or a server for missing objects
    "GIT_ALLOW_PROTOCOL": "none",  # the same for older versions of git
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


@dataclass(frozen=True, slots=True)
class Object:
    """A line of a tree: a file, a link or a submodule."""

    path: str
    mode: str
    kind: str  # "blob" or "commit"
    oid: str
    size: int  # -1 if unknown


def resolve_commit(folder: str, revision: str) -> str:
    """Return the full commit id of a branch, tag or other name.

    Raises PathError if git has no such commit.
    """
    result = run_git(folder, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    if result.returncode == 0:
        return result.stdout.decode("ascii").strip()
    complaint = first_line(result.stderr)
    if complaint:
        raise PathError(
            f"{print_path(folder)}@{print_path(revision)}: git cannot read this folder ({complaint});"
            " expected a git work tree or a bare repository"
        )
    shown = shlex.quote(print_path(folder))
    lacking = f"{print_path(folder)} has no revision '{print_path(revision)}'"
    if run_git(folder, "rev-parse", "--is-shallow-repository").stdout.strip() == b"true":
        raise PathError(
            f"{lacking}: it is a shallow clone, which holds only a part of its history; fetch the rest, then build"
            f" again: git -C {shown} fetch --unshallow --tags"
        )
    if not run_git(folder, "for-each-ref", "--count=1").stdout.strip():
        raise PathError(f"{lacking}: the repository has no commit yet; make one, or name the folder without a revision")
    raise PathError(f"{lacking}; expected a branch, tag or commit; list them with: git -C {shown} log --oneline --all")


def list_tree(folder: str, commit: str) -> Iterator[Object]:
    """List the files of a commit below a folder, with relative paths; bytes that are not UTF-8 become surrogates.

    Raises PathError if the commit cannot be read.
    """
    result = run_git(folder, "ls-tree", "-r", "-z", "--long", commit)
    if result.returncode != 0:
        raise PathError(
            f"{print_path(folder)}@{commit}: git cannot list it ({first_line(result.stderr)}); run: git fsck"
        )
    for line in result.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        head, _, path = line.partition("\t")
        mode, kind, oid, size = head.split()
        yield Object(path, mode, kind, oid, int(size) if size.isdigit() else -1)


class Blobs:
    """Read file contents through one git process, from the first read to the end of this object."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._end: Callable[[], object] = lambda: None

    def read(self, label: str, item: Object) -> bytes:
        """Read the content of a blob; raise PathError if it is missing or damaged."""
        data = _ask(self._process or self._start(), item)
        if data is None:
            self._stop()
            raise PathError(f"{label}: git cannot read object {item.oid}; run: git fsck")
        return data

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            _spell_command(self._folder, "cat-file", "--batch"),
            env=_make_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._process = process
        self._end = weakref.finalize(self, _end_process, process)
        return process

    def _stop(self) -> None:
        """Stop a process after an unexpected response; the next read starts another one."""
        self._end()
        self._process = None


def _ask(process: subprocess.Popen[bytes], item: Object) -> bytes | None:
    """Return the content of an object; None if the response is not a blob of the known size."""
    if process.stdin is None or process.stdout is None:
        return None
    try:
        process.stdin.write(item.oid.encode("ascii") + b"\n")
        process.stdin.flush()
        header = process.stdout.readline().split()
        size = int(header[2]) if header[1:2] == [b"blob"] else -1
        if size < 0 or item.size not in (-1, size):
            return None
        data = process.stdout.read(size + 1)[:-1]
    except OSError:  # git has ended
        return None
    return data if len(data) == size else None


def _end_process(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


def run_git(folder: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run git on a folder with all automatic actions disabled; raise PathError without git."""
    command = _spell_command(folder, *arguments)
    try:
        return subprocess.run(
            command, env=_make_environment(), capture_output=True, stdin=subprocess.DEVNULL, check=False
        )
    except FileNotFoundError as error:
        raise PathError(
            "git is not installed, and revisions are read with it; install git, or name a folder or code"
        ) from error
    except ValueError as error:  # a NUL character in the revision
        raise PathError(f"{print_path(' '.join(command[-1:]))}: not a revision ({error})") from error


def _spell_command(folder: str, *arguments: str) -> list[str]:
    return ["git", *_OPTIONS, "-C", folder, *arguments]


def _make_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _FOREIGN} | _SETTINGS


def first_line(text: bytes) -> str:
    """Return the first line of git's output, printable."""
    return print_path(text.decode("utf-8", "surrogateescape").strip().split("\n")[0])


_LINK = "120000"  # git's file mode of a symbolic link


def discover_revision(folder: str, revision: str, choice: FileChoice, follow_links: bool = False) -> Discovery:
    """Find the files of a folder at a revision: tracked files, so that only .pkgignore files exclude some.

    follow_links: .git may be a link that leads out of the folder; links inside a revision are never followed.
    Raises PathError if git has no such revision, or the history of the folder is elsewhere by such a link.
    """
    root = os.path.abspath(folder)
    if not revision or revision.startswith("-"):  # git would read a leading dash as an option
        raise PathError(f"{print_path(folder)}@{revision}: no revision after the @; expected a branch, tag or commit")
    fault = make_boundary(root, follow_links).find_violation(os.path.join(root, ".git"))
    if fault is not None:
        raise PathError(f"{print_path(folder)}@{print_path(revision)}: .git is {fault}")
    commit = resolve_commit(root, revision)
    tree = {item.path: item for item in list_tree(root, commit)}
    blobs = Blobs(root)
    chosen, left_out = choose_files(tree.keys(), choice, _read_pkgignore(tree, blobs))
    skipped = [Skip(print_path(skip.path), skip.reason) for skip in left_out]
    skipped += [Skip(print_path(item.path), _SUBMODULE) for item in tree.values() if item.kind == "commit"]
    skipped += [Skip(print_path(item.path), _IGNORE_LINK) for item in tree.values() if _is_ignore_link(item)]
    entries = []
    for path in chosen:
        item, label = tree[path], print_path(path)
        reason = _find_obstacle(item, choice.find_limit(path) or 0)
        if reason is not None:
            skipped.append(Skip(label, reason))
        elif item.kind == "blob":
            entries.append(Entry(label, item.oid, item.size, partial(blobs.read, label, item)))
    return Discovery(
        root=f"{print_path(root)}@{print_path(revision)}",
        name=print_path(os.path.basename(root).removesuffix(".git") or os.path.basename(root)) or "root",
        revision=commit,
        entries=tuple(sorted(entries, key=lambda entry: entry.path)),
        skipped=sort_skips(skipped),
        package=_name_package(root, commit),
    )


def _name_package(root: str, commit: str) -> str:
    """Return the dotted name that a folder is imported by at a commit; packages end at the repository's root."""
    below = run_git(root, "rev-parse", "--show-prefix").stdout.decode("utf-8", "surrogateescape").strip("/\n")
    parts = below.split("/") if below else []
    top = root
    for _ in parts:
        top = os.path.dirname(top)
    paths = {os.path.join(top, *parts[:count]): "/".join(parts[:count]) for count in range(len(parts) + 1)}
    wanted = [f":(literal){init}" for path in paths.values() for init in list_inits(path)]
    listed = run_git(root, "ls-tree", "--full-tree", "--name-only", "-z", commit, "--", *wanted).stdout
    found = set(listed.decode("utf-8", "surrogateescape").split("\0"))
    return name_package(root, lambda folder: folder in paths and not found.isdisjoint(list_inits(paths[folder])))


_SUBMODULE = "submodule: its files are in another repository; check it out and read it as a folder"


_IGNORE_LINK = "its rules are not applied: links in a revision are not followed"


def _is_ignore_link(item: Object) -> bool:
    return item.mode == _LINK and os.path.basename(item.path) == PKGIGNORE


def _find_obstacle(item: Object, max_file_size: int) -> str | None:
    if item.mode == _LINK:
        return "link; links in a revision are not followed"
    if item.kind == "blob" and item.size < 0:
        return "its content is not in this clone; fetch it with git first"
    return describe_oversize(item.size, max_file_size) if item.size > max_file_size else None


def _read_pkgignore(tree: dict[str, Object], blobs: Blobs) -> dict[str, bytes]:
    return {
        path.removesuffix(PKGIGNORE): blobs.read(path, item)
        for path, item in tree.items()
        if path.endswith(PKGIGNORE)
        and os.path.basename(path) == PKGIGNORE
        and item.kind == "blob"
        and item.mode != _LINK
        and 0 <= item.size <= MAX_IGNORE_FILE_SIZE
    }
