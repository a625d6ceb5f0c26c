"""Options of reading an input, kept in its fingerprint so that it can be read again in the same way."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass

from pkg.extract.files import make_fingerprint

STDIN = "-"  # root of rows that came through a pipe, and cannot be read again

READERS = ("structure", "model")
"""Readers that make facts of documents; with ``none``, rows of texts are searched for code alone."""


@dataclass(frozen=True, slots=True)
class InputOptions:
    """Options of reading an input that differ from the defaults."""

    field: str | None = None  # field of a corpus row that holds code
    max_file_size: int | None = None  # bytes
    follow_links: bool = False
    code_only: bool = False  # without text files
    reader: str | None = None  # of documents: structure, model or none
    model: str | None = None  # of the reader

    @property
    def has_documents(self) -> bool:
        """Return whether HTML pages and notebooks are read besides code and text files."""
        return self.reader in READERS and not self.code_only


def format_fingerprint(stamp: str, options: InputOptions) -> str:
    """Return the fingerprint of an input: that of its content, followed by options other than the defaults."""
    chosen = {name: value for name, value in asdict(options).items() if value}
    return f"{stamp} {json.dumps(chosen, sort_keys=True)}" if chosen else stamp


def parse_fingerprint(fingerprint: str) -> tuple[str, InputOptions]:
    """Return the fingerprint of an input's content, and the options of reading it."""
    stamp, _, chosen = fingerprint.partition(" ")
    return stamp, InputOptions(**json.loads(chosen)) if chosen else InputOptions()


def is_same_file(stamp: str, info: os.stat_result) -> bool:
    """Return whether the fingerprint of a file of many units has its size and time; a copy may qualify."""
    return stamp.split("-")[:2] == make_fingerprint(info).split("-")[:2]
