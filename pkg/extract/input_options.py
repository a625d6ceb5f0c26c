"""How an input is read; the fingerprint of an input keeps that, so that it can be read again in the same way."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass

from pkg.extract.files import make_fingerprint

STDIN = "-"  # root of rows that came through a pipe, and cannot be read again


@dataclass(frozen=True, slots=True)
class InputOptions:
    """What was chosen about the reading of an input; the defaults choose nothing."""

    field: str | None = None  # of a corpus row that holds code
    max_file_size: int | None = None  # bytes
    follow_links: bool = False
    code_only: bool = False  # no text files


def seal_fingerprint(stamp: str, options: InputOptions) -> str:
    """Make the fingerprint of an input from what tells its content, and how it is read where anything is chosen."""
    chosen = {name: value for name, value in asdict(options).items() if value}
    return f"{stamp} {json.dumps(chosen, sort_keys=True)}" if chosen else stamp


def parse_fingerprint(fingerprint: str) -> tuple[str, InputOptions]:
    """Give what tells the content of an input, and how it was read."""
    stamp, _, chosen = fingerprint.partition(" ")
    return stamp, InputOptions(**json.loads(chosen)) if chosen else InputOptions()


def is_same_file(stamp: str, info: os.stat_result) -> bool:
    """Tell whether a file of many units is the one of a stamp by its size and time: a copy of it will do."""
    return stamp.split("-")[:2] == make_fingerprint(info).split("-")[:2]
