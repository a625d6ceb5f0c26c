"""Prompts of the judge: the structure of the papers in our own words, from data files (C-01, C-06).

The judged texts are quoted between tags that they cannot close (pkg.quoting.data_marks). A verdict inside of them gets
a space, so that a judge that quotes it gives no verdict.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from string import Template
from typing import Any, Literal, NamedTuple, get_args

from pkg.models.prompt_batch import Conversation
from pkg.models.text_model import Message

Kind = Literal["pairwise", "grade", "annotate", "correctness"]
KINDS: tuple[Kind, ...] = get_args(Kind)

PREFERENCES = ("instruction-following", "explanation", "complexity", "readability", "style")
"""The five preferences of the paper (C-01)."""
OVERALL = "overall"
"""Criterion of an answer if no preference is named."""

NO_REFERENCE = "(none is known)"
CUT = "\n[... {} characters are left out here ...]\n"
_VERDICT = re.compile(r"\[\[(A|B|C|D)\]\]")
_GRADE = re.compile(r"\bRating:(?=\s*\d)")


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
    from pkg.quoting.data_marks import choose_tag, tag_data  # here, as the command line imports this module at start

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
    return Conversation((*prompt.messages, Message("assistant", PREFILLS[kind]))) if kind in PREFILLS else prompt


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
