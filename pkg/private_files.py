"""Files that only their owner may read: created with that mode, replaced atomically, cleaned up after a kill."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pkg.errors import StoreFullError

FILE_MODE, FOLDER_MODE = 0o600, 0o700
LEFTOVER_SECONDS = 3600  # writing takes seconds: the process of an older file has ended, even if its id is in use again

_LEFTOVER = re.compile(r"(?P<name>.+)\.(?P<process>\d+)\.tmp")


def make_folder(folder: Path) -> None:
    """Create a folder and its missing parents, each for its owner alone; an existing folder is unchanged."""
    if not folder.is_dir():
        make_folder(folder.parent)
        with suppress(FileExistsError):  # another process was faster; a file of that name fails at its first use
            folder.mkdir()
            folder.chmod(FOLDER_MODE)  # whatever the umask


def make_file(path: Path, mode: int = FILE_MODE) -> None:
    """Create an empty file for its owner alone; an existing file is unchanged."""
    with suppress(FileExistsError):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        try:
            if hasattr(os, "fchmod"):  # the umask may have removed even the owner's rights
                os.fchmod(descriptor, mode)
        finally:
            os.close(descriptor)


@contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path for the new content of a file, and replace the file when the block ends.

    A reader sees the old content or the new. A new file is readable by its owner alone; else it keeps its mode.
    """
    remove_leftovers([path])
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    mode = FILE_MODE
    with suppress(FileNotFoundError):
        mode = path.stat().st_mode & 0o777
    try:
        temporary.unlink(missing_ok=True)
        make_file(temporary, mode)
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def repair_file(path: Path, is_sound: Callable[[Path], bool], write: Callable[[], None]) -> list[str]:
    """Rewrite a file that only copies other data, if it exists and is damaged; return a note of it.

    Raises StoreFullError where it cannot be written.
    """
    if not path.exists() or is_sound(path):
        return []
    try:
        write()
    except OSError as fault:
        raise StoreFullError(
            f"{path} is damaged or of another version, and cannot be written ({fault.strerror}); delete it"
        ) from fault
    return [f"{path.name} was damaged or of another version, and was written again"]


def list_exposed(paths: Iterable[Path]) -> list[Path]:
    """Return the files that users other than the owner may read or write."""
    return [path for path in paths if os.name == "posix" and path.exists() and path.stat().st_mode & 0o077]


def remove_leftovers(paths: Iterable[Path]) -> None:
    """Delete temporary files that killed processes left of some files of one folder."""
    wanted = {path.name: path for path in paths}
    folder = next(iter(wanted.values())).parent
    with suppress(OSError):
        for name in os.listdir(folder):
            found = _LEFTOVER.fullmatch(name)
            if found and found["name"] in wanted:
                _remove_leftover(folder / name, int(found["process"]))


def _remove_leftover(path: Path, process: int) -> None:
    with suppress(OSError):  # another process was faster, or another user owns it
        if not _is_running(process) or time.time() - path.stat().st_mtime > LEFTOVER_SECONDS:
            path.unlink()


def _is_running(process: int) -> bool:
    if os.name != "posix":  # elsewhere os.kill would send a signal
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # another user's
        return True
    return True
