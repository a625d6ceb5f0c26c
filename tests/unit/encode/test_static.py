"""The static encoder: unit vectors, equal whatever is encoded beside them, in any process (P-09, A-06)."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.encode import static, word_table
from pkg.encode.encoder import Spans, is_additive
from pkg.encode.static import GROUP, StaticEncoder, normalise, split_heading
from pkg.encode.word_table import MAX_WORDS, TEXT, load_word_table
from pkg.terms.words import blank_separators, stem_cached

ROOT = Path(__file__).resolve().parents[3]
DIMENSION = load_word_table().dimension
SOURCE = (ROOT / "pkg" / "terms" / "words.py").read_bytes()

WORDS = ("read_file", "parseRows", "x", "return", "Größe", "数据", "HTTPServer2", "items", "self", "été", "__init__")
SIGNS = (" ", "\n", "\n    ", "(", "). ", ":\n", ", ", " = ", "'", "\x00")
texts = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(SIGNS)), max_size=30).map(
    lambda pairs: "".join(word + sign for word, sign in pairs).encode()
)


def make_spans(*pairs: tuple[int, int]) -> Spans:
    return np.array(pairs, np.int64).reshape(-1, 2)


def list_borders(text: bytes) -> list[int]:
    """List the offsets that lie in no identifier."""
    padded = b" " + blank_separators(text) + b" "
    return [place for place in range(len(text) + 1) if b" " in padded[place : place + 2]]


def spell(number: int) -> bytes:
    """Spell a number in letters, since digits are no words."""
    return bytes(ord("a") + int(digit) for digit in str(number))


def list_line_starts(text: bytes) -> list[int]:
    return [0, *(place + 1 for place, byte in enumerate(text) if byte == ord("\n")), len(text)]


def test_it_is_an_additive_encoder() -> None:
    assert is_additive(StaticEncoder())
    assert StaticEncoder().encode([b"a"]).shape == (1, DIMENSION)


@given(st.lists(st.one_of(texts, st.binary(max_size=40)), max_size=8))
def test_a_vector_has_length_1_or_0(batch: list[bytes]) -> None:
    vectors = StaticEncoder().encode(batch)
    assert vectors.shape == (len(batch), DIMENSION)
    assert str(vectors.dtype) == "float32"
    lengths = np.linalg.norm(vectors, axis=1)
    assert np.all((np.abs(lengths - 1) < 1e-5) | (lengths == 0))


@pytest.mark.parametrize("text", [b"", b"  \n", b"1 + 2", b"_ __", b"\xff\xfe", b"(((", b"x" * 41])
def test_a_text_without_words_has_the_vector_0(text: bytes) -> None:
    assert not StaticEncoder().encode([text]).any()


def test_no_texts_give_no_vectors() -> None:
    encoder = StaticEncoder()
    assert encoder.encode([]).shape == (0, DIMENSION)
    assert encoder.encode_spans(b"a b", make_spans()).shape == (0, DIMENSION)
    assert encoder.encode_without(b"a b", make_spans()).shape == (0, DIMENSION)


@given(st.lists(texts, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_a_vector_does_not_depend_on_what_is_encoded_beside_it(batch: list[bytes], random: object) -> None:
    together = StaticEncoder().encode(batch)
    used = StaticEncoder()
    used.encode([b"other words come first", *reversed(batch)])
    for index, text in enumerate(batch):
        assert np.array_equal(together[index], StaticEncoder().encode([text])[0])
        assert np.array_equal(together[index], used.encode([text])[0])


@given(texts, st.data())
def test_spans_on_word_borders_are_encoded_like_their_slices(text: bytes, data: st.DataObject) -> None:
    borders = st.sampled_from(list_borders(text))
    pairs = data.draw(st.lists(st.tuples(borders, borders).map(lambda pair: (min(pair), max(pair))), max_size=8))
    encoder = StaticEncoder()
    slices = [text[start:end] for start, end in pairs]
    assert np.array_equal(encoder.encode_spans(text, make_spans(*pairs)), encoder.encode(slices))


def test_more_spans_than_fit_into_one_product_are_encoded_like_their_slices() -> None:
    starts = list_line_starts(SOURCE)
    pairs = [(start, end) for start in starts[::2] for end in starts[1::2] if start <= end]
    assert len(pairs) > 2 * GROUP
    encoder = StaticEncoder()
    slices = [SOURCE[start:end] for start, end in pairs]
    assert np.array_equal(encoder.encode_spans(SOURCE, make_spans(*pairs)), encoder.encode(slices))


@given(texts, st.data())
def test_a_cut_on_line_borders_is_encoded_like_the_text_without_it(text: bytes, data: st.DataObject) -> None:
    borders = st.sampled_from(list_line_starts(text))
    pairs = data.draw(st.lists(st.tuples(borders, borders).map(lambda pair: (min(pair), max(pair))), max_size=6))
    encoder = StaticEncoder()
    rest = [text[:start] + text[end:] for start, end in pairs]
    assert np.array_equal(encoder.encode_without(text, make_spans(*pairs)), encoder.encode(rest))


HEADINGS = ("", "shop/cart Cart.add", "add", "shop/cart add", "Größe/数据 Файл.читать", "_ _")


@given(st.lists(st.tuples(texts, st.sampled_from(HEADINGS)), min_size=1, max_size=6))
def test_a_heading_counts_for_its_own_text_alone(headed: list[tuple[bytes, str]]) -> None:
    batch, headings = [text for text, _ in headed], [heading for _, heading in headed]
    together = StaticEncoder().encode(batch, headings)
    lengths = np.linalg.norm(together, axis=1)
    assert np.all((np.abs(lengths - 1) < 1e-5) | (lengths == 0))
    for index, (text, heading) in enumerate(headed):
        alone = StaticEncoder().encode([text], [heading]) if heading else StaticEncoder().encode([text])
        assert np.array_equal(together[index], alone[0])


@given(texts, st.sampled_from(HEADINGS), st.data())
def test_a_cut_keeps_the_heading(text: bytes, heading: str, data: st.DataObject) -> None:
    borders = st.sampled_from(list_line_starts(text))
    pairs = data.draw(st.lists(st.tuples(borders, borders).map(lambda pair: (min(pair), max(pair))), max_size=4))
    encoder = StaticEncoder()
    rest = [text[:start] + text[end:] for start, end in pairs]
    expected = encoder.encode(rest, [heading] * len(rest))
    assert np.array_equal(encoder.encode_without(text, make_spans(*pairs), heading), expected)


def test_forgetting_headings_changes_no_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    headings = [heading for heading in HEADINGS for _ in range(3)]
    expected = StaticEncoder().encode([b"read rows"] * len(headings), headings)
    monkeypatch.setattr(static, "HEADING_LIMIT", 1)
    encoder = StaticEncoder()
    for _ in range(2):
        assert np.array_equal(encoder.encode([b"read rows"] * len(headings), headings), expected)


def test_a_question_for_a_name_or_a_place_finds_it() -> None:
    encoder = StaticEncoder()
    texts, headings = [b"return self.total"] * 3, ["shop/cart Cart.add", "shop/mail Mail.send", "geometry/area compute"]
    vectors = encoder.encode(texts, headings)
    for question, best in (("add to cart", 0), ("send mail", 1), ("compute area", 2)):
        assert int(np.argmax(vectors @ encoder.encode_query(question))) == best


@pytest.mark.parametrize("word", ["zyqqux", "größenänderung", "прочитать", "数据", "データ"])
def test_a_word_that_was_never_learned_finds_itself(word: str) -> None:
    encoder = StaticEncoder()
    near, far = encoder.encode([f"def read(path): {word} = 1".encode(), b"def read(path): rows = 1"])
    query = encoder.encode_query(f"read {word}")
    assert query @ near > query @ far + 0.1


@given(st.lists(st.one_of(texts, st.binary(max_size=60)), max_size=5))
def test_a_vector_is_the_sum_of_the_words_of_its_identifiers(batch: list[bytes]) -> None:
    vectors, table = StaticEncoder().encode(batch), load_word_table()
    for text, vector in zip(batch, vectors, strict=True):
        words = [word for each in set(blank_separators(text).split()) for word in stem_cached(each)[:MAX_WORDS]]
        total = table.look_up_rows(words, TEXT).sum(axis=0, dtype=np.int32)[None].astype(np.float32)
        assert np.array_equal(normalise(total)[0], vector)


def test_a_heading_is_split_into_name_and_place() -> None:
    assert split_heading("shop/cart Cart.Item.add") == ("add", "shop/cart Cart.Item")
    assert split_heading("add") == ("add", " ")


def test_repeats_of_an_identifier_count_once_and_order_does_not_count() -> None:
    vectors = StaticEncoder().encode([b"read rows", b"rows, rows; rows = read", b"read(rows)"])
    assert np.array_equal(vectors[0], vectors[1])
    assert np.array_equal(vectors[0], vectors[2])


def test_texts_with_common_words_are_nearer_than_texts_without() -> None:
    question, near, far = StaticEncoder().encode(
        [
            b"read csv rows",
            b"def read_rows(path): return list(csv.reader(open(path)))",
            b"def area(radius): return pi",
        ]
    )
    assert question @ near > question @ far + 0.2


def test_only_the_first_words_of_a_long_identifier_count() -> None:
    names = [b"_".join([b"alpha", b"beta", b"gamma", b"delta", b"eta"] * 2 + [end]) for end in (b"theta", b"kappa")]
    assert len(names[0].split(b"_")) == MAX_WORDS + 1
    vectors = StaticEncoder().encode(names)
    assert np.array_equal(vectors[0], vectors[1])


def test_forgetting_identifiers_changes_no_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = SOURCE.split(b"\n")
    expected = StaticEncoder().encode(lines)
    monkeypatch.setattr(word_table, "CACHE_LIMIT", 5)
    encoder = StaticEncoder()
    assert np.array_equal(np.concatenate([encoder.encode([line]) for line in lines]), expected)
    assert np.array_equal(encoder.encode(lines), expected)


def test_forgetting_unused_identifiers_changes_no_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_table, "CACHE_LIMIT", 1)
    encoder = StaticEncoder()
    encoder.encode_spans(b" ".join(map(spell, range(3000))), make_spans())
    assert np.array_equal(encoder.encode([b"read rows"]), StaticEncoder().encode([b"read rows"]))


def test_more_identifiers_than_the_first_table_holds_are_kept() -> None:
    names = [spell(number) for number in range(3000)]
    together = StaticEncoder().encode(names)
    apart = np.concatenate([StaticEncoder().encode([name]) for name in names[::250]])
    assert np.array_equal(together[::250], apart)


def test_vectors_are_equal_in_every_process() -> None:
    script = (
        "import sys; from pkg.encode.static import StaticEncoder;"
        "sys.stdout.buffer.write(StaticEncoder().encode([sys.stdin.buffer.read()]).tobytes())"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", script],
            input=SOURCE,
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            check=True,
            stdout=subprocess.PIPE,
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs == [StaticEncoder().encode([SOURCE]).tobytes()] * 2


def test_a_zero_row_stays_zero_when_rows_are_scaled() -> None:
    scaled = normalise(np.array([[3, 4], [0, 0], [0, -2]], np.float32))
    assert scaled.tolist() == [[np.float32(0.6), np.float32(0.8)], [0, 0], [0, -1]]


def test_threads_get_the_vectors_of_their_own_texts() -> None:
    texts = [" ".join(f"{word}{number}" for word in ("apple", "river", "parse")).encode() for number in range(200)]
    expected = StaticEncoder().encode(texts)
    shared = StaticEncoder()
    with ThreadPoolExecutor(8) as threads:
        vectors = list(threads.map(lambda text: shared.encode([text])[0], texts))
    assert np.array_equal(np.stack(vectors), expected)
