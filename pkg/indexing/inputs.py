"""Inputs of a build: the units of a repository, an archive, a revision, a corpus or an export."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pkg.errors import PathError
from pkg.extract.documents.document_kinds import find_document_kind, guess_document_kind
from pkg.extract.documents.reading import Reading
from pkg.extract.files import Discovery, Entry, make_fingerprint, print_path
from pkg.extract.input_options import READERS, InputOptions, format_fingerprint
from pkg.indexing.written_docstrings import GeneratedTexts
from pkg.model import Label, Skip, Source, Status
from pkg.units import format_id, hash_bytes


@dataclass(frozen=True, slots=True)
class LoadedUnit:
    """A file or row with its text."""

    path: str
    fingerprint: str
    label: Label
    content_hash: str
    text: bytes
    verdict: tuple[str, Status, str | None] | None = None  # language, status, reason of code extracted already
    reading: Reading | None = None  # of a document

    @property
    def size(self) -> int:
        """Return the number of bytes."""
        return len(self.text)


def load_file(entry: Entry, reader: str | None = None) -> LoadedUnit | Skip:
    """Read a file; return a Skip with the reason if it cannot be read. reader: that of documents."""
    try:
        text = entry.read()
    except PathError as fault:
        return Skip(entry.path, str(fault))
    kind = find_document_kind(entry.path) if reader in READERS else None
    reading = None if kind is None else Reading(kind)
    return LoadedUnit(entry.path, entry.fingerprint, Label.FILE, hash_text(text), text, reading=reading)


@dataclass(frozen=True, slots=True)
class Input:
    """A source and its units: a list of files, or a stream of rows, or of the units of an export."""

    source: Source
    fingerprint: str  # of the whole input; equal fingerprints mean no change
    entries: tuple[Entry, ...] | None  # None if the units are streamed
    skipped: tuple[Skip, ...] = ()
    stream: Callable[[], Iterator[LoadedUnit | Skip]] = lambda: iter(())
    generated: GeneratedTexts = field(default_factory=dict)  # generated texts of an export
    reader: str | None = None  # of documents
    row_bytes: float = math.inf  # of the files of a corpus

    @property
    def count(self) -> int:
        """Return the number of units that are known without reading the input."""
        return len(self.entries or ())

    @property
    def size(self) -> float:
        """Return the number of bytes to read, before decompression; infinity for a stream of unknown length."""
        if self.entries is not None:
            return sum(entry.size for entry in self.entries)
        return self.row_bytes


def find_input(
    path: str,
    source: str | None,
    field: str | None,
    max_file_size: int | None,
    follow_links: bool = False,
    text: bool = True,
    reader: str | None = None,
    model: str | None = None,
) -> Input:
    """Determine the kind of a path and list its units.

    text: include text files. reader: makes facts of documents, with a model or without; None: only of rows of texts.
    """
    from pkg.extract.records import is_corpus
    from pkg.extract.row_files import is_address

    if is_corpus(path) or is_address(path):
        return _find_corpus(path, source, InputOptions(field, reader=reader, model=model))
    from pkg.extract.discovery import discover, is_archive
    from pkg.extract.files import DEFAULT_MAX_FILE_SIZE
    from pkg.extract.text_files.text_kinds import MAX_TEXT_SIZE, TEXT_VERSION
    from pkg.resolution.record_version import VERSION

    version = f"{VERSION}.{TEXT_VERSION}" if text else str(VERSION)  # the versions of links and of chunks
    # Before listing: files written meanwhile are read by the next build.
    stamp = f"{make_fingerprint(os.stat(path))}-{version}" if is_archive(path) else None
    max_text_size = (max_file_size or MAX_TEXT_SIZE) if text else None
    options = InputOptions(
        max_file_size=max_file_size, follow_links=follow_links, code_only=not text, reader=reader, model=model
    )
    found = discover(path, max_file_size or DEFAULT_MAX_FILE_SIZE, follow_links, max_text_size, options.has_documents)
    named = Source(source or found.name, "repository", found.root, found.revision, found.package)
    stamp = stamp or _fingerprint_listing(found, version)
    return Input(named, format_fingerprint(stamp, options), found.entries, found.skipped, reader=reader)


def _fingerprint_listing(found: Discovery, version: str) -> str:
    """Return a fingerprint of the found and skipped files and of the versions of extraction."""
    lines = [f"{found.package}\0{version}"]  # links depend on it, whatever the files
    lines += [f"{entry.path}\0{entry.fingerprint}" for entry in found.entries]
    lines += [f"{skip.path}\0{skip.reason}" for skip in found.skipped]
    return hash_text("\n".join(lines).encode("utf-8", "replace"))


def _find_corpus(path: str, source: str | None, options: InputOptions) -> Input:
    """Return a corpus with the fingerprint of its file; its rows are streamed later."""
    if path == "-":
        named = Source(source or "stdin", "corpus", "-")
        return Input(named, "", None, stream=lambda: _stream_rows(path, options), reader=options.reader)
    root, name, stamp, size = _find_files(path)
    return Input(
        Source(source or name, "corpus", print_path(root)),
        format_fingerprint(stamp, options),
        None,
        stream=lambda: _stream_rows(path, options),
        reader=options.reader,
        row_bytes=size,
    )


def _find_files(path: str) -> tuple[str, str, str, int]:
    """Return the absolute place of the rows, the default name of their source, their fingerprint and their bytes."""
    from pkg.extract.row_files import check_address, find_row_files, is_address, is_many, split_place, stamp_files

    if not is_many(path):
        file = Path(path)
        if not file.is_file():
            raise PathError(f"no such file: {path}; expected rows as .jsonl, .json, .csv (each also .gz) or .parquet")
        info = file.stat()
        return str(file.resolve()), file.name.split(".", 1)[0], make_fingerprint(info), info.st_size
    check_address(path)
    files = find_row_files(path)
    root = path if is_address(path) else os.path.abspath(path)
    folder, _ = split_place(root)
    name = folder.rpartition("/")[2].split(".", 1)[0] or "rows"
    return root, name, stamp_files(files), sum(file.size for file in files)


def _stream_rows(path: str, options: InputOptions) -> Iterator[LoadedUnit | Skip]:
    from pkg.extract.rows import read_rows

    for row in read_rows(path, options.field, options.reader):
        if isinstance(row, Skip):
            yield row
        else:
            text = row.text.encode("utf-8", "replace")
            reading = None if row.keys is None else Reading(guess_document_kind(text), row.keys)
            # The keys are part of the facts, so that a new heading changes the content.
            hashed = hash_text(text if not row.keys else b"\0".join((text, "\0".join(row.keys).encode())))
            yield LoadedUnit(row.id, "", Label.ROW, hashed, text, reading=reading)


def hash_text(text: bytes) -> str:
    """Hash a unit's text to 16 hex digits."""
    return format_id(hash_bytes(text))
