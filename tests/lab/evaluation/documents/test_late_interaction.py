"""Late interaction rewards a text for the best token of each token of the question."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from pkg.encode.encoder import Vectors
from pkg.errors import UsageError
from pkg.lab.evaluation.documents.late_interaction import open_token_model, order_by_tokens, score_tokens


def make_vectors(*rows: Sequence[float]) -> Vectors:
    return np.array(rows, np.float32).reshape(len(rows), 2)


def test_the_score_is_the_mean_of_the_best_cosines_whatever_the_lengths() -> None:
    query = make_vectors((1, 0), (0, 3))
    assert score_tokens(query, make_vectors((5, 0), (1, 1))) == pytest.approx((1 + 0.5**0.5) / 2, abs=1e-6)
    assert score_tokens(query, make_vectors()) == 0


class Letters:
    """Embeds a as one direction, and every other letter as the other."""

    def embed_tokens(self, texts: Sequence[str], is_query: bool) -> list[Vectors]:
        return [make_vectors(*((1, 0) if letter == "a" else (0, 1) for letter in text)) for text in texts]


def test_the_best_text_comes_first_and_ties_keep_their_order() -> None:
    assert order_by_tokens(Letters(), "ab", ["bb", "ba", "aaaa", "ab"]) == [1, 3, 0, 2]
    assert order_by_tokens(Letters(), "ab", []) == []


def test_an_encoder_without_token_vectors_is_refused() -> None:
    with pytest.raises(UsageError, match="no states of tokens; expected minilm or st:NAME"):
        open_token_model("static")


def test_the_page_quotes_the_measurement() -> None:
    root = Path(__file__).parents[4]
    page = " ".join((root / "docs" / "evaluate.md").read_text(encoding="utf-8").split())
    found = json.loads((root / "benchmarks" / "results" / "late_interaction.json").read_text(encoding="utf-8"))
    cosine, minilm = found["orders"]["cosine"], found["orders"]["minilm"]
    quoted = (
        f"of {found['questions']} questions of CoNaLa in other words than their documents, the right one of"
        f" {found['documents']} documents is first for {cosine['first']} by cosine and for {minilm['first']} by"
        f" `minilm`, and among the first three for {cosine['shown']} and {minilm['shown']}"
    )
    assert quoted in page
