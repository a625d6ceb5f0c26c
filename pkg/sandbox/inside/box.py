"""The one folder in which a candidate may write: emptied after each run."""

from __future__ import annotations

import os
import stat
import tempfile


def empty_box(path: str) -> None:
    """Remove everything in the folder; an OSError says that something cannot be removed."""
    os.chmod(path, 0o700)
    with os.scandir(path) as entries:
        found = list(entries)
    for entry in found:
        if entry.is_dir(follow_symlinks=False):
            empty_box(entry.path)
            os.rmdir(entry.path)
        else:
            os.unlink(entry.path)


def count_files(path: str) -> int:
    """Count the files of the mount that the folder is."""
    state = os.statvfs(path)
    return state.f_files - state.f_ffree


def prepare_box(path: str) -> None:
    """Make the folder again if it was removed, as it can be where it is no mount of its own."""
    try:
        if stat.S_ISDIR(os.lstat(path).st_mode):
            return
        os.unlink(path)
    except FileNotFoundError:
        pass
    os.mkdir(path, 0o700)


def open_input(path: str, text: str) -> int:
    """Open what a step reads from standard input, as a file without a name."""
    if not text:
        return os.open(os.devnull, os.O_RDONLY)
    with tempfile.TemporaryFile(dir=path) as file:
        file.write(text.encode("utf-8", "surrogateescape"))
        file.seek(0)
        return os.dup(file.fileno())
