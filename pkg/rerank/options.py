"""What a caller may choose: which stages run, how they are weighed, and what a run may cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pkg.errors import UsageError

STAGES = ("syntax", "static", "smoke", "examples", "behaviour", "similarity")
"""Every stage, in the order in which they run (A-08): what costs nothing first, what runs code only on what is left."""

PAPER_STAGES = ("syntax", "smoke", "similarity")
"""P-23, P-24 and P-25."""

NEEDS_SANDBOX = frozenset(("smoke", "examples", "behaviour", "oracle"))

INPUTS = 24
"""Calls on which candidates are compared. On mutants of right answers 12 and 48 choose right in two of 60 tasks more or
fewer at most, which is no more than noise (benchmarks/results/rerank_mutants.json)."""

CPU_SECONDS = 2.0
"""Of one load, or of all examples of one candidate together. The right answers of HumanEval need a few milliseconds for
all that their prompts show (benchmarks/results/visible_examples.json); the rest is room for slow ones."""


@dataclass(frozen=True, slots=True)
class RerankOptions:
    """How to choose among candidates."""

    stages: tuple[str, ...] = STAGES
    weights: Mapping[str, float] = field(default_factory=dict)  # none: the order is lexicographic
    compare: str = "stripped"  # or raw: with comments and docstrings
    sandbox: str | None = None  # process, docker or none; None for the platform's default
    jobs: int = 0  # workers of the sandbox, 0 for one per processor
    inputs: int = INPUTS
    cpu_seconds: float = CPU_SECONDS
    seed: int = 0
    encoder: str = "static"

    def __post_init__(self) -> None:
        """Refuse what cannot be meant."""
        check_stages((*self.stages, *self.weights))
        if self.compare not in ("stripped", "raw"):
            raise UsageError(f"no way to compare '{self.compare}'; expected stripped or raw")
        if self.inputs < 0 or self.jobs < 0 or self.cpu_seconds <= 0:
            raise UsageError(
                f"inputs {self.inputs}, jobs {self.jobs}, cpu_seconds {self.cpu_seconds};"
                " expected none below 0, and time above it"
            )

    @property
    def runs_code(self) -> bool:
        """Tell whether a stage needs the sandbox."""
        return bool(NEEDS_SANDBOX & {*self.stages})


def check_stages(names: Iterable[str]) -> None:
    """Refuse a name that no stage has."""
    for name in names:
        if name not in STAGES:
            raise UsageError(f"no stage '{name}'; expected one of: {', '.join(STAGES)}")


def paper_options(**options: object) -> RerankOptions:
    """Make the options of the paper's re-ranker, and nothing beyond it: P-23, P-24, P-25 on candidates as they are."""
    return RerankOptions(**{"stages": PAPER_STAGES, "compare": "raw", **options})  # type: ignore[arg-type]
