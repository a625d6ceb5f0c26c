"""Prompts of the steps with their versions, and the question corpus, from data files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any, NamedTuple

from pkg.models.prompt_batch import Conversation
from pkg.models.text_model import Message
from pkg.quoting.data_marks import choose_tag, quote_line, tag_data

TYPES = {"semantics": "syntax", "dependencies": "dependencies", "meta": "meta"}
"""Type of a row, as in SpyderCodeQA (Q-01), by type of the corpus question."""


class CorpusQuestion(NamedTuple):
    """A question that fits any chunk, and the type of the resulting rows."""

    type: str
    text: str


@cache
def _read(name: str) -> dict[str, Any]:
    found = json.loads((files(__package__) / name).read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def name_prompt(step: str) -> str:
    """Return the name and version of the prompt of a step, such as explain/1."""
    return f"{step}/{_read('prompts.json')[step]['version']}"


def render_prompt(step: str, words: Mapping[str, object]) -> Conversation:
    """Return the prompt of a step; braces in the words are not placeholders.

    Texts of the repository and of models are in blocks, each quoted between tags that it cannot close.
    """
    found = _read("prompts.json")[step]
    blocks = {name: template.format_map(words) for name, template in found["data"].items()}
    tag = choose_tag(blocks.values())
    tagged = {name: tag_data(text, name, tag) for name, text in blocks.items()}
    user = found["user"].format_map({**words, **tagged})
    return Conversation((Message("system", found["system"]), Message("user", user)))


def quote_name(name: str) -> str:
    """Return the name of a file or module in backticks, with those inside of it replaced, for a prefill."""
    return f"`{quote_line(name).replace('`', chr(39))}`"


def list_corpus() -> list[CorpusQuestion]:
    """Return the questions of the corpus: 25 about code, 7 about dependencies, 7 about the project (Q-10)."""
    corpus = _read("question_corpus.json")
    return [CorpusQuestion(TYPES[kind], text) for kind in TYPES for text in corpus[kind]]


def draw_question(random: Random) -> CorpusQuestion:
    """Draw a type uniformly, and then a question of it (Q-10)."""
    kind = random.choice(list(TYPES.values()))
    return random.choice([each for each in list_corpus() if each.type == kind])
