"""Options of the laboratory; a light module, because `import pkg.lab` and its commands import it at start."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from pkg.errors import UsageError
from pkg.models.text_model import Decoding

Listen = Callable[[str, int, int], None]
"""Called with the stage, system or mode, the number of its finished parts, and their total."""

MIN_QUESTIONS = 20
"""Lowest number of questions; with fewer, the confidence interval of a share is too wide."""

REPEAT = 2  # explanations of each chunk
THRESHOLD = 4  # lowest score of a pair that is kept
PAIR_TOKENS = 256  # limit of the questions about one table
SCORE_TOKENS = 200  # one to three sentences and a number

EvaluatedMode = Literal["function", "block", "file"]
RankingName = Literal["bm25", "lexical", "dense", "rrf", "linear"]
EVALUATED_MODES: tuple[EvaluatedMode, ...] = get_args(EvaluatedMode)
RANKING_NAMES: tuple[RankingName, ...] = get_args(RankingName)


@dataclass(frozen=True, slots=True)
class SolverOptions:
    """Options of an evaluation of code; the defaults are the paper's (P-22)."""

    form: str = "auto"  # prompt template
    max_tokens: int = 512
    samples: int = 1  # answers per item; more than one need a temperature
    temperature: float = 0.0
    seed: int = 0
    batch: int = 64  # prompts per batch; results are stored after each batch
    link: bool = True  # whether helpers that an answer calls are linked into it
    source: str | None = None  # of the graph

    def __post_init__(self) -> None:
        """Check the options; raises UsageError."""
        if self.samples > 1 and self.temperature <= 0:
            raise UsageError(f"{self.samples} samples at temperature 0 are one answer; give --temperature, such as 0.8")


@dataclass(frozen=True, slots=True)
class DocumentOptions:
    """Files of questions with solutions that an evaluation shows, and the encoders that find them (U-02 to U-05).

    files: JSON lines, JSON arrays, CSV or Parquet, each also gzipped but Parquet.
    """

    files: Sequence[str] = ()
    encoder: str = "static"  # searches the documents
    order: str = "minilm"  # orders the best ones by its states of tokens


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """Options of an evaluation of retrieval; without modes, all for which the graph has nodes."""

    modes: Sequence[EvaluatedMode] = ()
    rankings: Sequence[RankingName] = RANKING_NAMES
    source: str | None = None


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """Sizes of the measurement of `pkg bench`."""

    limit: int = 300  # questions, drawn by the seed
    sample: int = 600  # functions on which encoders are compared; 0 for no comparison
    seed: int = 0
    source: str | None = None


@dataclass(frozen=True, slots=True)
class DatasetOptions:
    """Options of all steps of `pkg data`; the defaults are those of the paper where it gives any.

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
