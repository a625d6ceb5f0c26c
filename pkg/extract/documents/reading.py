"""Read a document into facts: by its structure, from what a model wrote about it, or from an export (P-12)."""

from __future__ import annotations

from dataclasses import dataclass

from pkg.extract.documents.document_code import extract_code
from pkg.extract.documents.document_kinds import DocumentKind
from pkg.extract.documents.structure_reader import STRUCTURE_VERSION, read_structure
from pkg.model import DocumentUnit, Fact, Status


@dataclass(frozen=True, slots=True)
class ExportedFacts:
    """The facts of a document in an export, parents first, with the language of each ("" except for code)."""

    facts: tuple[Fact, ...]
    languages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """The format of one document, and where its facts come from."""

    kind: DocumentKind
    above: tuple[str, ...] = ()  # keys that enclose it: those of a row
    exported: ExportedFacts | None = None

    @property
    def version(self) -> str:
        """Return a key of the facts that one text makes."""
        return "export" if self.exported is not None else f"structure/{STRUCTURE_VERSION}"


def read_document(raw: bytes, path: str, reading: Reading) -> DocumentUnit:
    """Read the bytes of a document; one that holds no text is skipped with a reason."""
    if reading.exported is not None:
        facts, languages = reading.exported.facts, reading.exported.languages
        code, owners = extract_code(raw, facts, languages)
        return DocumentUnit(raw, reading.kind, Status.OK, None, facts, languages, code, owners)
    return read_structure(raw, reading.kind, path, reading.above)
