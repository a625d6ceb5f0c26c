"""Tasks of a judge: each comparison in both orders or a drawn one, each answer by each preference, run by run.

The prompt for correctness shows the tests and not the reference (C-24, A-34).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

from pkg.errors import UsageError
from pkg.lab.judge.items import JudgedItem
from pkg.lab.judge.templates import OVERALL, PREFERENCES, Kind, Texts
from pkg.model import Skip

Orders = Literal["both", "random"]

MIN_ANSWERS = {"pairwise": 2, "grade": 1, "annotate": 1, "correctness": 1}
"""Number of answers that an item needs."""


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """Options of judging; temperature and top-p are the paper's (Q-17), which allows 2,500 tokens."""

    kind: Kind = "pairwise"
    runs: int = 1  # the paper: 3
    orders: Orders = "both"  # the paper: random
    baseline: str = ""  # compare only with this system
    preferences: tuple[str, ...] = ()  # instead of those of the items
    temperature: float = 0.7
    top_p: float = 0.9
    max_tokens: int = 512
    seed: int = 0
    batch: int = 0  # prompts between two writes to the file; 0 for the batch size of the model


@dataclass(frozen=True, slots=True)
class JudgeTask:
    """One prompt for a judge: a comparison, an answer, or the answers of an item."""

    kind: Kind
    item: JudgedItem
    systems: tuple[str, ...]  # in the order in which their answers are shown
    preference: str = OVERALL
    run: int = 0
    case: str = ""  # name of the planted case, if it is one

    @property
    def texts(self) -> Texts:
        """Return the texts that the prompt shows."""
        answers = tuple(self.item.answers[system] for system in self.systems)
        tests = "\n".join(self.item.tests) if self.kind == "correctness" else ""
        reference = self.item.reference if self.kind in ("pairwise", "grade") else ""
        return Texts(self.item.question, answers, reference, tests)


class PlannedTasks(NamedTuple):
    """The tasks of some items, and the items that cannot be judged."""

    tasks: tuple[JudgeTask, ...]  # run by run
    left_out: tuple[Skip, ...]  # `path` is the id of the item


def make_tasks(items: Sequence[JudgedItem], options: JudgeOptions) -> PlannedTasks:
    """List the tasks of items; raises UsageError for invalid options."""
    check_options(options)
    left_out = {item.id: reason for item in items if (reason := _find_exclusion(item, options))}
    tasks = (
        task
        for run in range(options.runs)
        for item in items
        if item.id not in left_out
        for task in _list_tasks(item, options, run)
    )
    return PlannedTasks(tuple(tasks), tuple(Skip(name, reason) for name, reason in left_out.items()))


def check_options(options: JudgeOptions) -> None:
    """Raise UsageError for an unknown preference, or preferences that the kind does not take."""
    unknown = [each for each in options.preferences if each not in (*PREFERENCES, OVERALL)]
    if unknown:
        raise UsageError(f"no preference '{unknown[0]}'; expected one of {', '.join((*PREFERENCES, OVERALL))}")
    if options.preferences and options.kind not in ("grade", "annotate"):
        raise UsageError(f"{options.kind} takes no preferences; leave out --preference")


def _find_exclusion(item: JudgedItem, options: JudgeOptions) -> str:
    """Return the reason why an item cannot be judged, or ""."""
    min_answers = MIN_ANSWERS[options.kind]
    if len(item.answers) < min_answers:
        return f"{len(item.answers)} answers; expected {min_answers} or more"
    if options.baseline and options.kind == "pairwise" and options.baseline not in item.answers:
        return f"no answer of the baseline '{options.baseline}'"
    if options.kind == "correctness" and not item.tests:
        return "no tests; expected statements under 'tests'"
    if options.kind in ("grade", "annotate") and not options.preferences:
        found = item.preference or OVERALL
        return "" if found in (*PREFERENCES, OVERALL) else f"no preference is called '{found}'"
    return ""


def _list_tasks(item: JudgedItem, options: JudgeOptions, run: int) -> Iterator[JudgeTask]:
    if options.kind == "pairwise":
        for pair in _list_pairs(item, options.baseline):
            yield from (JudgeTask("pairwise", item, each, run=run) for each in _order(pair, item.id, options, run))
        return
    preferences = options.preferences or (item.preference or OVERALL,)
    for preference in preferences if options.kind != "correctness" else (OVERALL,):
        groups = [tuple(item.answers)] if options.kind == "annotate" else [(system,) for system in item.answers]
        yield from (JudgeTask(options.kind, item, group, preference, run) for group in groups)


def _list_pairs(item: JudgedItem, baseline: str) -> list[tuple[str, str]]:
    if baseline:
        return [(system, baseline) for system in item.answers if system != baseline]
    return list(combinations(item.answers, 2))


def _order(pair: tuple[str, str], item: str, options: JudgeOptions, run: int) -> list[tuple[str, str]]:
    """Return the orders in which a pair is shown; a drawn one depends only on seed, item, pair and run."""
    swapped = (pair[1], pair[0])
    if options.orders == "both":
        return [pair, swapped]
    is_swapped = random.Random(f"{options.seed}\0{item}\0{pair}\0{run}").random() < 0.5
    return [swapped if is_swapped else pair]
