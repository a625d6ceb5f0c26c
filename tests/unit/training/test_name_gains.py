"""Gains of names: the words that words of docstrings make likelier."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from matrices import Functions, Pairs, Questions
from name_gains import learn_name_gains

from pkg.terms.words import hash_term

WORDS = ["number", "row", "count", "num", "remov", "column", "drop"]
ASKED_AND_NAMED = [
    *[("number row", "num row"), ("number column", "count column"), ("remov row", "drop row")] * 20,
    *[("remov column", "drop column"), ("number", "count")] * 20,
]


def make_matrix(texts: Sequence[str]) -> Any:
    """Put words into rows, as a sparse matrix holds them."""
    rows = [sorted(WORDS.index(word) for word in text.split()) for text in texts]
    return SimpleNamespace(
        indptr=np.cumsum([0, *map(len, rows)]), indices=np.array([word for row in rows for word in row], np.int32)
    )


def make_pairs(asked_and_named: Sequence[tuple[str, str]], packages: Sequence[int]) -> Pairs:
    asked, named = zip(*asked_and_named, strict=True)
    numbers = np.arange(len(named))
    functions = Functions(make_matrix([]), make_matrix(named), make_matrix([]), np.array(packages))
    first, none = Questions(make_matrix(asked), numbers), Questions(make_matrix([]), numbers[:0])
    return Pairs(WORDS, functions, first, none, none, none, none, make_matrix([]), Counter())


def learn(asked_and_named: Sequence[tuple[str, str]]) -> dict[tuple[str, str], float]:
    """Learn the gains of pairs of words, all from one package."""
    table = learn_name_gains(make_pairs(asked_and_named, [0] * len(asked_and_named)), ["package"])
    words = {hash_term(word): word for word in WORDS}
    return {(words[row["asked"]], words[row["named"]]): float(row["gain"]) for row in table}


def test_a_word_makes_the_words_that_stand_for_it_in_names_likelier() -> None:
    gains = learn(ASKED_AND_NAMED)
    assert gains["remov", "drop"] > 2
    assert min(gains["number", "count"], gains["number", "num"]) > 1


def test_what_another_word_of_the_question_explains_better_is_not_put_down_to_a_word() -> None:
    gains = learn(ASKED_AND_NAMED)
    assert gains["row", "row"] > 10 * gains.get(("remov", "row"), 0)
    assert gains["column", "column"] > 10 * gains.get(("number", "column"), 0)


def test_a_function_of_several_questions_lends_its_name_to_each() -> None:
    once = make_pairs([("number", "count"), ("remov", "drop")], [0, 0])
    twice = Questions(make_matrix(["number", "remov", "remov"]), np.array([0, 1, 1]))
    pairs = replace(once, first=twice)
    copied = make_pairs([("number", "count"), ("remov", "drop"), ("remov", "drop")], [0, 0, 0])
    assert np.array_equal(learn_name_gains(pairs, ["package"]), learn_name_gains(copied, ["package"]))


def test_the_table_is_sorted_as_questions_read_it() -> None:
    table = learn_name_gains(make_pairs(ASKED_AND_NAMED, [0] * len(ASKED_AND_NAMED)), ["package"])
    keys = list(zip(table["asked"].tolist(), table["named"].tolist(), strict=True))
    assert keys == sorted(set(keys))


def test_ten_functions_of_a_package_that_repeats_itself_count_for_three_of_another() -> None:
    crowded = make_pairs([("number", "count")] * 10 + [("number", "num")] * 10, [0] * 10 + [1] * 10)
    other = make_pairs([("number", "count")] * 3 + [("number", "num")] * 10, [1] * 13)
    packages = ["homeassistant", "package"]
    found, expected = learn_name_gains(crowded, packages), learn_name_gains(other, packages)
    assert found["named"].tolist() == expected["named"].tolist()
    assert found["gain"].tolist() == pytest.approx(expected["gain"].tolist())
