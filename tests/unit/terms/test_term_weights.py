"""The weights of fields and of a question's terms."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.terms import term_weights
from pkg.terms.term_weights import TERM_WEIGHT, Field, load_field_weights, parse_field_weights, weigh_terms
from pkg.terms.words import hash_term
from pkg.trained import WEIGHTS


def test_every_field_has_a_weight_and_the_name_counts_most() -> None:
    weights = load_field_weights().weights
    assert len(weights) == len(Field)
    assert weights.argmax() == Field.NAME


def test_a_longer_field_counts_less_for_each_of_its_terms() -> None:
    factors = load_field_weights().factors(np.array([[1] * len(Field), [100] * len(Field)]))
    assert (factors[0] > factors[1]).all()
    assert (factors > 0).all()


def test_weights_without_a_field_are_refused() -> None:
    found = json.loads((WEIGHTS / "lexical.json").read_text())
    del found["fields"]["body"]
    with pytest.raises(KeyError):
        parse_field_weights(json.dumps(found))


def test_a_question_has_each_stemmed_term_once() -> None:
    assert weigh_terms("Parsing, parsed: the parser of getHTMLNames").keys() == {"pars", "the", "parser", "of"} | {
        "get",
        "html",
        "name",
    }


@given(st.text())
def test_any_question_has_terms_of_positive_weight(question: str) -> None:
    assert all(weight > 0 for weight in weigh_terms(question).values())


def test_learned_weights_are_found_and_others_are_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learned = sorted((hash_term(term), weight) for term, weight in (("how", 0.25), ("pars", 1.5), ("file", 0.75)))
    np.save(tmp_path / "term_weights.npy", np.array(learned, TERM_WEIGHT))
    monkeypatch.setattr(term_weights, "WEIGHTS", tmp_path)
    term_weights._load_weights.cache_clear()
    try:
        assert weigh_terms("how parsing a file") == {"how": 0.25, "pars": 1.5, "a": 1.0, "file": 0.75}
    finally:
        term_weights._load_weights.cache_clear()
