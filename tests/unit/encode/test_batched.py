"""Encoding with any model: batches, headings, the cache, patience, texts that are too long, and strange answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_models import Answer, LetterModel, embed_letters

from pkg.encode.batched import BatchedEncoder
from pkg.encode.embedding_model import TooLongError
from pkg.encode.encoder import encode_without, is_additive
from pkg.encode.vector_cache import VectorCache
from pkg.errors import EncoderAnswerError, EncoderBusyError, EncoderError
from pkg.services import TRIES


def make_encoder(model: LetterModel, cache: VectorCache | None = None) -> tuple[BatchedEncoder, list[float]]:
    """Give an encoder and the list of the times that it sleeps."""
    slept: list[float] = []
    return BatchedEncoder(model, cache, slept.append), slept


def test_rows_are_normalized_and_in_the_order_of_the_texts() -> None:
    encoder, _ = make_encoder(LetterModel())
    vectors = encoder.encode([b"aaa", b"b", b"aaa"])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert vectors[0].tolist() == vectors[2].tolist() != vectors[1].tolist()


def test_batches_keep_to_the_limits_of_texts_and_of_tokens() -> None:
    model = LetterModel()
    make_encoder(model)[0].encode([b"a" * size for size in (9, 1, 8, 2, 7, 3)])
    assert [[len(text) for text in batch] for batch in model.asked] == [[1, 2, 3], [7, 8], [9]]


@given(st.lists(st.binary(max_size=12), max_size=12), st.randoms(use_true_random=False))
def test_a_vector_does_not_depend_on_what_is_encoded_beside_it(texts: list[bytes], random: Any) -> None:
    encoder, _ = make_encoder(LetterModel())
    alone = [encoder.encode([text])[0].tolist() for text in texts]
    order = random.sample(range(len(texts)), len(texts))
    shuffled = encoder.encode([texts[index] for index in order])
    assert {index: row.tolist() for index, row in zip(order, shuffled, strict=True)} == dict(enumerate(alone))


def test_equal_texts_are_embedded_once() -> None:
    model = LetterModel()
    make_encoder(model)[0].encode([b"a", b"a", b"a"])
    assert model.asked == [("a",)]


@pytest.mark.parametrize("text", [b"", b"  \n", b"()[]{} == !=", "«»… 👍".encode()])
def test_a_text_without_letters_or_digits_is_zero_and_not_embedded(text: bytes) -> None:
    model = LetterModel()
    encoder, _ = make_encoder(model)
    assert not encoder.encode([text], ["path name"]).any()
    assert not encoder.encode_query(text.decode()).any()
    assert model.asked == []


@pytest.mark.parametrize("text", ["разобрать дату", "解析日期", "x1"])
def test_other_scripts_are_encoded(text: str) -> None:
    encoder, _ = make_encoder(LetterModel())
    assert encoder.encode([text.encode()])[0].any()
    assert encoder.encode_query(text).any()


def test_no_texts_give_no_rows() -> None:
    assert make_encoder(LetterModel())[0].encode([]).shape == (0, 4)


def test_a_heading_is_a_line_before_its_text() -> None:
    model = LetterModel(window=None)
    make_encoder(model)[0].encode([b"ab", b"c"], ["x y", ""])
    assert model.asked == [("c", "x y\nab")]


def test_invalid_utf8_is_replaced() -> None:
    model = LetterModel()
    make_encoder(model)[0].encode([b"a\xff"])
    assert model.asked == [("a\ufffd",)]


def test_the_model_distinguishes_queries_and_documents() -> None:
    model = LetterModel()
    encoder, _ = make_encoder(model)
    assert encoder.encode_query("abc").shape == (4,)
    encoder.encode([b"abc"])
    assert model.queries == [True, False]


def test_texts_longer_than_the_window_are_counted() -> None:
    encoder, _ = make_encoder(LetterModel())
    encoder.encode([b"a" * 11, b"b" * 10, b"c" * 50])
    assert (encoder.counts.encoded, encoder.counts.cut, encoder.counts.tokens) == (3, 2, 30)


def test_all_cuts_of_a_text_are_one_call() -> None:
    model = LetterModel(window=None)
    model.max_texts, model.max_tokens = 100, 1000
    encoder, _ = make_encoder(model)
    assert not is_additive(encoder)
    rows = encode_without(encoder, b"ab cd ab", np.array([(0, 0), (0, 2), (6, 8)], np.int64), "place")
    assert len(rows) == 3
    assert len(model.asked) == 1


def test_vectors_of_an_earlier_run_are_not_encoded_again(tmp_path: Path) -> None:
    first, second = LetterModel(), LetterModel()
    before = make_encoder(first, VectorCache(tmp_path / "vectors.db"))[0].encode([b"a", b"b"], ["x", ""])
    encoder, _ = make_encoder(second, VectorCache(tmp_path / "vectors.db"))
    after = encoder.encode([b"b", b"a", b"c"], ["", "x", ""])
    assert second.asked == [("c",)]
    assert (encoder.counts.cached, encoder.counts.encoded) == (2, 1)
    assert after[[1, 0]].tolist() == before.tolist()


@pytest.mark.parametrize("change", ["identity", "heading", "question"])
def test_the_cache_tells_models_headings_and_questions_apart(tmp_path: Path, change: str) -> None:
    cache = VectorCache(tmp_path / "vectors.db")
    make_encoder(LetterModel(), cache)[0].encode([b"a"])
    model = LetterModel()
    if change == "identity":
        model.identity = "letters 2"
    encoder, _ = make_encoder(model, cache)
    if change == "question":
        encoder.encode_query("a")
    else:
        encoder.encode([b"a"], ["x"] if change == "heading" else [])
    assert len(model.asked) == 1


def test_batches_before_an_error_are_cached(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "vectors.db")

    def fail_on_long(texts: Sequence[str]) -> list[list[float]]:
        if any(len(text) > 5 for text in texts):
            raise EncoderError("out of money")
        return embed_letters(texts)

    with pytest.raises(EncoderError, match="out of money"):
        make_encoder(LetterModel(fail_on_long), cache)[0].encode([b"a", b"bb", b"ccc", b"d" * 9])
    assert make_encoder(LetterModel(), cache)[0].list_missing([b"a", b"bb", b"ccc", b"d" * 9]) == ["d" * 9]


def test_an_unknown_dimension_is_found_by_one_text() -> None:
    model = LetterModel(dimension=None)
    encoder, _ = make_encoder(model)
    assert (encoder.dimension, encoder.dimension, len(model.asked)) == (4, 4, 1)


def test_a_busy_service_is_retried_after_the_time_that_it_names() -> None:
    faults = [EncoderBusyError("limit", 7.0), EncoderBusyError("time-out"), EncoderBusyError("limit", 0.0)]

    def be_busy(texts: Sequence[str]) -> list[list[float]]:
        if faults:
            raise faults.pop(0)
        return embed_letters(texts)

    encoder, slept = make_encoder(LetterModel(be_busy))
    assert encoder.encode([b"a"]).any()
    assert slept == [7.0, 2.0, 0.0]


def test_a_service_that_stays_busy_is_an_error() -> None:
    def be_busy(texts: Sequence[str]) -> None:
        raise EncoderBusyError("the limit is reached")

    model = LetterModel(be_busy)
    encoder, slept = make_encoder(model)
    with pytest.raises(EncoderBusyError, match="the limit is reached"):
        encoder.encode([b"a"])
    assert len(model.asked) == TRIES
    assert slept == sorted(slept)


def refuse_longer_than(limit: int) -> Answer:
    def answer(texts: Sequence[str]) -> list[list[float]]:
        if sum(map(len, texts)) > limit:
            raise TooLongError(f"more than {limit} letters")
        return embed_letters(texts)

    return answer


def test_a_batch_that_a_service_finds_too_long_is_halved() -> None:
    model = LetterModel(refuse_longer_than(6), window=None)
    encoder, _ = make_encoder(model)
    assert np.allclose(
        encoder.encode([b"aaa", b"bbbb", b"c"]), make_encoder(LetterModel())[0].encode([b"aaa", b"bbbb", b"c"])
    )
    assert encoder.counts.cut == 0


def test_a_text_that_a_service_finds_too_long_is_halved_and_counted_once() -> None:
    model = LetterModel(refuse_longer_than(100), window=None)
    encoder, _ = make_encoder(model)
    assert encoder.encode([b"a" * 1000])[0].any()
    assert encoder.counts.cut == 1
    assert len(model.asked[-1][0]) == 62


def test_a_service_that_finds_everything_too_long_is_an_error() -> None:
    encoder, _ = make_encoder(LetterModel(refuse_longer_than(0), window=None))
    with pytest.raises(EncoderError, match=r"'letters' refuses a text of 1 characters: more than 0 letters"):
        encoder.encode([b"a"])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda texts: embed_letters(texts)[1:], r"returned 1 vectors for 2 texts; expected one vector each"),
        (lambda texts: [], r"returned no vectors for 2 texts"),
        (lambda texts: [[1.0] * 3] * 2, r"vectors of 3 numbers; expected 4; if the model has changed"),
        (lambda texts: [[1.0] * 4, [float("nan")] * 4], r"not finite \(NaN or infinite\) in 1 of 2 vectors"),
        (lambda texts: [[1.0] * 4, [float("inf")] * 4], r"not finite \(NaN or infinite\) in 1 of 2 vectors"),
        (lambda texts: [[1.0] * 4, [1.0]], r"rows of different length or without numbers"),
        (lambda texts: [[None] * 4] * 2, r"not finite|no numbers"),
        (lambda texts: None, r"returned no vectors"),
    ],
)
def test_an_invalid_answer_is_an_error_that_describes_it(answer: Answer, message: str, tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "vectors.db")
    with pytest.raises(EncoderAnswerError, match=message):
        make_encoder(LetterModel(answer), cache)[0].encode([b"a", b"b"])
    assert make_encoder(LetterModel(), cache)[0].list_missing([b"a", b"b"]) == ["a", "b"]


def test_a_model_may_answer_zero() -> None:
    assert not make_encoder(LetterModel(lambda texts: [[0.0] * 4]))[0].encode([b"a"]).any()
