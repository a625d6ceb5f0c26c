"""Read a document into facts: by its structure, from what a model wrote about it, or from an export (P-12)."""

from __future__ import annotations

from pkg.extract.documents.document_code import extract_code
from pkg.extract.documents.nested_json import list_written, parse_nested
from pkg.extract.documents.reading import Reading, Written
from pkg.extract.documents.structure_reader import read_structure, write_text
from pkg.extract.text_files.text_sections import name_document
from pkg.model import DocumentUnit, Status


def read_document(raw: bytes, path: str, reading: Reading) -> DocumentUnit:
    """Read the bytes of a document; one that holds no text is skipped with a reason."""
    if reading.exported is not None:
        facts, languages = reading.exported.facts, reading.exported.languages
        code, owners = extract_code(raw, facts, languages)
        return DocumentUnit(raw, reading.kind, Status.OK, None, facts, languages, code, owners)
    if reading.written is not None:
        return _read_written(raw, path, reading, reading.written)
    return read_structure(raw, reading.kind, path, reading.above)


def _read_written(raw: bytes, path: str, reading: Reading, written: Written) -> DocumentUnit:
    """Make facts of the nested JSON that a model wrote of each piece."""
    text, note, reason = write_text(raw, reading.kind)
    if reason is not None or not written.answers:
        return DocumentUnit(b"", reading.kind, Status.FAILED, reason or written.reason)
    pieces = [(start, end, parse_nested(answer)) for start, end, answer in written.answers]
    name = reading.above[-1] if reading.above else name_document(path)
    facts = list_written(text, [each for each in pieces if each[2]], reading.above, name)
    status = Status.PARTIAL if written.reason else Status.OK
    return DocumentUnit(text, reading.kind, status, written.reason or note, facts, ("",) * len(facts))
