"""The format of a document and the origin of its facts; a build that reads no document imports no more than this."""

from __future__ import annotations

from dataclasses import dataclass

from pkg.extract.documents.document_kinds import DocumentKind
from pkg.model import Fact
from pkg.units import hash_bytes

STRUCTURE_VERSION = 1  # of the facts made of a document; part of the keys of its stored text


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
