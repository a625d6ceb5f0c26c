"""Tasks of a judge and their prompts: the structure of the papers in our own words, from data files (C-01, C-06).

Each comparison is shown in both orders or a drawn one, each answer by each preference, run by run. The prompt for
correctness shows the tests and not the reference (C-24, A-34). The judged texts are quoted between tags that they
cannot close (pkg.quoting.data_marks). A verdict inside of them gets a space, so that a judge that quotes it gives none.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path
from string import Template
from typing import Any, Literal, NamedTuple, get_args

from pkg.errors import UsageError
from pkg.lab.judge.items import JudgedItem
from pkg.model import Skip
from pkg.models.prompt_batch import Conversation
from pkg.models.text_model import Message
from pkg.quoting.data_marks import choose_tag, tag_data

Kind = Literal["pairwise", "grade", "annotate", "correctness"]
KINDS: tuple[Kind, ...] = get_args(Kind)

PREFERENCES = ("instruction-following", "explanation", "complexity", "readability", "style")
"""The five preferences of the paper (C-01)."""

OVERALL = "overall"
"""Criterion of an answer if no preference is named."""

NO_REFERENCE = "(none is known)"
CUT = "\n[... {} characters are left out here ...]\n"
_VERDICT = re.compile(r"\[\[(A|B|C|D)\]\]")
_GRADE = re.compile(r"\bRating:(?=[\s*_`]*\d)")
Orders = Literal["both", "random"]

MIN_ANSWERS = {"pairwise": 2, "grade": 1, "annotate": 1, "correctness": 1}
"""Number of answers that an item needs."""


class Texts(NamedTuple):
    """Texts of an item that a prompt shows."""

    question: str
    answers: tuple[str, ...]  # one, the two that are compared, or any number
    reference: str = ""
    tests: str = ""

    def shorten(self, max_length: int) -> Texts:
        """Return the texts with the middle of each longer one replaced by a note."""
        answers = tuple(cut_middle(each, max_length) for each in self.answers)
        return Texts(
            cut_middle(self.question, max_length),
            answers,
            cut_middle(self.reference, max_length),
            cut_middle(self.tests, max_length),
        )

    def count_characters(self) -> int:
        """Count the characters of all texts."""
        return sum(map(len, (self.question, *self.answers, self.reference, self.tests)))

    def measure_longest(self) -> int:
        """Return the length of the longest text."""
        return max(map(len, (self.question, *self.answers, self.reference, self.tests)))


def cut_middle(text: str, max_length: int) -> str:
    """Replace the middle of a text longer than `max_length` characters by a note of how many are left out."""
    if len(text) <= max_length:
        return text
    head, tail = max_length - max_length // 3, max_length // 3
    return text[:head] + CUT.format(f"{len(text) - head - tail:,}") + text[len(text) - tail :]


def write_prompt(kind: Kind, texts: Texts, preference: str = OVERALL) -> Conversation:
    """Return the prompt of a task; raises KeyError for an unknown preference."""
    template, facts = _read("templates")[kind], _read("templates")["preferences"][preference or OVERALL]
    tag = choose_tag((texts.question, *texts.answers, texts.reference, texts.tests))
    answers = [tag_data(disarm(each), f"answer-{number}", tag) for number, each in enumerate(texts.answers, 1)]
    values = {
        "question": tag_data(disarm(texts.question), "question", tag),
        "reference": tag_data(disarm(texts.reference), "reference", tag) if texts.reference else NO_REFERENCE,
        "tests": tag_data(disarm(texts.tests), "tests", tag) if texts.tests else NO_REFERENCE,
        "title": facts["title"],
        "aim": facts["aim"],
        "criteria": "\n".join(f"- {name}: {question}" for name, question in facts["criteria"]),
        "levels": "\n".join(f"{level}. {name}: {text}" for level, (name, text) in enumerate(facts["levels"], 1)),
        "count": str(len(answers)),
        "answers": "\n\n".join(f"Response {number}:\n{each}" for number, each in enumerate(answers, 1)),
        "answer": answers[0],
        "first": answers[0],
        "second": answers[-1],
    }
    user = Template(template["user"]).substitute(values)
    return Conversation((Message("system", template["system"]), Message("user", user)))


PREFILLS: Mapping[Kind, str] = {"annotate": "#### Output for Response 1\nRating:", "grade": "Rationale:"}
"""Beginnings of an answer, for models that can continue one: small ones copy the form instead of filling it."""


def add_prefill(kind: Kind, prompt: Conversation) -> Conversation:
    """Return a prompt that ends with the beginning of its answer."""
    return prompt.begin(PREFILLS.get(kind, ""))


def restore_prefill(prompt: Conversation, text: str) -> str:
    """Return an answer with the beginning that its prompt ends with, unless the model repeated it."""
    last = prompt.messages[-1]
    is_whole = last.role != "assistant" or text.lstrip().startswith(last.content.partition("\n")[0])
    return text if is_whole else f"{last.content}{text}"


def choose_principle(preference: str, item: str, system: str, seed: int = 0) -> str:
    """Draw the sentence that precedes an instruction for one system; equal seeds draw equal sentences (C-04)."""
    sentences: list[str] = _read("principles")[preference]
    return random.Random(f"{seed}\0{preference}\0{item}\0{system}").choice(sentences)


def disarm(text: str) -> str:
    """Return the text with a space in each verdict or rating, so that quoting it gives none."""
    return _GRADE.sub("Rating :", _VERDICT.sub(r"[[ \1 ]]", text))


def describe_levels(preference: str) -> Sequence[str]:
    """Return the names of the five levels of a preference, the lowest first."""
    return [name for name, _ in _read("templates")["preferences"][preference]["levels"]]


@cache
def _read(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads((Path(__file__).parent / f"{name}.json").read_text(encoding="utf-8"))
    return found


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
