"""Read a document into facts: by its structure, from what a model wrote about it, or from an export (P-12)."""

from __future__ import annotations

from dataclasses import dataclass

from pkg.extract.documents.document_code import extract_code
from pkg.extract.documents.document_kinds import DocumentKind
from pkg.extract.documents.nested_json import list_written, parse_nested
from pkg.extract.documents.structure_reader import STRUCTURE_VERSION, read_structure, write_text
from pkg.extract.text_files.text_sections import name_document
from pkg.model import DocumentUnit, Fact, Status
from pkg.units import hash_bytes


@dataclass(frozen=True, slots=True)
class ExportedFacts:
    """The facts of a document in an export, parents first, with the language of each ("" except for code)."""

    facts: tuple[Fact, ...]
    languages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """The answers of a model about a document, and a reason for those that are missing."""

    answers: tuple[tuple[int, int, str], ...]  # byte offsets of the piece of the text, and the answer
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """The format of one document, and where its facts come from."""

    kind: DocumentKind
    above: tuple[str, ...] = ()  # keys that enclose it: those of a row
    exported: ExportedFacts | None = None
    written: Written | None = None

    @property
    def version(self) -> str:
        """Return a key of the facts that one text makes."""
        if self.written is not None:
            return f"model/{hash_bytes(repr(self.written).encode('utf-8', 'replace')):x}"
        return "export" if self.exported is not None else f"structure/{STRUCTURE_VERSION}"


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
