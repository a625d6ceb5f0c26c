"""Options of an evaluation of retrieval; a light module, because every command line imports it."""

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
    """The modes and rankings to compare; without modes, those for which the graph has nodes."""

    modes: Sequence[EvaluatedMode] = ()
    rankings: Sequence[RankingName] = RANKING_NAMES
    source: str | None = None
