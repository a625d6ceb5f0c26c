"""Score ranked answers: reciprocal ranks, gains and recall, with 95 % confidence intervals."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from pkg.lab.evaluation.statistics import NORMAL_95, find_share_interval

DEPTH = 100  # answers requested and scored
CUT = 10  # answers that a person looks at; reciprocal ranks and gains beyond count as 0
RECALLS = (1, 5, CUT, DEPTH)


@dataclass(frozen=True, slots=True)
class Answered:
    """The result of a system for one question: ranks of the right answers, and number of answers."""

    found: tuple[tuple[int, float], ...]  # rank from 1, and gain, of each right answer in the result, best first
    ideal: tuple[float, ...]  # gains of all right answers, largest first
    given: int
    wanted: int  # number of answers available, at most DEPTH

    @property
    def rank(self) -> int | None:
        """Return the rank of the first right answer; None without one."""
        return self.found[0][0] if self.found else None


def find_rank(places: Sequence[str], gold: Sequence[str], given: int, wanted: int) -> Answered:
    """Find the first right place among the distinct ones of a result, best first; any right one is enough."""
    right = set(gold)
    rank = next((number for number, place in enumerate(places, start=1) if place in right), None)
    return Answered(() if rank is None else ((rank, 1.0),), (1.0,), given, wanted)


def summarise_ranks(answers: Sequence[Answered]) -> dict[str, int | float | list[float]]:
    """Return the means over all questions with their 95 % intervals; a question without a right answer counts as 0.

    ``hit@k`` is the share of questions with a right answer among the first k, ``recall@k`` the share of right answers.
    """
    figures: dict[str, int | float | list[float]] = {"questions": len(answers)}
    for name, values in list_scores(answers).items():
        figures[name] = round(statistics.mean(values), 4)
        figures[f"{name}_95%"] = [round(bound, 4) for bound in find_interval(values)]
    figures["empty"] = sum(each.given == 0 for each in answers)
    figures["fewer_than_there_are"] = sum(each.given < each.wanted for each in answers)
    return figures


def list_scores(answers: Sequence[Answered]) -> dict[str, list[float]]:
    """Return each measure for each question, from 0 to 1."""
    return {
        f"mrr@{CUT}": reciprocal_ranks(answers),
        f"mrr@{DEPTH}": reciprocal_ranks(answers, DEPTH),
        f"ndcg@{CUT}": [_measure_gain(each) for each in answers],
        **{f"hit@{k}": [float(bool(each.rank and each.rank <= k)) for each in answers] for k in (1, 5, CUT)},
        **{f"recall@{k}": [_measure_recall(each, k) for each in answers] for k in RECALLS},
    }


def reciprocal_ranks(answers: Sequence[Answered], k: int = CUT) -> list[float]:
    """Return 1 / rank of the first right answer to each question; 0 if it is not among the first k."""
    return [1 / each.rank if each.rank and each.rank <= k else 0.0 for each in answers]


def _measure_gain(answered: Answered) -> float:
    """Return the discounted gain of the first answers, as a share of the ideal one (NDCG, linear gains)."""
    best = sum(gain / math.log2(rank + 1) for rank, gain in enumerate(answered.ideal[:CUT], start=1))
    gained = sum(gain / math.log2(rank + 1) for rank, gain in answered.found if rank <= CUT)
    return gained / best if best else 0.0


def _measure_recall(answered: Answered, k: int) -> float:
    """Return the share of all right answers that are among the first k (recall as in BEIR)."""
    right = len(answered.ideal)
    return sum(rank <= k for rank, _ in answered.found) / right if right else 0.0


def find_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % confidence interval of a mean of values from 0 to 1.

    It is Wilson's interval for shares, and the normal one for other means.
    """
    if set(values) <= {0.0, 1.0}:
        return find_share_interval(sum(values), len(values))
    low, high = find_normal_interval(values)
    return max(0.0, low), min(1.0, high)


def find_normal_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the normal 95 % confidence interval of a mean, such as that of differences."""
    mean = statistics.mean(values)
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return mean - NORMAL_95 * error, mean + NORMAL_95 * error
