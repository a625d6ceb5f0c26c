"""The nouns of the reranker: what goes in, what may be chosen, what each stage says, and what comes out."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, TypeAlias, get_args

from pkg.errors import UsageError


class Check(str, Enum):
    """Name how an example is checked; all but ASSERTION are compared outside of the candidate's process."""

    VALUE = "value"  # the expression has this value
    TRUTH = "truth"  # the expression is true, or is not
    OUTPUT = "output"  # what is printed
    RAISES = "raises"  # an exception of this name
    PROGRAM = "program"  # what the candidate prints as a program that reads the source
    ASSERTION = "assertion"  # statements that must not fail; weaker, for the candidate runs what judges it


@dataclass(frozen=True, slots=True)
class Example:
    """One thing that the query shows about the wanted code (A-08)."""

    source: str  # an expression, statements for OUTPUT, RAISES and ASSERTION, or what a PROGRAM reads
    check: Check
    expected: object = None  # a value, a truth, a text, or the name of an exception
    form: str = ""  # where it was read: transcript, assert, arrow, input and output, given
    line: int = 0  # of the query, from 1; 0 for one that was handed over
    tolerance: float | None = None  # of a number, where the example names one
    before: tuple[str, ...] = ()  # what runs before it in its script, other examples among that
    match: str = ""  # of RAISES: a regular expression that the message has to match

    @property
    def shown(self) -> str:
        """Describe the example in one line, after the lines of its script that run before it."""
        return "; ".join((*self.before, self._show()))

    def _show(self) -> str:
        if self.check is Check.VALUE:
            return f"{self.source} == {self.expected!r}"
        if self.check is Check.TRUTH:
            return self.source if self.expected else f"not {self.source}"
        if self.check is Check.RAISES:
            return f"{self.source} raises {self.expected}"
        if self.check is Check.OUTPUT:
            return f"{self.source} prints {self.expected!r}"
        if self.check is Check.PROGRAM:
            return f"the input {self.source!r} prints {self.expected!r}"
        return self.source


Name: TypeAlias = str | int  # of a candidate: its own id, or its index


@dataclass(frozen=True, slots=True)
class Candidate:
    """One answer among which to choose."""

    id: Name
    text: str
    extra: Mapping[str, Any] = field(default_factory=dict)  # other fields of the input, passed through


@dataclass(frozen=True, slots=True)
class Extracted:
    """The code of one candidate and what was done to find it."""

    code: str
    note: str = ""
    is_cut: bool = False  # its end was broken and is left out
    driver: str = ""  # the first line that only uses what is wanted
    is_bare: bool = False  # such lines are left out


