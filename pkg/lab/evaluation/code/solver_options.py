"""How the items of a benchmark are answered; light, for the command line reads it at every start."""

from __future__ import annotations

from dataclasses import dataclass

from pkg.errors import UsageError


@dataclass(frozen=True, slots=True)
class SolverOptions:
    """How an evaluation answers; the defaults are the paper's (P-22)."""

    form: str = "auto"  # of the prompts
    max_tokens: int = 512
    samples: int = 1  # answers an item; beyond one they are drawn at the temperature
    temperature: float = 0.0
    seed: int = 0
    batch: int = 64  # prompts that are sent at once; after each batch all is on disk
    link: bool = True  # whether helpers that an answer calls are put into it
    source: str | None = None  # of the graph

    def __post_init__(self) -> None:
        """Refuse what cannot be meant, with a UsageError."""
        if self.samples > 1 and self.temperature <= 0:
            raise UsageError(f"{self.samples} samples at temperature 0 are one answer; give --temperature, such as 0.8")


DEFAULT_OPTIONS = SolverOptions()
