"""Extraction of text files with any content."""

from __future__ import annotations

import random

import pytest

from pkg.extract.text_files.text_unit import extract_text
from pkg.model import Status, TextUnit

WORDS = "The cart holds what a customer wants to buy, and the till adds up what it costs.\n"


def extract(raw: bytes, path: str = "README.md") -> TextUnit:
    return extract_text(raw, "text" if path.endswith(".txt") else "markdown", path)


@pytest.mark.parametrize(
    ("raw", "note"),
    [
        ("# Größe\n\nÄpfel\n".encode(), None),
        ("\ufeff# Größe\n\nÄpfel\n".encode(), None),
        ("# Größe\r\n\r\nÄpfel\r\n".encode(), None),
        ("# Größe\n\nÄpfel\n".encode("utf-16"), "read as UTF-16; spans count its UTF-8 form"),
        ("# Größe\n\nÄpfel\n".encode("latin-1"), "not UTF-8: read as Windows-1252; spans count its UTF-8 form"),
    ],
)
def test_a_text_is_read_in_its_encoding(raw: bytes, note: str | None) -> None:
    unit = extract(raw)
    assert (unit.status, unit.reason) == (Status.OK, note)
    (chunk,) = unit.chunks
    assert (chunk.name, chunk.span.start_line, chunk.span.end_line) == ("Größe", 1, 3)
    assert unit.text[chunk.span.start : chunk.span.end].decode().split() == ["#", "Größe", "Äpfel"]


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0", "binary: it holds NUL bytes"),
        (random.Random(1).randbytes(5_000), "binary: it holds NUL bytes"),
        (b"x" * 500_000, "minified or generated: very long lines"),
        (b"0.125 17 -3\n" * 5_000, "data: 0% of its signs are letters"),
        (b"word\n" * 5_000, "data: a list of 5,000 single words"),
    ],
)
def test_what_people_did_not_write_is_left_out_with_the_reason(raw: bytes, reason: str) -> None:
    unit = extract(raw, "data.txt")
    assert (unit.status, unit.reason, unit.chunks, unit.text) == (Status.FAILED, reason, (), b"")


@pytest.mark.parametrize(
    "raw", [WORDS.encode() * 500, b"numpy\nscipy\n" * 50, "Ωραία λόγια εδώ\n".encode() * 2_000, b""]
)
def test_prose_short_lists_and_empty_files_are_kept(raw: bytes) -> None:
    assert extract(raw, "notes.txt").status is Status.OK


def test_a_text_without_headings_is_called_by_its_file() -> None:
    assert extract(WORDS.encode(), "docs/intro.txt").chunks[0].name == "intro"
    assert extract(WORDS.encode(), "LICENSE").chunks[0].name == "LICENSE"
