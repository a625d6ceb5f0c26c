"""Encoding spans and cuts of a text, with encoders that add up words and with others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from fakes import FakeEncoder

from pkg.encode.encoder import Encoder, Vectors, encode_spans, encode_without, is_additive

TEXT = b"def f(x):\n    a = read(x)\n    return a\n"
LINES = np.array([(0, 10), (10, 26), (26, len(TEXT))], np.int64)


class LengthEncoder:
    """An encoder that sees a text only as a whole: its length, and the length of its first line."""

    name = "length"
    dimension = 2

    def encode(self, texts: Sequence[bytes], headings: Sequence[str] = ()) -> Vectors:
        headed = zip(headings or [""] * len(texts), texts, strict=True)
        rows = [(len(heading) + len(text), len(text.split(b"\n")[0])) for heading, text in headed]
        return np.array(rows, np.float32).reshape(-1, 2)

    def encode_query(self, text: str) -> Vectors:
        query: Vectors = self.encode([text.encode()])[0]
        return query


def test_an_encoder_of_whole_texts_is_not_additive() -> None:
    assert not is_additive(LengthEncoder())
    assert is_additive(FakeEncoder())


def test_spans_are_sliced_for_an_encoder_of_whole_texts() -> None:
    assert encode_spans(LengthEncoder(), TEXT, LINES).tolist() == [[10, 9], [16, 15], [13, 12]]


def test_cuts_are_made_for_an_encoder_of_whole_texts() -> None:
    assert encode_without(LengthEncoder(), TEXT, LINES).tolist() == [[29, 15], [23, 9], [26, 9]]


def test_headings_reach_an_encoder_of_whole_texts() -> None:
    assert encode_spans(LengthEncoder(), TEXT, LINES, ["ab", "", "c"]).tolist() == [[12, 9], [16, 15], [14, 12]]
    assert encode_without(LengthEncoder(), TEXT, LINES, "abc").tolist() == [[32, 15], [26, 9], [29, 9]]


def test_an_additive_encoder_is_given_the_whole_text_once() -> None:
    class CountingEncoder(FakeEncoder):
        texts: Sequence[bytes] = ()

        def encode_spans(
            self, text: bytes, spans: np.typing.NDArray[np.int64], headings: Sequence[str] = ()
        ) -> Vectors:
            self.texts = [*self.texts, text]
            return super().encode_spans(text, spans, headings)

    encoder = CountingEncoder()
    vectors = encode_spans(encoder, TEXT, LINES)
    assert encoder.texts == [TEXT]
    assert np.array_equal(vectors, FakeEncoder().encode([TEXT[start:end] for start, end in LINES.tolist()]))


def test_no_spans_and_no_cuts_give_no_vectors() -> None:
    none = np.zeros((0, 2), np.int64)
    encoders: list[Encoder] = [LengthEncoder(), FakeEncoder()]
    for encoder in encoders:
        assert encode_spans(encoder, TEXT, none).shape == (0, encoder.dimension)
        assert encode_without(encoder, TEXT, none).shape == (0, encoder.dimension)
