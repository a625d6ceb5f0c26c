"""Score code by the hidden tests of an item, run in the sandbox, with the class of its failure (P-32, P-33)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pkg.errors import shorten
from pkg.lab.evaluation.code.benchmark_items import Item
from pkg.lab.evaluation.code.hidden_tests import HiddenTests
from pkg.rerank.diagnosis import CLASSES, OTHER, classify
from pkg.sandbox.protocol import Kind, Limits

LIMITS = Limits(cpu_seconds=10.0, wall_seconds=30.0, memory_bytes=1 << 30, output_bytes=1 << 20)
PLUS_LIMITS = Limits(cpu_seconds=60.0, wall_seconds=120.0, memory_bytes=4 << 30, output_bytes=8 << 20)
"""For the tests of EvalPlus: hundreds of inputs, some of them large."""

ERRORS = (*CLASSES, OTHER)
"""The classes of the paper's table of errors (P-33)."""

LONGEST = 300  # characters of a stored detail


@dataclass(frozen=True, slots=True)
class Score:
    """The result of the hidden tests of an item for some code."""

    passed: bool
    error: str = ""  # one of ERRORS; "" if all pass
    detail: str = ""
    seconds: float = 0.0  # CPU


def score_all(tests: HiddenTests, pairs: Iterable[tuple[str, Item]]) -> Iterator[Score]:
    """Yield the score of each pair of code and item, in order; pairs run in batches."""
    for verdict in tests.run_all(pairs):
        if verdict.kind is Kind.OK:
            yield Score(True, seconds=verdict.seconds)
        else:
            yield Score(False, classify(verdict.kind), shorten(verdict.detail, LONGEST), verdict.seconds)
