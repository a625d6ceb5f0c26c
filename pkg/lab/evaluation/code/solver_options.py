"""Options of an evaluation of generated code; a light module, because the command line imports it at every start."""

from __future__ import annotations

from dataclasses import dataclass

from pkg.errors import UsageError


@dataclass(frozen=True, slots=True)
class SolverOptions:
    """Options of an evaluation; the defaults are the paper's (P-22)."""

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


DEFAULT_OPTIONS = SolverOptions()
