"""Data types of the reranker: tasks, candidates, the verdict of each stage, rankings, and options."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, TypeAlias, get_args

from pkg.errors import UsageError


class Check(str, Enum):
    """Kind of check of an example; all but ASSERTION are compared outside the candidate's process."""

    VALUE = "value"  # the value of an expression
    TRUTH = "truth"  # the truth of an expression
    OUTPUT = "output"  # the standard output
    RAISES = "raises"  # the name of the exception
    PROGRAM = "program"  # the output of the candidate as a program that reads the source from standard input
    ASSERTION = "assertion"  # statements that must not fail; weaker, because the candidate's process evaluates them


@dataclass(frozen=True, slots=True)
class Example:
    """One example of the required behaviour that the query shows (A-08)."""

    source: str  # an expression, statements for OUTPUT, RAISES and ASSERTION, or the input of a PROGRAM
    check: Check
    expected: object = None  # a value, a truth, a text, or the name of an exception
    notation: str = ""  # transcript, assert, arrow, input and output, given, handed over, hidden or sample
    line: int = 0  # of the query, from 1; 0 for an example that the caller passed
    tolerance: float | None = None  # of a number, if the example names one
    before: tuple[str, ...] = ()  # lines of its script that run before it, including other examples
    match: str = ""  # of RAISES: a regular expression for the message

    @property
    def shown(self) -> str:
        """Return the example as one line, after the lines of its script that run before it."""
        return "; ".join((*self.before, self._describe()))

    def _describe(self) -> str:
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


Name: TypeAlias = str | int  # id of a candidate, by default its index


@dataclass(frozen=True, slots=True)
class Candidate:
    """One answer to choose from."""

    id: Name
    text: str
    extra: Mapping[str, Any] = field(default_factory=dict)  # other fields of the input, passed through


@dataclass(frozen=True, slots=True)
class Extracted:
    """Code extracted from one candidate, with a note on how it was found."""

    code: str
    note: str = ""
    is_cut: bool = False  # an incomplete end was removed
    driver: str = ""  # first line of driver code: code that only uses the definitions
    is_without_driver: bool = False  # the driver code was removed


