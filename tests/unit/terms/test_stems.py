"""Terms: the stemmed words of identifiers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.terms.words import split_terms, split_words, stem_cached


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("parsing the files", "parse_the_file"),
        ("connections that were closed", "ConnectionsThatWereClose"),
        ("normalizes matrices", "normalize_matrices"),
        ("HTTP servers", "HTTPServer"),
    ],
)
def test_a_question_and_an_identifier_have_the_same_terms(asked: str, written: str) -> None:
    assert split_terms(asked.encode()) == split_terms(written.encode())


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("+ - ()", []),
        ("_ __ 12", []),
        ("Größen ändern", ["größen", "ändern"]),
        ("читать файл", ["читать", "файл"]),
        ("读文件", ["读", "文", "件"]),
    ],
)
def test_texts_of_any_script_have_terms(text: str, terms: list[str]) -> None:
    assert split_terms(text.encode()) == terms


@given(st.text())
def test_each_word_has_one_term(text: str) -> None:
    encoded = text.encode("utf-8", "ignore")
    assert len(split_terms(encoded)) == len(split_words(encoded))


@given(st.binary())
def test_cached_terms_are_the_same_for_any_bytes(text: bytes) -> None:
    assert split_terms(text) == split_terms(text)


def test_terms_of_an_identifier_are_those_of_its_text() -> None:
    assert list(stem_cached(b"readSettingsFrom")) == split_terms(b"read settings from")
