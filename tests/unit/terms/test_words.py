"""Identifiers, the words that they are made of, and words written together."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.terms.words import (
    COMPOUNDS_LIMIT,
    LONGEST,
    MAX_WORD,
    Compounds,
    blank_separators,
    find_numbers,
    fold_case,
    load_compounds,
    singularise,
    split_identifier,
    split_identifiers,
    split_subwords,
    split_terms,
    split_words,
)


@pytest.mark.parametrize(
    ("identifier", "words"),
    [
        ("parse_file", ["parse", "file"]),
        ("parseFile", ["parse", "file"]),
        ("ParseFile", ["parse", "file"]),
        ("PARSE_FILE", ["parse", "file"]),
        ("getHTMLNames_2", ["get", "html", "name"]),
        ("HTTPServer", ["http", "server"]),
        ("utf8Decoder", ["utf", "decoder"]),
        ("x1y2", ["x", "y"]),
        ("__init__", ["init"]),
        ("A", ["a"]),
        ("aB", ["a", "b"]),
        ("getrowview", ["get", "row", "view"]),
        ("Showtraceback_fileNames", ["show", "traceback", "file", "name"]),
        ("_", []),
        ("_2", []),
        ("", []),
    ],
)
def test_identifiers_split_at_word_boundaries(identifier: str, words: list[str]) -> None:
    assert list(split_identifier(identifier.encode())) == words


@pytest.mark.parametrize(
    ("identifier", "words"),
    [
        ("été", ["été"]),
        ("GrößeÄndern", ["größe", "ändern"]),
        ("größe_ändern", ["größe", "ändern"]),
        ("ŁódźName", ["łódź", "name"]),
        ("прочитатьФайл", ["прочитать", "файл"]),
        ("ДНКФайл", ["днк", "файл"]),
        ("μ2σ", ["μ", "σ"]),
        ("читать数据", ["читать", "数", "据"]),
        ("get数据List", ["get", "数", "据", "list"]),
        ("データ", ["デ", "ー", "タ"]),
    ],
)
def test_words_of_other_scripts_stay_whole_and_unspaced_scripts_count_by_character(
    identifier: str, words: list[str]
) -> None:
    assert list(split_identifier(identifier.encode())) == words


@pytest.mark.parametrize(
    ("plural", "singular"),
    [
        ("numbers", "number"),
        ("entries", "entry"),
        ("classes", "class"),
        ("hashes", "hash"),
        ("boxes", "box"),
        ("files", "file"),
        ("caches", "cache"),
    ],
)
def test_a_regular_plural_has_its_singular(plural: str, singular: str) -> None:
    assert singularise(plural) == singular


@pytest.mark.parametrize("word", ["is", "gas", "this", "status", "class", "axis", "process", "number"])
def test_other_words_stay(word: str) -> None:
    assert singularise(word) == word


@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=12))
def test_a_singular_is_never_longer(word: str) -> None:
    folded = singularise(word)
    assert len(folded) <= len(word)
    assert folded[: len(word) - 3] == word[: len(word) - 3]


def test_overlong_runs_are_dropped() -> None:
    assert split_identifier(b"q" * MAX_WORD) == ("q" * MAX_WORD,)
    assert split_identifier(b"data_" + b"q" * (MAX_WORD + 1)) == ("data",)


def test_invalid_utf_8_is_ignored() -> None:
    assert split_identifier(b"caf\xe9_name") == ("caf", "name")


def test_the_words_of_a_text_come_in_order_with_their_repeats() -> None:
    text = b"def read_rows(path): # rows of a path\n    return [row for row in path]"
    assert " ".join(split_words(text)) == "def read row path row of a path return row for row in path"


@given(st.binary(max_size=200))
def test_blanking_keeps_the_length_and_every_byte_of_identifiers(text: bytes) -> None:
    blanked = blank_separators(text)
    assert len(blanked) == len(text)
    for before, after in zip(text, blanked, strict=True):
        is_letter = before >= 0x80 or chr(before).isalnum() or before == ord("_")
        assert after == (before if is_letter else ord(" "))


@given(st.from_regex(r"[A-Za-z_0-9]{0,20}", fullmatch=True))
def test_no_letter_of_an_identifier_is_lost_but_the_end_of_a_plural(identifier: str) -> None:
    letters = "".join(letter for letter in identifier.lower() if letter.isalpha())
    words = "".join(split_identifier(identifier.encode()))
    assert len(letters) - 3 * len(split_identifier(identifier.encode())) <= len(words) <= len(letters)


@given(st.lists(st.one_of(st.from_regex(r"[A-Za-z0-9_]{1,50}", fullmatch=True), st.text(max_size=9)), max_size=6))
def test_one_pass_splits_identifiers_like_each_alone(identifiers: list[str]) -> None:
    tokens = [token for each in identifiers for token in blank_separators(each.encode("utf-8", "ignore")).split()]
    parts = [part for part in split_identifiers(tokens) if len(part) <= MAX_WORD]
    assert parts == [part for token in tokens for part in (*split_subwords(token), " ")]
    words = tuple(fold_case(part) for part in parts if part != " ")
    assert words == tuple(word for token in tokens for word in split_identifier(token))


WORDS = ["get", "row", "view", "file", "name", "filename", "is", "plot", "in", "graph", "list"]


@pytest.mark.parametrize(
    ("word", "pieces"),
    [
        ("getrowview", ("get", "row", "view")),
        ("GETROW", ("GET", "ROW")),
        ("Rowview", ("Row", "view")),
        ("isfile", ("is", "file")),
        ("filename", ("filename",)),
        ("getfilename", ("get", "filename")),
        ("row", ("row",)),
        ("viewer", ("view", "er")),
        ("ksplot", ("ks", "plot")),
        ("quartz", ("quartz",)),
    ],
)
def test_compounds_are_split_unless_they_are_words(word: str, pieces: tuple[str, ...]) -> None:
    assert Compounds(WORDS)[word] == pieces


def test_commoner_words_are_preferred() -> None:
    assert Compounds(["now", "here", "no", "where"])["nowhere"] == ("now", "here")
    assert Compounds(["no", "where", "now", "here"])["nowhere"] == ("no", "where")


@pytest.mark.parametrize("word", ["graphs", "isin", "straßeplot", "plot" * (LONGEST // 4 + 1), "in", ""])
def test_endings_short_words_other_scripts_and_data_stay_whole(word: str) -> None:
    assert Compounds([each for each in WORDS if each != "is"])[word] == (word,)


def test_a_word_with_a_rest_that_is_rarer_than_an_unseen_word_stays_whole() -> None:
    rare = [f"word{number}" for number in range(20_000)]
    assert Compounds(["plot", *rare])["qqqqplot"] == ("qqqq", "plot")
    assert Compounds([*rare, "plot"])["qqqqplot"] == ("qqqqplot",)


@given(st.text("abcdefghilmnoprstuvw", max_size=30))
def test_no_letter_is_lost(word: str) -> None:
    assert "".join(load_compounds()[word]) == word


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5))
def test_joined_words_are_split_into_words(parts: list[str]) -> None:
    word = "".join(parts)
    assert len(word) < 5 or set(Compounds(WORDS)[word]) <= set(WORDS)


def test_the_cache_is_bounded() -> None:
    compounds = Compounds(WORDS)
    for number in range(COMPOUNDS_LIMIT + 10):
        compounds[f"a{number}"]
    assert len(compounds) <= COMPOUNDS_LIMIT + 1


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("getrowview", "get row view"),
        ("showtraceback", "show traceback"),
        ("savefig", "save fig"),
        ("charpoly", "char poly"),
        ("mktemp", "mk temp"),
    ],
)
def test_old_names_match_the_words_of_a_question(name: str, said: str) -> None:
    assert split_terms(name.encode()) == split_terms(said.encode())


@pytest.mark.parametrize("word", ["filename", "dataframe", "timestamp", "isinstance", "numpy", "laplace", "django"])
def test_known_words_stay_whole(word: str) -> None:
    assert load_compounds()[word] == (word,)


def test_all_processes_split_alike() -> None:
    code = "from pkg.terms.words import load_compounds; print(load_compounds()['getrowview'])"
    outputs = {
        subprocess.check_output([sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}) for seed in ("1", "2")
    }
    assert outputs == {b"('get', 'row', 'view')\n"}


def test_numbers_of_some_digits_are_words_where_they_are_asked_for() -> None:
    identifiers = [b"sha256", b"301", b"8", b"x_12", b"1234567", b"8080"]
    plain = [word for word in split_identifiers(identifiers) if word != " "]
    assert plain == ["sha", "x"]
    assert [word for word in split_identifiers(identifiers, with_numbers=True) if word != " "] == [
        "sha",
        "301",
        "x",
        "8080",
    ]
    assert find_numbers("a redirect 301, or port 8080. Python 3.12, v12, 301 again, and 7") == ["301", "8080"]
