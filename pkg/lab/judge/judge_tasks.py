"""What a judge is asked: each comparison in both orders or a drawn one, each answer by each preference, run by run.

Correctness is judged with the tests before the judge, and without the reference (C-24, A-34).
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

FEWEST = {"pairwise": 2, "grade": 1, "annotate": 1, "correctness": 1}
"""Answers that an item needs."""


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """How judging is done; temperature and top-p are the paper's (Q-17), which also writes up to 2,500 tokens."""

    kind: Kind = "pairwise"
    runs: int = 1  # the paper: 3
    orders: Orders = "both"  # the paper: random
    baseline: str = ""  # compare with this system alone
    preferences: tuple[str, ...] = ()  # instead of those of the items
    temperature: float = 0.7
    top_p: float = 0.9
    max_tokens: int = 512
    seed: int = 0
    batch: int = 0  # prompts between two writes to the file; 0 for as many as the model takes at once


@dataclass(frozen=True, slots=True)
class JudgeTask:
    """One thing that a judge says something about."""

    kind: Kind
    item: JudgedItem
    systems: tuple[str, ...]  # in the order in which their answers are shown
    preference: str = OVERALL
    run: int = 0
    case: str = ""  # of a planted one: what is tried

    @property
    def texts(self) -> Texts:
        """Give what the prompt shows."""
        answers = tuple(self.item.answers[system] for system in self.systems)
        tests = "\n".join(self.item.tests) if self.kind == "correctness" else ""
        reference = self.item.reference if self.kind in ("pairwise", "grade") else ""
        return Texts(self.item.question, answers, reference, tests)


class MadeTasks(NamedTuple):
    """The tasks of some items, and the items that give none."""

    tasks: tuple[JudgeTask, ...]  # run by run
    left_out: tuple[Skip, ...]  # the path of each is the id of its item


def make_tasks(items: Sequence[JudgedItem], options: JudgeOptions) -> MadeTasks:
    """List what is to be judged; a UsageError for options that no judging can have."""
    check_options(options)
    left_out = {item.id: reason for item in items if (reason := _find_lack(item, options))}
    tasks = (
        task
        for run in range(options.runs)
        for item in items
        if item.id not in left_out
        for task in _list_tasks(item, options, run)
    )
    return MadeTasks(tuple(tasks), tuple(Skip(name, reason) for name, reason in left_out.items()))


def check_options(options: JudgeOptions) -> None:
    """Refuse options that make no sense with a UsageError."""
    unknown = [each for each in options.preferences if each not in (*PREFERENCES, OVERALL)]
    if unknown:
        raise UsageError(f"no preference '{unknown[0]}'; expected of {', '.join((*PREFERENCES, OVERALL))}")
    if options.preferences and options.kind not in ("grade", "annotate"):
        raise UsageError(f"{options.kind} knows no preferences; leave out --preference")


def _find_lack(item: JudgedItem, options: JudgeOptions) -> str:
    """Say what an item lacks to be judged; "" for nothing."""
    fewest = FEWEST[options.kind]
    if len(item.answers) < fewest:
        return f"{len(item.answers)} answers; expected {fewest} or more"
    if options.baseline and options.kind == "pairwise" and options.baseline not in item.answers:
        return f"no answer of '{options.baseline}', with which the others are to be compared"
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
    """Give a pair in the orders that it is shown in; which one is drawn depends on item, pair and run alone."""
    turned = (pair[1], pair[0])
    if options.orders == "both":
        return [pair, turned]
    is_turned = random.Random(f"{options.seed}\0{item}\0{pair}\0{run}").random() < 0.5
    return [turned if is_turned else pair]
