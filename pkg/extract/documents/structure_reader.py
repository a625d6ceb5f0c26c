"""Read a document by its structure: headings, paragraphs, lists, definitions, tables and code become facts (P-12)."""

from __future__ import annotations

from collections.abc import Sequence

from pkg.extract.documents.document_code import extract_code
from pkg.extract.documents.document_kinds import DocumentKind
from pkg.extract.documents.fact_tree import list_facts
from pkg.extract.documents.html_text import write_markdown
from pkg.extract.documents.notebook_text import write_notebook
from pkg.extract.documents.parts import read_parts
from pkg.extract.text_files.text_sections import decode_text, find_data, name_document
from pkg.model import DocumentUnit, Status


def write_text(raw: bytes, kind: DocumentKind) -> tuple[bytes, str | None, str | None]:
    """Return the text of a document as UTF-8, a note on its decoding, and why it cannot be read, if so.

    HTML and notebooks are written in Markdown, to which offsets and lines refer.
    """
    if kind == "notebook":
        written, reason = write_notebook(raw)
        return written.encode(), None, reason
    text, note = decode_text(raw)
    reason = find_data(text if kind != "html" else b"", "text" if kind == "text" else "markdown")
    if kind == "html" and reason is None:
        reason = "binary: it holds NUL bytes" if b"\0" in text else None
        text = b"" if reason else write_markdown(text.decode("utf-8", "replace")).encode()
    return text, note, reason if reason or text.strip() else "a document without text"


def read_structure(raw: bytes, kind: DocumentKind, path: str, above: Sequence[str] = ()) -> DocumentUnit:
    """Read a document; one that is binary, data or empty is skipped with a reason (P-12).

    above: keys that enclose the document, such as the heading of a row; without any, text before the first heading is
    found by the name of the file.
    """
    text, note, reason = write_text(raw, kind)
    if reason is not None:
        return DocumentUnit(b"", kind, Status.FAILED, reason)
    name = above[-1] if above else name_document(path)
    parts = read_parts(text, kind in ("rst", "text"), name)
    facts, languages = list_facts(text, parts, above[:-1])
    code, owners = extract_code(text, facts, languages)
    return DocumentUnit(text, kind, Status.OK, note, tuple(facts), tuple(languages), code, owners)
