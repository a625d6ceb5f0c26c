"""The files of pending stores, beside the store that gets their sources.

Their names are those of the store, the source and what makes its nodes: only a build by the same means continues one.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Collection
from contextlib import closing, suppress
from pathlib import Path

from pkg.errors import PkgError
from pkg.graph.embedded import sql
from pkg.graph.embedded.database_file import open_database
from pkg.graph.store import Unfinished
from pkg.units import format_id, hash_bytes

_ANY = "[0-9a-f]{8}"


def name_pending(target: Path, source: str, made_by: str) -> Path:
    """Return the pending store of a source, beside the file that a store may be a link to."""
    real = Path(os.path.realpath(target))
    return real.with_name(f"{real.name}-pending-{_hash(source)}-{_hash(made_by)}")


def _hash(text: str) -> str:
    return format_id(hash_bytes(text.encode("utf-8", "replace")))[:8]


def list_pending(target: Path, source: str | None = None) -> list[Path]:
    """Return the pending stores beside a store, of one source or of all."""
    real = Path(os.path.realpath(target))
    of_source = _ANY if source is None else _hash(source)
    is_pending = re.compile(f"{re.escape(real.name)}-pending-{of_source}-{_ANY}").fullmatch
    with suppress(OSError):
        return [real.with_name(name) for name in sorted(os.listdir(real.parent)) if is_pending(name)]
    return []


def list_unfinished(target: Path) -> list[Unfinished]:
    """Return the unfinished builds beside a store that no process is working on; damaged ones are left out."""
    found = []
    for path in filter(is_free, list_pending(target)):
        with (
            suppress(PkgError, sqlite3.Error, OSError),
            closing(open_database(path, str(path), create=False)) as opened,
        ):
            (units,) = opened.execute(sql.COUNT_UNITS).fetchone()
            found += [Unfinished(path, name, root, units) for name, _, root, *_ in opened.execute(sql.LIST_SOURCES)]
    return found


def remove_finished(target: Path, sources: Collection[str]) -> None:
    """Delete the pending stores of sources that a store has: a build was killed after it had copied all rows."""
    for source in sources:
        for path in filter(is_free, list_pending(target, source)):
            delete_pending(path)


def is_free(path: Path) -> bool:
    """Return whether no process has a pending store open; a damaged one counts as free."""
    try:
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("SELECT 1 FROM meta LIMIT 1").fetchone()
    except sqlite3.OperationalError as fault:
        return "locked" not in str(fault)
    except sqlite3.Error:
        return True
    return True


def delete_pending(path: Path) -> None:
    """Delete a pending store with its logs."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
