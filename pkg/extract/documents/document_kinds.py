"""Recognise the documents that a reader turns into facts, and the format of a text without a file name."""

from __future__ import annotations

import re
from typing import Literal

from pkg.extract.text_files.text_kinds import find_text_kind

DocumentKind = Literal["markdown", "rst", "text", "html", "notebook"]
_CONVERTED: dict[str, DocumentKind] = {".html": "html", ".htm": "html", ".xhtml": "html", ".ipynb": "notebook"}

MAX_DOCUMENT_SIZE = 5_000_000  # bytes: notebooks hold their pictures, which are left out


def find_document_kind(path: str) -> DocumentKind | None:
    """Return the format of a document by name or path; None for other files, such as settings and code."""
    kind = find_text_kind(path)
    if kind == "markdown" or kind == "rst" or kind == "text":
        return kind
    name = path[path.rfind("/") + 1 :]
    return _CONVERTED.get(name[max(name.rfind("."), 0) :].lower()) if kind is None else None


def is_prose(path: str) -> bool:
    """Return whether a path names a text file or a document, and so no code."""
    return find_text_kind(path) is not None or find_document_kind(path) is not None


_MARKDOWN = re.compile(rb"^(?:#{1,6} |```|~~~)", re.MULTILINE)
_RST = re.compile(rb"^\.\. [\w-]+::|^(?:={4,}|-{4,}|~{4,})$", re.MULTILINE)
_HTML = re.compile(rb"\s*<(?:!doctype html|html|body|head|div|h[1-6]|p)\b", re.IGNORECASE)


def guess_document_kind(text: bytes) -> DocumentKind:
    """Return the format that a text seems to have; Markdown where nothing speaks for another."""
    if _HTML.match(text):
        return "html"
    return "rst" if not _MARKDOWN.search(text) and _RST.search(text) else "markdown"
