from __future__ import annotations

import math

import pytest
from fakes import FakeEncoder
from graphs import make_store

from pkg.model import Label, NodeFilter
from pkg.retrieval import question_fit
from pkg.retrieval.candidate_pool import collect_pool
from pkg.retrieval.query import encode_question, run_query
from pkg.retrieval.query_options import QueryOptions
from pkg.retrieval.question import parse_question
from pkg.retrieval.question_fit import (
    MAX_TERMS,
    Evidence,
    explain_misfit,
    fits,
    load_fit_weights,
    measure_evidence,
)
from pkg.retrieval.ranking import OTHER

GOOD, POOR = Evidence(0.9, 1.0, 0.9, 6, False), Evidence(-0.1, 0.0, 0.0, 6, False)
CODE = '''\
def count_boring_sentences(text):
    """Count the boring sentences of a text."""
    return sum(is_boring(sentence) for sentence in text.split("."))


def feed(zebra):
    if zebra.hungry:
        zebra.eat("grass")
'''


@pytest.mark.parametrize("encoder", ["static", "static:0a1b2c3d", "some other encoder"])
def test_near_candidates_with_the_words_fit_and_others_do_not(encoder: str) -> None:
    assert (fits(GOOD, encoder), fits(POOR, encoder)) == (True, False)


def test_named_candidates_always_fit() -> None:
    assert fits(POOR._replace(is_named=True), "static") is True


@pytest.mark.parametrize("evidence", [None, POOR._replace(terms=MAX_TERMS + 1)])
def test_without_candidates_and_with_very_many_words_nothing_is_judged(evidence: Evidence | None) -> None:
    assert fits(evidence, "static") is None


@pytest.mark.parametrize("encoder", ["static", "some other encoder"])
def test_candidates_with_every_word_always_fit(encoder: str) -> None:
    assert fits(Evidence(0.1, 1.0, 0.1, 1, False), encoder) is True
    assert fits(Evidence(0.1, 0.0, 0.0, 1, False), encoder) is False


def test_with_a_strange_encoder_the_cosine_does_not_count() -> None:
    weights = dict(zip(question_fit.MEASURES, load_fit_weights()[OTHER].weights, strict=True))

    assert weights["cosine"] == weights["both"] == 0 < weights["held"]
    assert load_fit_weights()["static"].weights[0] > 0


def test_evidence_is_the_best_of_the_candidates() -> None:
    store, encoder, text = make_store({"a.py": CODE}), FakeEncoder(), "count boring sentences quickly"
    query, question = encode_question(encoder, text), parse_question(text)
    pools = [collect_pool(store, question, query, label, 3, NodeFilter()) for label in (Label.FUNCTION, Label.BLOCK)]

    found = measure_evidence(pools)

    assert found is not None
    assert found.cosine == max(float(pool.dense.max()) for pool in pools)
    assert 0.5 < found.held < 1
    assert (found.terms, found.is_named) == (len(question.weights), False)
    assert found.measures[3] == math.log1p(found.terms)


def test_a_name_of_the_code_is_noticed() -> None:
    store, encoder, text = make_store({"a.py": CODE}), FakeEncoder(), "what does count_boring_sentences do"
    query, question = encode_question(encoder, text), parse_question(text)

    found = measure_evidence([collect_pool(store, question, query, Label.FUNCTION, 3, NodeFilter())])

    assert found is not None
    assert found.is_named


def test_an_answer_reports_a_misfit_and_lists_the_nearest_hits() -> None:
    store = make_store({"a.py": CODE})

    result = run_query(store, FakeEncoder(), "okapi quagga gnu wonderful splendid", QueryOptions(mode="function"))

    assert result.coverage.fits is False
    assert result.coverage.notes[0].startswith("nothing fits: the best candidate holds 0% of the question's words")
    assert result.hits


@pytest.mark.parametrize(
    ("options", "judged"),
    [
        (QueryOptions(mode="function"), True),
        (QueryOptions(mode="function", ranking="rrf"), True),
        (QueryOptions(mode="function", ranking="dense"), None),
        (QueryOptions(mode="function", floor=False), None),
    ],
)
def test_fit_is_not_judged_for_dense_ranking_or_on_request(options: QueryOptions, judged: bool | None) -> None:
    store = make_store({"a.py": CODE})

    result = run_query(store, FakeEncoder(), "count the boring sentences of a text", options)

    assert (result.coverage.fits, result.coverage.notes) == (judged, ())


def test_a_piece_of_code_is_not_judged() -> None:
    text = 'def bake(cake):\n    """Bake a chocolate cake."""\n'

    result = run_query(make_store({"a.py": CODE}), FakeEncoder(), text, QueryOptions(mode="function"))

    assert result.coverage.fits is None


def test_the_reason_has_both_measures() -> None:
    assert explain_misfit(POOR).startswith("nothing fits: the best candidate holds 0%")
