"""Sections of text files: exact places, nothing lost, long ones cut and short ones joined."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.extract.text_files.text_kinds import TEXT_KINDS, TextKind
from pkg.extract.text_files.text_sections import MAX_CHUNK_BYTES, MIN_CHUNK_BYTES, cut_sections, extract_text
from pkg.model import Chunk, Status, TextUnit

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
def test_generated_files_are_left_out_with_the_reason(raw: bytes, reason: str) -> None:
    unit = extract(raw, "data.txt")
    assert (unit.status, unit.reason, unit.chunks, unit.text) == (Status.FAILED, reason, (), b"")


@pytest.mark.parametrize(
    "raw", [WORDS.encode() * 500, b"numpy\nscipy\n" * 50, "Ωραία λόγια εδώ\n".encode() * 2_000, b""]
)
def test_prose_short_lists_and_empty_files_are_kept(raw: bytes) -> None:
    assert extract(raw, "notes.txt").status is Status.OK


def test_a_file_without_headings_is_called_by_its_name() -> None:
    assert extract(WORDS.encode(), "docs/intro.txt").chunks[0].name == "intro"
    assert extract(WORDS.encode(), "LICENSE").chunks[0].name == "LICENSE"


BODY = "Some words that say what this is about. " * 8
PIECES = (
    *("# Head\n", "## Lower\n", "Title\n=====\n\n", "Sub\n---\n", "[table]\n", "key: value\n", "  inner: x\n", "```\n"),
    *("---\n", "\n", "\r\n", "  \n", BODY + "\n", "é🙂 ", "x" * 2_000, "\f", "\x85", "\x0b", "word ", "- item\n", "\t"),
)
TEXTS = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


def cut(text: str, kind: TextKind = "markdown", name: str = "README") -> list[tuple[str, int, int]]:
    return [
        (each.qualname, each.span.start_line, each.span.end_line) for each in cut_sections(text.encode(), kind, name)
    ]


def read(text: str, chunk: Chunk) -> str:
    return text.encode()[chunk.span.start : chunk.span.end].decode()


@given(text=TEXTS, kind=st.sampled_from(TEXT_KINDS), mark=st.sampled_from(["", "\ufeff"]))
def test_chunks_hold_all_of_a_text_in_its_order_and_say_where(text: str, kind: TextKind, mark: str) -> None:
    raw = (mark + text).encode()
    chunks = cut_sections(raw, kind, "doc")
    ends = [len(mark.encode())] + [each.span.end for each in chunks]
    starts = [each.span.start for each in chunks] + [len(raw)]
    assert all(end <= start and not raw[end:start].decode().strip() for end, start in zip(ends, starts, strict=True))
    for chunk in chunks:
        content = raw[chunk.span.start : chunk.span.end]
        assert 0 < len(content) <= MAX_CHUNK_BYTES
        assert content.decode().strip()  # cut between characters
        assert chunk.span.start_line == raw.count(b"\n", 0, chunk.span.start) + 1
        assert chunk.span.end_line == raw.count(b"\n", 0, chunk.span.end) + 1
        assert chunk.qualname.endswith(chunk.name)
        assert chunk.name.isprintable()


def test_a_section_is_named_by_its_headings() -> None:
    text = f"{BODY}\n# Shop\n{BODY}\n## Usage\n{BODY}\n### Retries\n{BODY}\n## Licence\n{BODY}\n"
    assert [name for name, _, _ in cut(text)] == [
        "README", "Shop", "Shop > Usage", "Shop > Usage > Retries", "Shop > Licence",
    ]  # fmt: skip


def test_a_title_alone_goes_with_what_follows() -> None:
    assert cut(f"# Shop\n\n## Usage\n{BODY}\n") == [("Shop > Usage", 1, 4)]
    assert cut(f"[badge]\n\n# Shop\n{BODY}\n") == [("Shop", 1, 4)]


def test_short_neighbours_are_one_chunk_with_both_names() -> None:
    assert cut("# A\n## One\nshort\n## Two\nshort\n") == [("A > One / Two", 1, 5)]
    assert cut(f"# A\n{BODY}\n## One\nshort\n") == [("A", 1, 4)]
    assert cut("[a]\nx = 1\n\n[b]\ny = 2\n", "toml", "pyproject") == [("a / b", 1, 5)]


def test_sections_of_other_chapters_are_not_joined() -> None:
    text = f"# One\n## Deep\nshort\n# Two\n{BODY}\n"
    assert cut(text) == [("One > Deep", 1, 3), ("Two", 4, 5)]


def test_a_long_section_is_cut_between_paragraphs_into_parts_of_like_size() -> None:
    text = "# Long\n\n" + "".join(f"{number}. {BODY}\n\n" for number in range(10))
    chunks = cut_sections(text.encode(), "markdown", "README")
    assert {each.qualname for each in chunks} == {"Long"}
    assert all(read(text, each).rstrip().endswith("about.") for each in chunks)
    sizes = [each.span.end - each.span.start for each in chunks]
    assert min(sizes) > MAX_CHUNK_BYTES / 3


def test_a_block_of_code_is_kept_whole_where_it_fits() -> None:
    code = "```python\n" + "x = 1\n\ny = 2\n\n" * 30 + "```\n"
    text = f"# A\n\n{BODY}\n\n{BODY}\n\n{BODY}\n\n{code}\n{BODY}\n\n{BODY}\n"
    holding = [read(text, each) for each in cut_sections(text.encode(), "markdown", "README")]
    assert [each.count("```") for each in holding if "```" in each] == [2]


def test_equal_headings_stay_apart() -> None:
    assert cut(f"# Notes\n{BODY}\n# Notes\n{BODY}\n") == [("Notes", 1, 2), ("Notes", 3, 4)]


def test_a_text_without_headings_is_called_by_its_file() -> None:
    assert cut("MIT Licence\n\nCopyright\n", "text", "LICENSE") == [("LICENSE", 1, 3)]


@pytest.mark.parametrize("text", ["", "\n", " \t\r\n", "\ufeff"])
def test_an_empty_text_has_no_chunks(text: str) -> None:
    assert cut(text) == []


def test_a_hundred_levels_and_a_line_of_a_million_letters_are_cut() -> None:
    signs = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
    deep = "".join(f"Level {number}\n{signs[number % 32] * 9}\n\n{BODY}\n\n" for number in range(100))
    names = [name for name, _, _ in cut(deep, "rst")]
    assert len(names) == 100
    assert names[31].count(" > ") == 31
    long = cut_sections(b"# " + b"x" * 1_000_000, "markdown", "README")
    assert len(long) == 667
    assert all(end.span.end == start.span.start for end, start in pairwise(long))


def test_letters_of_several_bytes_are_not_torn() -> None:
    text = "🙂" * 2_000
    assert "".join(read(text, each) for each in cut_sections(text.encode(), "text", "x")) == text


def test_tiny_pieces_are_rarer_than_sections() -> None:
    text = "# Questions\n\n" + "".join(f"## Why {number}?\n\nBecause.\n\n" for number in range(50))
    sizes = [each.span.end - each.span.start for each in cut_sections(text.encode(), "markdown", "FAQ")]
    assert min(sizes) >= MIN_CHUNK_BYTES
