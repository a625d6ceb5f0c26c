"""What the calls of a text reach: functions and classes with the reason, and calls that reach nothing known."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from pkg.model import Node


class Reached(NamedTuple):
    """A function or class that a call reaches, and why it is taken."""

    node: Node
    reason: str


class Loose(NamedTuple):
    """A call that is not bound: what is called, in whose code, and where."""

    expression: str
    source: str
    path: str
    line: int
    reason: str


@dataclass(slots=True)
class Calls:
    """The calls of one text: what they reach in the order of the text, and how many call sites are how sure."""

    reached: list[Reached] = field(default_factory=list)
    bound: int = 0
    possible: int = 0
    loose: list[Loose] = field(default_factory=list)
    explain: list[str] = field(default_factory=list)

    @property
    def unbound(self) -> int:
        """Count the call sites that reach nothing known."""
        return len(self.loose)
