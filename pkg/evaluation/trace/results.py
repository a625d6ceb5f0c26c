"""What a trace found: numbers, the calls that the graph lacks, and its edges that did not happen."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Missed:
    """One call that happened and that the graph does not have."""

    path: str
    line: int
    caller: str  # qualified name; the path for code outside of functions
    callee_path: str
    callee: str
    reason: str


@dataclass(frozen=True, slots=True, order=True)
class Unseen:
    """One edge of the graph whose line made calls, but not this one."""

    path: str
    line: int
    caller: str
    callee_path: str
    callee: str
    rule: str
    confidence: str
    instead: str  # what happened there


@dataclass(frozen=True, slots=True)
class Precision:
    """How many of some edges whose line made a call were seen."""

    name: str  # of a confidence, or a rule
    ran: int
    seen: int


@dataclass(frozen=True, slots=True)
class Recall:
    """How many of the calls of one kind that happened the graph has."""

    name: str  # direct, or through a library or generated code
    calls: int
    bound: int  # by a certain or likely edge
    possible: int  # by a possible edge alone

    @property
    def missed(self) -> int:
        """Count the calls that the graph lacks."""
        return self.calls - self.bound - self.possible


@dataclass(frozen=True, slots=True)
class TraceReport:
    """How the CALLS edges of a source compare with the calls that a command made."""

    source: str
    root: str
    command: str
    exit_code: int
    processes: int
    python: tuple[str, ...]
    hooks: tuple[str, ...]  # setprofile or monitoring
    precision: tuple[Precision, ...]  # certain, likely, possible
    rules: tuple[Precision, ...]  # of certain and likely edges
    recall: tuple[Recall, ...]
    missed_reasons: tuple[tuple[str, int], ...]  # most frequent first
    unseen_reasons: tuple[tuple[str, int], ...]  # of certain and likely edges
    left_out: tuple[tuple[str, int], ...]  # what says nothing, and how many
    missed: tuple[Missed, ...]  # direct calls
    unseen: tuple[Unseen, ...]
