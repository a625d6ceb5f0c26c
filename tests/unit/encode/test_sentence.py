"""Models of sentence-transformers: loaded from this machine alone, with the prompts that they want."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from toy_sentences import install_sentences

from pkg.encode.batched import BatchedEncoder
from pkg.encode.sentence import SentenceModel, SentencePairModel
from pkg.errors import EncoderAnswerError, EncoderError


def test_texts_are_encoded_and_long_ones_counted() -> None:
    with install_sentences():
        encoder = BatchedEncoder(SentenceModel("st:m", "m"))
        vectors = encoder.encode([b"def f(): pass", b"word " * 20])
        assert (vectors.shape, encoder.dimension, encoder.counts.cut) == ((2, 3), 3, 1)


def test_each_token_of_a_text_has_a_vector() -> None:
    with install_sentences() as uses:
        first, second = SentenceModel("st:intfloat/e5-small-v2", "intfloat/e5-small-v2").embed_tokens(
            ["a tree", "x"], True
        )
        assert (first.tolist(), second.shape) == ([[1, 0, 1], [4, 2, 1]], (1, 3))
        assert uses.prompts == ["query: "]


def test_nothing_is_loaded_before_it_is_used_and_then_without_the_network() -> None:
    with install_sentences() as uses:
        encoder = BatchedEncoder(SentenceModel("st:some/model", "some/model"))
        assert uses.loaded == []
        encoder.encode([b"x"])
        assert uses.loaded == [("some/model", {"local_files_only": True})]
        assert uses.offline == ["1"]


@pytest.mark.parametrize(
    ("model", "prompts", "expected"),
    [
        ("plain", {}, ["", ""]),
        ("intfloat/e5-small-v2", {}, ["query: ", "passage: "]),
        ("own", {"query": "ask: ", "passage": "text: "}, ["ask: ", "text: "]),
        ("own", {"query": "ask: ", "document": ""}, ["ask: ", ""]),
        ("intfloat/e5-small-v2", {"query": "", "document": ""}, ["query: ", "passage: "]),
    ],
)
def test_a_model_gets_its_own_prompts_or_those_of_its_family(
    model: str, prompts: dict[str, str], expected: list[str]
) -> None:
    with install_sentences(prompts) as uses:
        encoder = BatchedEncoder(SentenceModel(f"st:{model}", model))
        encoder.encode_query("a question")
        encoder.encode([b"a text"])
        assert uses.prompts == expected


@pytest.mark.parametrize(
    ("use", "kind"),
    [
        (lambda: BatchedEncoder(SentenceModel("st:missing", "missing")).encode([b"x"]), "SentenceTransformer"),
        (lambda: SentencePairModel("missing").score("q", ["x"]), "CrossEncoder"),
    ],
)
def test_the_error_for_a_missing_model_has_the_command_that_downloads_it(use: Callable[[], object], kind: str) -> None:
    message = rf"cannot load the model 'missing' .*hub\); download it once .*import {kind}; {kind}\('missing'\)"
    with install_sentences(), pytest.raises(EncoderError, match=message):
        use()


def test_the_identity_of_a_folder_changes_with_its_files(tmp_path: Path) -> None:
    before = SentenceModel("st:m", str(tmp_path)).identity
    (tmp_path / "weights.bin").write_bytes(b"1")
    after = SentenceModel("st:m", str(tmp_path)).identity
    assert before != after == SentenceModel("st:m", str(tmp_path)).identity


def test_pairs_are_scored_between_0_and_1() -> None:
    with install_sentences() as uses:
        low, high = SentencePairModel("m").score("why", ["a", "a" * 1000])
        assert 0.5 < low < high <= 1
        assert uses.pairs == [("why", "a"), ("why", "a" * 1000)]


def test_a_model_for_embeddings_scores_no_pairs() -> None:
    with (
        install_sentences(),
        pytest.raises(EncoderError, match=r"'bare' encodes texts and does not score pairs \(seen: BertModel\)"),
    ):
        SentencePairModel("bare").score("why", ["a"])


@pytest.mark.parametrize("answer", [[1.0], [[1.0, 2.0], [3.0, 4.0]], [1.0, float("nan")]])
def test_a_model_that_gives_no_scores_is_named(answer: object) -> None:
    with (
        install_sentences(scores=answer),
        pytest.raises(EncoderAnswerError, match=r"'m' returned numbers of shape .* for 2"),
    ):
        SentencePairModel("m").score("why", ["a", "b"])
