"""Encoding with any model: batches, headings, the cache, retries, texts that are too long, and invalid answers."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_models import Answer, LetterModel, embed_letters

from pkg.encode.batched import BatchedEncoder, TooLongError, VectorCache, make_key
from pkg.encode.encoder import encode_without, is_additive
from pkg.errors import EncoderAnswerError, EncoderBusyError, EncoderError
from pkg.services import TRIES


def make_encoder(model: LetterModel, cache: VectorCache | None = None) -> tuple[BatchedEncoder, list[float]]:
    """Return an encoder and the list of the times that it sleeps."""
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


def make_vectors(count: int, dimension: int = 4) -> dict[bytes, np.typing.NDArray[np.float32]]:
    return {f"key {number}".encode(): np.full(dimension, number, np.float32) for number in range(count)}


def find_all(cache: VectorCache, keys: list[bytes], dimension: int | None = 4) -> dict[bytes, list[float]]:
    return {key: vector.tolist() for key, vector in cache.find(keys, dimension).items()}


def test_stored_vectors_are_found_by_another_process(tmp_path: Path) -> None:
    first, second = VectorCache(tmp_path / "deep" / "cache.db"), VectorCache(tmp_path / "deep" / "cache.db")
    first.put(make_vectors(3))
    assert find_all(second, [b"key 2", b"key 9", b"key 0"]) == {b"key 0": [0.0] * 4, b"key 2": [2.0] * 4}


def test_more_keys_than_one_statement_takes_are_found(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "cache.db")
    cache.put(make_vectors(1203))
    assert len(cache.find([f"key {number}".encode() for number in range(1300)], 4)) == 1203


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
def test_numbers_come_back_to_the_bit(tmp_path_factory: pytest.TempPathFactory, values: list[float]) -> None:
    cache = VectorCache(tmp_path_factory.mktemp("cache") / "cache.db")
    cache.put({b"k": np.array(values, np.float32)})
    assert find_all(cache, [b"k"], None) == {b"k": values}
    cache.close()


def test_a_vector_of_another_length_is_not_found(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "cache.db")
    cache.put(make_vectors(1, dimension=3))
    assert find_all(cache, [b"key 0"], 4) == {}


def test_the_oldest_make_room_when_the_file_is_full(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "cache.db", limit=200_000)
    for number in range(60):
        cache.put({f"{number} {index}".encode(): np.zeros(100, np.float32) for index in range(20)})
    cache.close()
    assert (tmp_path / "cache.db").stat().st_size < 300_000
    cache = VectorCache(tmp_path / "cache.db")
    assert find_all(cache, [b"0 0"], None) == {}
    assert list(cache.find([b"59 19"], 100)) == [b"59 19"]


def test_a_damaged_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "cache.db").write_bytes(b"this is no database" * 100)
    cache = VectorCache(tmp_path / "cache.db")
    cache.put(make_vectors(1))
    assert find_all(cache, [b"key 0"]) == {b"key 0": [0.0] * 4}


def test_an_unusable_cache_finds_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = VectorCache(tmp_path / "file" / "cache.db")
    cache.put(make_vectors(1))
    assert find_all(cache, [b"key 0"]) == {}


def test_a_row_that_is_no_vector_is_not_found(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "cache.db")
    cache.put({b"nan": np.full(4, np.nan, np.float32)})
    with sqlite3.connect(tmp_path / "cache.db") as connection:
        connection.execute("INSERT INTO vector (key, data) VALUES (?, ?)", (b"odd", b"12345"))
    connection.close()
    assert find_all(cache, [b"nan", b"odd"]) == {}


def test_a_key_depends_on_all_of_its_parts() -> None:
    keys = {make_key("m", False, "a"), make_key("m", True, "a"), make_key("n", False, "a"), make_key("m", False, "b")}
    assert len(keys) == 4


def test_a_damaged_row_is_not_found(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "cache.db")
    cache.put(make_vectors(2))
    with sqlite3.connect(tmp_path / "cache.db") as connection:
        connection.execute("UPDATE vector SET data = ? WHERE key = ?", (np.ones(4, "<f4").tobytes(), b"key 0"))
    connection.close()
    assert list(find_all(cache, [b"key 0", b"key 1"])) == [b"key 1"]


def test_vectors_of_a_file_without_checksums_are_found(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "cache.db") as connection:
        connection.execute("CREATE TABLE vector (number INTEGER PRIMARY KEY, key BLOB UNIQUE, data BLOB)")
        connection.execute("INSERT INTO vector (key, data) VALUES (?, ?)", (b"old", np.ones(4, "<f4").tobytes()))
    connection.close()
    cache = VectorCache(tmp_path / "cache.db")
    cache.put(make_vectors(1))
    assert find_all(cache, [b"old", b"key 0"]) == {b"old": [1.0] * 4, b"key 0": [0.0] * 4}
