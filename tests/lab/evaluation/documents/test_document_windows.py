"""Parts of a document fit into the window of the encoder, and together hold its text."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pkg.lab.evaluation.documents.document_windows import cut_to_window


class WordCounter:
    def __init__(self, window: int | None) -> None:
        self.window = window

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]


@pytest.mark.parametrize("window", [7, 20, 100])
def test_parts_fit_and_hold_every_line_once(window: int) -> None:
    lines = [f"word{number} = a b c" for number in range(60)]
    text = "\n".join(lines)
    parts = cut_to_window(text, WordCounter(window))
    assert max(WordCounter(window).count_tokens(parts)) <= window
    assert [line for part in parts for line in part.split("\n")] == lines
    assert len(parts) <= 4 * 300 / window


@pytest.mark.parametrize("model", [None, WordCounter(None), WordCounter(5)])
def test_a_text_that_fits_stays_whole(model: WordCounter | None) -> None:
    assert cut_to_window("one\n\ntwo", model) == ["one\n\ntwo"]
