from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pkg.terms import term_weights
from pkg.terms.term_weights import FILE, NAME_GAIN, UNLEARNED_GAIN, find_name_gains
from pkg.terms.words import hash_term
from pkg.trained import WEIGHTS


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    find_name_gains.cache_clear()
    term_weights._load_columns.cache_clear()


def learn(folder: Path, *rows: tuple[str, str, float]) -> None:
    """Write a table as training does, and forget the one of the wheel."""
    table = np.array([(hash_term(asked), hash_term(named), gain) for asked, named, gain in rows], NAME_GAIN)
    np.save(folder / FILE, np.sort(table, order=("asked", "named")))
    find_name_gains.cache_clear()
    term_weights._load_columns.cache_clear()


def test_gains_are_means_over_the_terms_of_the_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(term_weights, "WEIGHTS", tmp_path)
    learn(tmp_path, ("number", "count", 60.0), ("number", "num", 90.0), ("total", "count", 20.0))
    assert find_name_gains(("total", "number")) == {hash_term("count"): 40.0, hash_term("num"): 45.0}


def test_a_term_that_was_never_learned_makes_itself_likelier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(term_weights, "WEIGHTS", tmp_path)
    learn(tmp_path, ("number", "num", 90.0))
    assert find_name_gains(("зонт", "number")) == {hash_term("зонт"): UNLEARNED_GAIN / 2, hash_term("num"): 45.0}


def test_a_question_without_terms_makes_nothing_likelier() -> None:
    assert find_name_gains(()) == {}


def test_the_table_of_the_wheel_knows_what_things_are_called() -> None:
    gains = find_name_gains(("number",))
    assert {hash_term(name) for name in ("num", "count", "len", "number")} <= gains.keys()
    assert hash_term("plot") not in gains


def test_the_table_of_the_wheel_is_sorted_and_promises_something() -> None:
    table = np.load(WEIGHTS / FILE)
    assert (np.diff(table["asked"].astype(np.int64)) >= 0).all()
    assert np.isfinite(table["gain"]).all()
    assert (table["gain"] > 0).all()
