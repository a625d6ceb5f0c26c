"""What an evaluation of retrieval may compare; every command line is read by it, so nothing heavy is imported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

EvaluatedMode = Literal["function", "block", "file"]
RankingName = Literal["bm25", "lexical", "dense", "rrf", "linear"]
EVALUATED_MODES: tuple[EvaluatedMode, ...] = get_args(EvaluatedMode)
RANKING_NAMES: tuple[RankingName, ...] = get_args(RankingName)


@dataclass(frozen=True, slots=True)
class EvaluationOptions:
    """What is compared: without modes those that the graph has something for, and without rankings all."""

    modes: Sequence[EvaluatedMode] = ()
    rankings: Sequence[RankingName] = RANKING_NAMES
    source: str | None = None
