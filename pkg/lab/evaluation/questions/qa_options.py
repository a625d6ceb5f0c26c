"""Options of an evaluation of questions; a light module, because the command line imports it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from pkg.errors import UsageError
from pkg.generation.ask.ask_options import ANSWER_TOKENS
from pkg.retrieval.evidence.evidence_options import EVIDENCE_BUDGET
from pkg.retrieval.query_options import check_choice, check_minimum

System = Literal["graph", "chunks", "both", "none"]
SYSTEMS: tuple[System, ...] = get_args(System)
"""Sources of evidence; none: the model answers from memory."""
RETRIEVERS_ALONE: tuple[System, ...] = ("graph", "chunks", "both")


@dataclass(frozen=True, slots=True)
class QaOptions:
    """Options of the systems and their answers."""

    systems: tuple[System, ...] = ()  # () for all available ones
    budget: int = EVIDENCE_BUDGET  # tokens of evidence
    source: str | None = None
    oracle_file: bool = False  # search only the right file, as the paper does
    max_tokens: int = ANSWER_TOKENS
    batch: int = 0  # answers between two writes; 0 for the batch size of the model
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the options; raises UsageError."""
        for system in self.systems:
            check_choice("system", system, SYSTEMS)
        check_minimum("budget", self.budget, 0)
        check_minimum("max_tokens", self.max_tokens, 1)
        check_minimum("batch", self.batch, 0)

    def choose_systems(self, has_model: bool) -> tuple[System, ...]:
        """Return the systems to compare; raises UsageError for one that needs a model if there is none."""
        if "none" in self.systems and not has_model:
            raise UsageError("the system 'none' is a model that answers from memory; give --model, or other systems")
        return self.systems or (SYSTEMS if has_model else RETRIEVERS_ALONE)
