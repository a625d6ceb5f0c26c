"""What a measurement of one's own graph may take; every command line is read by it, so nothing heavy is imported."""

from __future__ import annotations

from dataclasses import dataclass

FEWEST = 20
"""Questions that a share can be told of; with fewer its interval says nothing."""


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """How much is asked and compared."""

    limit: int = 300  # questions, drawn by the seed
    sample: int = 600  # functions that encoders are compared on; 0 compares none
    seed: int = 0
    source: str | None = None


DEFAULT_OPTIONS = BenchOptions()
