"""Cut a document into parts that fit into the token window of an encoder (U-03)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pkg.extract.text_files.windows import cut_windows

SHORTEST = 8  # characters of a part that is not cut further, whatever its tokens


class TokenCounter(Protocol):
    """An embedding model, as far as it tells the size of its window."""

    @property
    def window(self) -> int | None:
        """Return the number of tokens that the model reads of a text; None if that is not limited or not known."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text."""


def cut_to_window(text: str, model: TokenCounter | None) -> list[str]:
    """Cut a text at blank lines, lines and spaces, as the papers' recursive splitter does, into parts of one window.

    model: the model that reads the parts; None for an encoder that reads texts of any length.
    """
    if model is None or model.window is None:
        return [text]
    tokens, window = max(model.count_tokens([text])), model.window
    size = len(text)
    parts = [text]
    while tokens > window and size > SHORTEST:
        size = max(min(size * window // tokens, size * 3 // 4), SHORTEST)
        parts = [each.content for each in cut_windows(text, ".py", size, overlap=0)]
        tokens = max(model.count_tokens(parts), default=0)
    return parts or [text]
