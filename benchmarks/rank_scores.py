"""Score ranked answers against the right ones: reciprocal ranks and hit rates, with 95 % confidence intervals."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from measure import Figures

DEPTH = 100  # answers that are asked for and looked at
NORMAL_95 = 1.96  # standard errors on each side


@dataclass(frozen=True, slots=True)
class Answered:
    """What a system gave for one question: how many answers, and at which rank the first right one stands."""

    rank: int | None  # from 1; None where no right one is among them
    given: int
    wanted: int  # answers that there were to give, DEPTH at most


def find_rank(places: Sequence[str], gold: Sequence[str], given: int, wanted: int) -> Answered:
    """Find the first right place among the distinct ones that a system gave, best first."""
    right = set(gold)
    rank = next((number for number, place in enumerate(places, start=1) if place in right), None)
    return Answered(rank, given, wanted)


def summarise_ranks(answers: Sequence[Answered]) -> Figures:
    """Give the means over all questions, those without an answer counted as 0."""
    ranks = [each.rank or math.inf for each in answers]
    reciprocal = [1 / rank if rank <= 10 else 0.0 for rank in ranks]
    return {
        "questions": len(answers),
        "mrr@10": round(statistics.mean(reciprocal), 4),
        "mrr@10_95%": [round(bound, 4) for bound in find_interval(reciprocal)],
        f"mrr@{DEPTH}": round(statistics.mean(1 / rank for rank in ranks), 4),
        **{f"hit@{k}": round(statistics.mean(rank <= k for rank in ranks), 4) for k in (1, 5, 10)},
        f"recall@{DEPTH}": round(statistics.mean(rank <= DEPTH for rank in ranks), 4),
        "empty": sum(each.given == 0 for each in answers),
        "fewer_than_there_are": sum(each.given < each.wanted for each in answers),
    }


def find_interval(values: Sequence[float]) -> tuple[float, float]:
    """Give the normal 95 % confidence interval of a mean."""
    mean = statistics.mean(values)
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return mean - NORMAL_95 * error, mean + NORMAL_95 * error
