"""Ratings of correctness beside the verdicts of tests: answers of a run for a judge, and their ratings split (C-24)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pkg.errors import InputError
from pkg.lab.evaluation.code.benchmark_run import read_run_benchmark
from pkg.lab.evaluation.code.run_folder import read_head, read_records
from pkg.lab.evaluation.rating_statistics import Welch, compare_means, count_scores
from pkg.lab.evaluation.share_statistics import import_stats
from pkg.lab.judge.judgements import GRADES, Judgement, list_rated


@dataclass(frozen=True, slots=True)
class RatingSplit:
    """Ratings of the answers that pass their tests, and of those that fail."""

    judge: str
    passed: dict[int, int]  # counts by rating
    failed: dict[int, int]
    mean_passed: float | None  # None without a rating
    mean_failed: float | None
    welch: Welch | None  # of the difference of the means; None unless both sides have a rating
    separation: float | None  # probability that a passing answer is rated above a failing one, ties half; .5 is chance
    p_value: float | None  # of the separation, two-sided (Mann and Whitney)
    unread: int
    unknown: int  # rated answers that the run does not have


def list_run_answers(path: Path, data: Path) -> Iterator[dict[str, Any]]:
    """Yield the first answers of a run as rows for `pkg judge correctness`, with the hidden tests of their items.

    data: file of the benchmark, or its folder. Raises InputError if it has other rows than the run.
    """
    benchmark = read_run_benchmark(path, data)
    codes: dict[str, dict[str, str]] = {}
    for record in read_records(path):
        if record.sample == 0 and record.code.strip():
            codes.setdefault(record.item, {})[record.column] = record.code
    for item in benchmark.items:
        if item.id in codes:
            yield {"id": item.id, "question": item.task, "tests": [item.tests], "answers": codes[item.id]}


def split_ratings(judgements: Iterable[Judgement], paths: Sequence[Path]) -> list[RatingSplit]:
    """Split the ratings of correctness of each judge by the verdicts of runs; planted cases are left out.

    Raises InputError if no rated answer is in a run.
    """
    verdicts: dict[tuple[str, str], bool] = {}
    for path in paths:
        read_head(path)
        verdicts |= {(each.item, each.column): each.passed for each in read_records(path) if each.sample == 0}
    by_judge: dict[str, list[Judgement]] = {}
    for each in judgements:
        if each.kind == "correctness" and not each.case:
            by_judge.setdefault(each.judge, []).append(each)
    found = [_split(judge, own, verdicts) for judge, own in by_judge.items()]
    if not any(any(each.passed.values()) or any(each.failed.values()) for each in found):
        names = ", ".join(map(str, paths))
        raise InputError(
            f"no rating of correctness is of an answer in {names}; expected judgements by pkg judge correctness of the"
            " answers that pkg eval report --answers has written"
        )
    return found


def _split(judge: str, judgements: Sequence[Judgement], verdicts: dict[tuple[str, str], bool]) -> RatingSplit:
    sides: dict[bool, list[int]] = {True: [], False: []}
    unread = unknown = 0
    for each, system, rating, _ in list_rated(judgements):
        verdict = verdicts.get((each.id, system))
        if verdict is None:
            unknown += 1
        elif rating is None:
            unread += 1
        else:
            sides[verdict].append(rating)
    passed, failed = sides[True], sides[False]
    welch = compare_means(passed, failed) if passed and failed else None
    test = import_stats().mannwhitneyu(passed, failed) if passed and failed else None
    return RatingSplit(
        judge, count_scores(passed, *GRADES), count_scores(failed, *GRADES),
        sum(passed) / len(passed) if passed else None, sum(failed) / len(failed) if failed else None, welch,
        None if test is None else float(test.statistic) / (len(passed) * len(failed)),
        None if test is None else float(test.pvalue), unread, unknown,
    )  # fmt: skip
