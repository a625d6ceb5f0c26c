"""Options of an answer in words, with their checks; imports little, because every start of the command line does."""

from __future__ import annotations

from dataclasses import dataclass, field

from pkg.retrieval.evidence.evidence_options import EvidenceOptions
from pkg.retrieval.query_options import check_minimum

ANSWER_TOKENS = 300  # of an answer: a few sentences with their places


@dataclass(frozen=True, slots=True)
class AskOptions:
    """Options of an answer in words."""

    evidence: EvidenceOptions = field(default_factory=EvidenceOptions)
    with_evidence: bool = True  # else the model answers from memory, the paper's baseline
    refuse: bool = True  # whether a question that no evidence fits is refused without asking the model
    max_tokens: int = ANSWER_TOKENS
    temperature: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        """Raise UsageError for invalid values."""
        check_minimum("max_tokens", self.max_tokens, 1)
        check_minimum("temperature", self.temperature, 0)


DEFAULT_ASK = AskOptions()
