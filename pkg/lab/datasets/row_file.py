"""Writing rows to a file that is renamed into place when it is complete."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from pkg.errors import PathError, refuse_file
from pkg.lab.datasets.dataset_rows import Row
from pkg.quoting.hidden_characters import escape_json

PART = ".part"
"""Suffix of a file in progress. An interrupted run leaves it, and the next writes it again from the cached texts."""


def write_rows(rows: Iterable[Row], path: Path) -> None:
    """Write rows as JSON lines, flushed one by one; raises PathError if the file cannot be written."""
    if path.is_dir():
        raise PathError(f"cannot write {path}: it is a folder; expected a file")
    part = path.with_name(path.name + PART)
    try:
        with part.open("w", encoding="utf-8", newline="\n") as file:
            for row in rows:
                file.write(escape_json(json.dumps(row, ensure_ascii=False)) + "\n")
                file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as fault:
        raise refuse_file(path, fault) from fault
