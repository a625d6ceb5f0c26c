"""The nouns of the reranker: what goes in, what each stage says, and what comes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Name: TypeAlias = str | int  # of a candidate: its own id, or its index


@dataclass(frozen=True, slots=True)
class Candidate:
    """One answer among which to choose."""

    id: Name
    text: str
    extra: Mapping[str, Any] = field(default_factory=dict)  # other fields of the input, passed through


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
