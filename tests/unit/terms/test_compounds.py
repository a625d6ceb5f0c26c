"""Splitting compound words."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.terms.compounds import LONGEST, TABLE_LIMIT, Compounds, load_compounds
from pkg.terms.words import split_terms

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
    for number in range(TABLE_LIMIT + 10):
        compounds[f"a{number}"]
    assert len(compounds) <= TABLE_LIMIT + 1


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
    code = "from pkg.terms.compounds import load_compounds; print(load_compounds()['getrowview'])"
    outputs = {
        subprocess.check_output([sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}) for seed in ("1", "2")
    }
    assert outputs == {b"('get', 'row', 'view')\n"}
