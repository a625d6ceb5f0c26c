"""The noun that the readers of examples share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Check(str, Enum):
    """Name how an example is checked; all but the last are compared outside of the candidate's process."""

    VALUE = "value"  # the expression has this value
    TRUTH = "truth"  # the expression is true, or is not
    OUTPUT = "output"  # what is printed
    RAISES = "raises"  # an exception of this name
    ASSERTION = "assertion"  # statements that must not fail; weaker, for the candidate runs what judges it


@dataclass(frozen=True, slots=True)
class Example:
    """One thing that the query shows about the wanted code (A-08)."""

    source: str  # an expression, or statements for OUTPUT and ASSERTION
    check: Check
    expected: object = None  # a value, a truth, a text, or the name of an exception
    form: str = ""  # where it was read: transcript, assert, arrow, input and output, given
    line: int = 0  # of the query, from 1; 0 for one that was handed over
    tolerance: float | None = None  # of a number, where the example names one

    @property
    def shown(self) -> str:
        """Say the example in one line."""
        if self.check is Check.VALUE:
            return f"{self.source} == {self.expected!r}"
        if self.check is Check.TRUTH:
            return self.source if self.expected else f"not {self.source}"
        if self.check is Check.RAISES:
            return f"{self.source} raises {self.expected}"
        if self.check is Check.OUTPUT:
            return f"{self.source} prints {self.expected!r}"
        return self.source
