"""How sets of questions are made; the defaults are the paper's, where it tells any."""

from __future__ import annotations

from dataclasses import dataclass

from pkg.errors import UsageError
from pkg.models.text_model import Decoding

REPEAT = 2  # times that all pieces are explained
THRESHOLD = 4  # the least score of what is kept
PAIR_TOKENS = 256  # that the questions about one table may have
SCORE_TOKENS = 200  # one to three sentences and a number


@dataclass(frozen=True, slots=True)
class DatasetOptions:
    """What is drawn and asked for.

    The paper writes about imports at a temperature of 1.5, at which small models write no sentences any more; for the
    other steps it tells none. One above 0 lets repetitions differ.
    """

    seed: int = 0
    limit: int | None = None  # rows, or where a model writes, things that it is asked about; drawn by the seed
    repeat: int = REPEAT
    threshold: int = THRESHOLD
    max_tokens: int = 512
    temperature: float = 0.7
    size: int | None = None  # characters of a snippet or chunk; None for the paper's
    overlap: int = 200  # characters that two chunks share

    def __post_init__(self) -> None:
        if self.size is not None and self.overlap >= self.size:
            raise UsageError(
                f"an overlap of {self.overlap} and a size of {self.size}; expected an overlap below the size"
            )

    def decode(self, repetition: int = 0) -> Decoding:
        """Say how the texts of one repetition are written."""
        return Decoding(self.max_tokens, self.temperature, seed=self.seed + repetition)

    def judge(self) -> Decoding:
        """Say how scores are written."""
        return Decoding(SCORE_TOKENS, seed=self.seed)
