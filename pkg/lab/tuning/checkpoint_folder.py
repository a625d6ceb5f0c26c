"""The folder of a run: written beside its name with checkpoints, resumed after a kill, renamed when complete."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from pkg.errors import InputError, PathError, UsageError, refuse_file
from pkg.models.adapters import CARD, read_card
from pkg.models.gguf_file import identify
from pkg.private_files import replace_file

PART = ".part"  # of the name of an unfinished run
RUN, SEAL, FINAL, LOCK = "run.json", "complete.json", "final", "lock"
CHECKPOINT = re.compile(r"checkpoint-(\d+)")


def find_part(out: Path) -> Path:
    """Return the folder of an unfinished run."""
    return out.with_name(f".{out.name}{PART}")


def check_target(out: Path, key: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the card of a finished run of the same key, None if there is no such folder.

    Raises UsageError for the folder of another run or of anything else.
    """
    if not out.exists():
        return None
    card = read_card(out) if out.is_dir() else None
    if card is None:
        raise UsageError(f"{out} is there already and no run of pkg tune; give another --out")
    if others := _differ(card.get("run", {}), key):
        raise UsageError(f"{out} is another run ({others}); give another --out")
    return card


@contextmanager
def open_run(out: Path, key: Mapping[str, Any], restart: bool) -> Iterator[Path]:
    """Create the folder of a run beside its name, or yield that of the same run, to be resumed; it is locked meanwhile.

    Raises UsageError for the folder of another run or one in use, and PathError if it cannot be written.
    """
    part = find_part(out)
    try:
        part.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise refuse_file(out, fault) from fault
    with _lock(part):
        try:
            if restart:
                _empty(part)
            if not (part / RUN).exists():
                _write_json(part / RUN, key)
        except OSError as fault:
            raise refuse_file(out, fault) from fault
        _check_key(part, key)
        yield part


@contextmanager
def _lock(part: Path) -> Iterator[None]:
    """Lock a folder by a lock of SQLite on a file in it, which the system frees when the process ends, however it ends.

    Raises UsageError if another process has the lock, and PathError if there can be none.
    """
    with ExitStack() as stack:
        try:
            connection = stack.enter_context(closing(sqlite3.connect(part / LOCK, timeout=0, isolation_level=None)))
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as fault:
            if "is locked" in str(fault):
                raise UsageError(
                    f"{part} is in use by another run of pkg tune; wait until it ends, or give another --out"
                ) from None
            raise PathError(f"{part / LOCK} cannot be locked ({fault}); give another --out") from None
        yield


def _empty(part: Path) -> None:
    """Delete all of a folder but its lock."""
    for path in part.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != LOCK:
            path.unlink()


def _check_key(part: Path, key: Mapping[str, Any]) -> None:
    """Raise UsageError for the folder of another run."""
    try:
        stored = json.loads((part / RUN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        stored = {}
    if others := _differ(stored, key):
        raise UsageError(
            f"{part} holds another run, which was interrupted ({others}); give another --out, or --restart to drop it"
        )


def _differ(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Return the names of the values in which two runs differ."""
    names = sorted(name for name in {*one, *other} if one.get(name) != other.get(name))
    return f"other {', '.join(names)}" if names else ""


def seal_checkpoint(folder: Path) -> None:
    """Mark a checkpoint as complete, with a hash of its files."""
    _write_json(folder / SEAL, {"files": _hash_files(folder)})


def find_checkpoint(part: Path) -> Path | None:
    """Return the latest complete checkpoint of a run; one that a kill left half-written is removed.

    Raises InputError for a complete one whose files have changed.
    """
    found = [(int(name[1]), path) for path in part.iterdir() if (name := CHECKPOINT.fullmatch(path.name))]
    for _, path in sorted(found, reverse=True):
        if not (path / SEAL).is_file():
            shutil.rmtree(path)
            continue
        try:
            sealed = json.loads((path / SEAL).read_text(encoding="utf-8"))["files"]
        except (OSError, ValueError, KeyError, TypeError):
            sealed = {}
        files = _hash_files(path)
        damaged = sorted(name for name in {*sealed, *files} if sealed.get(name) != files.get(name))
        if damaged or not sealed:
            raise InputError(
                f"checkpoint {path} is damaged ({', '.join(damaged[:3]) or SEAL}); remove it to resume from the one"
                " before it, or give --restart"
            )
        return path
    return None


def _hash_files(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != SEAL)
    return {path.relative_to(folder).as_posix(): identify([path]) for path in files}


def finish_run(part: Path, out: Path) -> None:
    """Rename the complete result of a run to its name, and remove its checkpoints.

    Raises InputError if it is not complete, and PathError if it cannot be renamed.
    """
    final = part / FINAL
    if not (final / CARD).is_file():
        raise InputError(f"{final} has no {CARD}; the run is not complete")
    try:
        for path in (*(each for each in final.iterdir() if each.is_file()), final):
            _flush(path)
        os.replace(final, out)
    except OSError as fault:
        raise refuse_file(out, fault) from fault
    shutil.rmtree(part, ignore_errors=True)


def _flush(path: Path) -> None:
    """Write a file or folder to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_json(path: Path, value: object) -> None:
    with replace_file(path) as temporary:
        temporary.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
