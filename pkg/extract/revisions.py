"""Read a git revision from the object database; the work tree, the index and the hooks stay untouched."""

from __future__ import annotations

import os
from functools import partial

from pkg.errors import PathError
from pkg.extract.entries import Discovery, Entry, describe_oversize, print_path, sort_skips
from pkg.extract.git import Blobs, Object, list_tree, resolve_commit
from pkg.extract.ignore import MAX_IGNORE_FILE_SIZE, PKGIGNORE
from pkg.extract.left_out import choose_files
from pkg.model import Skip

_LINK = "120000"  # git's file mode of a symbolic link


def discover_revision(folder: str, revision: str, max_file_size: int) -> Discovery:
    """Find the Python files of a folder at a revision: tracked files, so only .pkgignore files rule some out."""
    root = os.path.abspath(folder)
    if not revision or revision.startswith("-"):  # git would read a leading dash as an option
        raise PathError(f"{print_path(folder)}@{revision}: no revision after the @; expected a branch, tag or commit")
    commit = resolve_commit(root, revision)
    tree = {item.path: item for item in list_tree(root, commit)}
    blobs = Blobs(root)
    chosen, left_out = choose_files(tree.keys(), _read_pkgignore(tree, blobs))
    skipped = [Skip(print_path(skip.path), skip.reason) for skip in left_out]
    skipped += [Skip(print_path(item.path), _SUBMODULE) for item in tree.values() if item.kind == "commit"]
    entries = []
    for path in chosen:
        item, label = tree[path], print_path(path)
        reason = _find_obstacle(item, max_file_size)
        if reason is not None:
            skipped.append(Skip(label, reason))
        elif item.kind == "blob":
            entries.append(Entry(label, item.oid, item.size, partial(blobs.read, label, item)))
    return Discovery(
        root=f"{print_path(root)}@{print_path(revision)}",
        name=print_path(os.path.basename(root).removesuffix(".git") or os.path.basename(root)) or "root",
        kind="repository",
        revision=commit,
        entries=tuple(sorted(entries, key=lambda entry: entry.path)),
        skipped=sort_skips(skipped),
    )


_SUBMODULE = "submodule: its files are in another repository; check it out and read it as a folder"


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
