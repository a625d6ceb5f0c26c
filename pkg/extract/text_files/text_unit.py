"""Extract one text file: decode it, skip data and binary content, and cut the rest into chunks."""

from __future__ import annotations

import re

from pkg.extract.discovery import looks_minified
from pkg.extract.files import decode_source
from pkg.extract.text_files.text_kinds import TextKind
from pkg.extract.text_files.text_sections import cut_sections
from pkg.model import Status, TextUnit


def extract_text(raw: bytes, kind: TextKind, path: str) -> TextUnit:
    """Cut the bytes of a text file into chunks; data and generated text are skipped with a reason."""
    text, note = decode_text(raw)
    reason = find_data(text, kind)
    if reason is not None:
        return TextUnit(b"", kind, Status.FAILED, reason)
    return TextUnit(text, kind, Status.OK, note, cut_sections(text, kind, name_document(path)))


def name_document(path: str) -> str:
    """Return the name of a text without headings: its file name without the suffix."""
    name = path[path.rfind("/") + 1 :]
    return name.rpartition(".")[0] or name


def decode_text(raw: bytes) -> tuple[bytes, str | None]:
    """Return a text as UTF-8, and a note on how it was decoded; other bytes are read as Windows-1252."""
    text, note = decode_source(raw)
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("cp1252", "replace").encode(), "not UTF-8: read as Windows-1252; spans count its UTF-8 form"
    return text, note


MIN_DATA_BYTES = 20_000  # bytes; shorter lists and tables do no harm
MIN_LETTER_SHARE = 0.5  # of non-blank characters; prose of any script, and settings, have more
MIN_WORDS_PER_LINE = 2.0  # on average, without blank lines; a list of words or names has one

_BLANKS = b" \t\r\n\f\v"
_LETTERS = bytes(range(0x41, 0x5B)) + bytes(range(0x61, 0x7B)) + bytes(range(0x80, 0x100))


def find_data(text: bytes, kind: TextKind) -> str | None:
    """Return why a text is not prose: binary, minified, a table of numbers, a list of words; None if it is."""
    if b"\0" in text:
        return "binary: it holds NUL bytes"
    if looks_minified(text):
        return "minified or generated: very long lines"
    if kind != "text" or len(text) < MIN_DATA_BYTES:
        return None
    shown = len(text.translate(None, _BLANKS))
    letters = shown - len(text.translate(None, _BLANKS + _LETTERS))
    if letters < MIN_LETTER_SHARE * shown:
        return f"data: {letters / shown:.0%} of its signs are letters"
    lines, words = len(re.findall(rb"\S[^\n]*", text)), len(text.split())
    return f"data: a list of {lines:,} single words" if words < MIN_WORDS_PER_LINE * lines else None