@dataclass(frozen=True, slots=True)
class Task:
    """One query with its candidates, in the order of the input: the first wins ties (A-09)."""

    query: str
    candidates: tuple[Candidate, ...]
    examples: tuple[Any, ...] = ()  # beside those that the query shows: text, or {"call": ..., "expected": ...}
    id: Name | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one stage says about one candidate."""

    stage: str
    passed: bool
    score: float  # 0 to 1, or a cosine; more is better
    reason: str = ""
    seconds: float = 0.0  # CPU of this stage for this candidate


@dataclass(frozen=True, slots=True)
class Ranked:
    """One candidate with all that was found out about it."""

    id: Name
    rank: int  # from 1; equal to that of the candidate that it repeats
    code: str
    votes: int  # candidates of the same code, itself counted
    same_as: Name | None  # the first candidate of the same code
    dropped: str | None  # the stage that dropped it
    reason: str  # why it was dropped, or what was done to its text
    verdicts: tuple[Verdict, ...]
    similarity: float | None
    extra: Mapping[str, Any] = field(default_factory=dict)
    is_cut: bool = False  # the answer broke off, and its broken end is left out

    @property
    def why(self) -> str:
        """Say why the candidate stands where it stands: what dropped it, what it repeats, or what each stage found."""
        if self.same_as is not None:
            return f"the same as {self.same_as}"
        if self.dropped is not None:
            return f"dropped by {self.dropped}: {self.reason}"
        told = [each.reason for each in self.verdicts if each.stage in TOLD_STAGES and each.reason]
        return "; ".join([*told, *([self.reason] if self.reason else [])])


@dataclass(frozen=True, slots=True)
class Ranking:
    """The candidates of one task, best first, and what the choice stands on."""

    chosen: Name
    order: tuple[Name, ...]
    candidates: tuple[Ranked, ...]  # in the order of the input
    fallback: bool  # all were dropped; those count that came furthest
    entry: str | None  # the function or class that was looked for
    examples: tuple[str, ...]  # what the query shows, as it was read
    inputs: int  # made for the comparison of behaviour
    sandbox: str | None  # the backend that ran the candidates; None where none ran
    oracle: bool = False  # hidden tests were seen: worth nothing as a measurement
    notes: tuple[str, ...] = ()
    id: Name | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def code(self) -> str:
        """Give the code of the chosen candidate as it was run."""
        return next(each.code for each in self.candidates if each.id == self.chosen)


StageName = Literal["syntax", "static", "smoke", "examples", "behaviour", "similarity"]
Comparison = Literal["stripped", "raw"]
BackendName = Literal["process", "docker", "none"]

STAGES: tuple[StageName, ...] = get_args(StageName)
"""Every stage, in the order in which they run (A-08): what costs nothing first, what runs code only on what is left."""

PAPER_STAGES: tuple[StageName, ...] = ("syntax", "smoke", "similarity")
"""P-23, P-24 and P-25."""

TOLD_STAGES = ("oracle", "examples", "behaviour")
"""Stages whose findings tell why a candidate that was not dropped stands where it stands."""

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

    stages: tuple[StageName, ...] = STAGES
    weights: Mapping[str, float] = field(default_factory=dict)  # none: the order is lexicographic
    compare: Comparison = "stripped"  # or raw: with comments and docstrings
    sandbox: BackendName | None = None  # None for the platform's default
    jobs: int = 0  # workers of the sandbox, 0 for one per processor
    inputs: int = INPUTS
    cpu_seconds: float = CPU_SECONDS
    seed: int = 0
    encoder: str = "static"

    def __post_init__(self) -> None:
        """Refuse what cannot be meant, with a UsageError."""
        check_stages((*self.stages, *self.weights))
        _check_evidence(self.stages, self.weights)
        if self.compare not in get_args(Comparison):
            raise UsageError(f"no way to compare '{self.compare}'; expected stripped or raw")
        if self.inputs < 0 or self.jobs < 0 or self.cpu_seconds <= 0:
            raise UsageError(
                f"inputs {self.inputs}, jobs {self.jobs}, cpu_seconds {self.cpu_seconds};"
                " expected none below 0, and time above it"
            )

    @property
    def takes_whole(self) -> bool:
        """Tell whether an answer counts with all of its lines and in one version, as for the paper's stages (P-24)."""
        return {*self.stages} <= {*PAPER_STAGES}

    @property
    def runs_code(self) -> bool:
        """Tell whether a stage needs the sandbox."""
        return bool(NEEDS_SANDBOX & {*self.stages})


def _check_evidence(stages: Collection[str], weights: Mapping[str, float]) -> None:
    """Refuse what leaves nothing to choose by, or cannot be meant, with a UsageError."""
    if not stages:
        raise UsageError(f"no stage is left to choose by; expected at least one of: {', '.join(STAGES)}")
    for stage, weight in weights.items():
        if not 0 <= weight < math.inf:
            raise UsageError(f"the weight of {stage} is {weight:g}; expected a number of at least 0")
        if stage not in stages:
            raise UsageError(f"{stage} has a weight, and is left out; give one of these")
    if weights and not any(weights.values()):
        raise UsageError("all weights are 0, which says nothing; expected at least one above it")


def check_stages(names: Iterable[str]) -> None:
    """Refuse a name that no stage has, with a UsageError."""
    for name in names:
        if name not in STAGES:
            raise UsageError(f"no stage '{name}'; expected one of: {', '.join(STAGES)}")


def paper_options(**options: object) -> RerankOptions:
    """Make the options of the paper's re-ranker, and nothing beyond it: P-23, P-24, P-25 on candidates as they are."""
    return RerankOptions(**{"stages": PAPER_STAGES, "compare": "raw", **options})  # type: ignore[arg-type]
