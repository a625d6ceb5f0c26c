"""Options of datasets; the defaults are those of the paper where it gives any."""

from __future__ import annotations

from dataclasses import dataclass

from pkg.errors import UsageError
from pkg.models.text_model import Decoding

REPEAT = 2  # explanations of each chunk
THRESHOLD = 4  # lowest score of a pair that is kept
PAIR_TOKENS = 256  # limit of the questions about one table
SCORE_TOKENS = 200  # one to three sentences and a number


@dataclass(frozen=True, slots=True)
class DatasetOptions:
    """Options of all steps.

    The paper uses a temperature of 1.5 for pairs about imports, at which small models no longer write sentences, and
    gives none for the other steps. Repetitions differ only at a temperature above 0.
    """

    seed: int = 0
    limit: int | None = None  # rows, or inputs of the first step that uses a model; drawn by the seed
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

    def make_decoding(self, repetition: int = 0) -> Decoding:
        """Return the decoding of one repetition."""
        return Decoding(self.max_tokens, self.temperature, seed=self.seed + repetition)

    def make_score_decoding(self) -> Decoding:
        """Return the decoding of scores, at temperature 0."""
        return Decoding(SCORE_TOKENS, seed=self.seed)
