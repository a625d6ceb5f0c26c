"""Options of `pkg bench`; imports nothing heavy, as the command line reads this module at start."""

from __future__ import annotations

from dataclasses import dataclass

MIN_QUESTIONS = 20
"""Lowest number of questions; with fewer, the confidence interval of a share is too wide."""


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """Sizes of the measurement."""

    limit: int = 300  # questions, drawn by the seed
    sample: int = 600  # functions on which encoders are compared; 0 for no comparison
    seed: int = 0
    source: str | None = None


DEFAULT_OPTIONS = BenchOptions()
