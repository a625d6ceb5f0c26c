"""The prompts of the judge: the structure that the papers give, in words of our own, from files of data (C-01, C-06).

What is judged is quoted between tags that no text can close (pkg.quoting.data_marks); and whatever looks in it like a
verdict is shown with a blank inside, so that a judge who quotes it says nothing by that.
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
"""The five of the paper (C-01)."""
OVERALL = "overall"
"""What an answer is graded by where no preference is named."""

NO_REFERENCE = "(none is known)"
CUT = "\n[... {} characters are left out here ...]\n"
_VERDICT = re.compile(r"\[\[(A|B|C|D)\]\]")
_GRADE = re.compile(r"\bRating:(?=\s*\d)")


class Texts(NamedTuple):
    """What a prompt shows of an item."""

    question: str
    answers: tuple[str, ...]  # one, the two that are compared, or any number
    reference: str = ""
    tests: str = ""

    def shorten(self, longest: int) -> Texts:
        """Cut the middle out of each text that has more characters, and say so in its place."""
        answers = tuple(cut_middle(each, longest) for each in self.answers)
        return Texts(
            cut_middle(self.question, longest),
            answers,
            cut_middle(self.reference, longest),
            cut_middle(self.tests, longest),
        )

    def count_characters(self) -> int:
        """Count the characters of all of it."""
        return sum(map(len, (self.question, *self.answers, self.reference, self.tests)))

    def find_longest(self) -> int:
        """Give the length of the longest text."""
        return max(map(len, (self.question, *self.answers, self.reference, self.tests)))


def cut_middle(text: str, longest: int) -> str:
    """Leave out the middle of a text that has more characters than allowed, and say how many."""
    if len(text) <= longest:
        return text
    head, tail = longest - longest // 3, longest // 3
    return text[:head] + CUT.format(f"{len(text) - head - tail:,}") + text[len(text) - tail :]


def write_prompt(kind: Kind, texts: Texts, preference: str = OVERALL) -> Conversation:
    """Write what the judge is asked; a KeyError for a preference that is none."""
    from pkg.quoting.data_marks import choose_tag, tag_data  # here, for the command line reads this module at a start

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
        "levels": "\n".join(f"{level}. {name}: {told}" for level, (name, told) in enumerate(facts["levels"], 1)),
        "count": str(len(answers)),
        "answers": "\n\n".join(f"Response {number}:\n{each}" for number, each in enumerate(answers, 1)),
        "answer": answers[0],
        "first": answers[0],
        "second": answers[-1],
    }
    user = Template(template["user"]).substitute(values)
    return Conversation((Message("system", template["system"]), Message("user", user)))


def choose_principle(preference: str, item: str, system: str, seed: int = 0) -> str:
    """Draw the sentence that is put before an instruction for one system, the same again for the same seed (C-04)."""
    sentences: list[str] = _read("principles")[preference]
    return random.Random(f"{seed}\0{preference}\0{item}\0{system}").choice(sentences)


def disarm(text: str) -> str:
    """Put a blank into what looks like a verdict or a rating, so that quoting it is none."""
    return _GRADE.sub("Rating :", _VERDICT.sub(r"[[ \1 ]]", text))


def describe_levels(preference: str) -> Sequence[str]:
    """Name the five levels of a preference, the lowest first."""
    return [name for name, _ in _read("templates")["preferences"][preference]["levels"]]


@cache
def _read(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads((Path(__file__).parent / f"{name}.json").read_text(encoding="utf-8"))
    return found