@dataclass(frozen=True, slots=True)
class Task:
    """One query with its candidates, in the order of the input: the first wins ties (A-09)."""

    query: str
    candidates: tuple[Candidate, ...]
    examples: tuple[Any, ...] = ()  # in addition to those of the query: text, or {"call": ..., "expected": ...}
    id: Name | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Result of one stage for one candidate."""

    stage: str
    passed: bool
    score: float  # 0 to 1, or a cosine; higher is better
    reason: str = ""
    seconds: float = 0.0  # CPU of this stage for this candidate


@dataclass(frozen=True, slots=True)
class Ranked:
    """One candidate with its rank and the results of all stages."""

    id: Name
    rank: int  # from 1; equal to that of a duplicate
    code: str
    votes: int  # number of candidates with the same code, including this one
    same_as: Name | None  # the first candidate of the same code
    dropped: str | None  # the stage that dropped it
    reason: str  # why it was dropped, or how its code was extracted
    verdicts: tuple[Verdict, ...]
    similarity: float | None
    extra: Mapping[str, Any] = field(default_factory=dict)
    is_cut: bool = False  # the answer is incomplete, and its broken end was removed

    @property
    def why(self) -> str:
        """Return the reason for the rank: the stage that dropped it, its duplicate, or the findings of each stage."""
        if self.same_as is not None:
            return f"the same as {self.same_as}"
        if self.dropped is not None:
            return f"dropped by {self.dropped}: {self.reason}"
        findings = [each.reason for each in self.verdicts if each.stage in EXPLAINED_STAGES and each.reason]
        return "; ".join([*findings, *([self.reason] if self.reason else [])])


@dataclass(frozen=True, slots=True)
class Ranking:
    """Ranking of the candidates of one task, with the evidence that it is based on."""

    chosen: Name
    order: tuple[Name, ...]  # best first
    candidates: tuple[Ranked, ...]  # in the order of the input
    fallback: bool  # all were dropped; those that passed the most stages are ranked
    entry: str | None  # name of the required function or class
    examples: tuple[str, ...]  # examples found in the query
    inputs: int  # number of inputs generated to compare behaviour
    sandbox: str | None  # backend that ran the candidates; None if none ran
    oracle: bool = False  # hidden tests were used, so this is not a measurement
    notes: tuple[str, ...] = ()
    id: Name | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def code(self) -> str:
        """Return the code of the chosen candidate as it was run."""
        return next(each.code for each in self.candidates if each.id == self.chosen)


StageName = Literal["syntax", "static", "smoke", "examples", "behaviour", "similarity"]
Comparison = Literal["stripped", "raw"]
BackendName = Literal["process", "docker", "none"]

STAGES: tuple[StageName, ...] = get_args(StageName)
"""All stages in the order in which they run (A-08): the cheap ones first."""

PAPER_STAGES: tuple[StageName, ...] = ("syntax", "smoke", "similarity")
"""P-23, P-24 and P-25."""

EXPLAINED_STAGES = ("oracle", "examples", "behaviour")
"""Stages whose findings explain the rank of a candidate that was not dropped."""

NEEDS_SANDBOX = frozenset(("smoke", "examples", "behaviour", "oracle"))

INPUTS = 24
"""Number of calls on which candidates are compared. On mutants of correct answers, 12 and 48 change at most two of 60
choices, which is noise (benchmarks/results/rerank_mutants.json)."""

CPU_SECONDS = 2.0
"""CPU time of one load, or of all examples of one candidate together. The reference answers of HumanEval need a few
milliseconds for the examples of their prompts (benchmarks/results/visible_examples.json)."""


@dataclass(frozen=True, slots=True)
class RerankOptions:
    """Options of a reranker."""

    stages: tuple[StageName, ...] = STAGES
    weights: Mapping[str, float] = field(default_factory=dict)  # if empty, the order is lexicographic
    compare: Comparison = "stripped"  # or raw: with comments and docstrings
    sandbox: BackendName | None = None  # None for the default of the platform
    jobs: int = 0  # workers of the sandbox, 0 for one per processor
    inputs: int = INPUTS
    cpu_seconds: float = CPU_SECONDS
    seed: int = 0
    encoder: str = "static"

    def __post_init__(self) -> None:
        """Raise a UsageError for invalid options."""
        check_stages((*self.stages, *self.weights))
        _check_evidence(self.stages, self.weights)
        if self.compare not in get_args(Comparison):
            raise UsageError(f"unknown comparison '{self.compare}'; expected stripped or raw")
        if self.inputs < 0 or self.jobs < 0 or self.cpu_seconds <= 0:
            raise UsageError(
                f"inputs {self.inputs}, jobs {self.jobs}, cpu_seconds {self.cpu_seconds};"
                " expected inputs and jobs of at least 0, and cpu_seconds above 0"
            )

    @property
    def uses_whole_answer(self) -> bool:
        """Return whether an answer is judged with all of its lines and in one version, as by the paper (P-24)."""
        return {*self.stages} <= {*PAPER_STAGES}

    @property
    def runs_code(self) -> bool:
        """Return whether a stage needs the sandbox."""
        return bool(NEEDS_SANDBOX & {*self.stages})


def _check_evidence(stages: Collection[str], weights: Mapping[str, float]) -> None:
    """Raise a UsageError if no stage is left or the weights are invalid."""
    if not stages:
        raise UsageError(f"no stage is left; expected at least one of: {', '.join(STAGES)}")
    for stage, weight in weights.items():
        if not 0 <= weight < math.inf:
            raise UsageError(f"the weight of {stage} is {weight:g}; expected a number of at least 0")
        if stage not in stages:
            raise UsageError(f"{stage} has a weight but does not run; remove the weight or add the stage")
    if weights and not any(weights.values()):
        raise UsageError("all weights are 0; expected at least one above 0")


def check_stages(names: Iterable[str]) -> None:
    """Raise a UsageError for the name of an unknown stage."""
    for name in names:
        if name not in STAGES:
            raise UsageError(f"no stage '{name}'; expected one of: {', '.join(STAGES)}")


def paper_options(**options: object) -> RerankOptions:
    """Return the options of the paper's reranker: only P-23, P-24 and P-25, on unmodified candidates."""
    return RerankOptions(**{"stages": PAPER_STAGES, "compare": "raw", **options})  # type: ignore[arg-type]
