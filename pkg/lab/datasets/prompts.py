"""What models are asked, as data files say it: the prompt of each step with its version, and the question corpus."""

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
"""The type of a row, as SpyderCodeQA names it (Q-01), by that of a question of the corpus."""


class CorpusQuestion(NamedTuple):
    """A question that can be asked about any piece, and the type of the rows that come of it."""

    type: str
    text: str


@cache
def _read(name: str) -> dict[str, Any]:
    found = json.loads((files(__package__) / name).read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def name_prompt(step: str) -> str:
    """Name the prompt of a step with its version, such as explain/1."""
    return f"{step}/{_read('prompts.json')[step]['version']}"


def render_prompt(step: str, words: Mapping[str, object]) -> Conversation:
    """Write the prompt of a step about something; braces in the words are no placeholders.

    What comes from the repository or from a model stands in blocks, each quoted between tags that it cannot close.
    """
    found = _read("prompts.json")[step]
    blocks = {name: template.format_map(words) for name, template in found["data"].items()}
    tag = choose_tag(blocks.values())
    tagged = {name: tag_data(text, name, tag) for name, text in blocks.items()}
    user = found["user"].format_map({**words, **tagged})
    return Conversation((Message("system", found["system"]), Message("user", user)))


def quote_name(name: str) -> str:
    """Quote the name of a file or module, for the beginning of an answer, as code that it cannot close."""
    return f"`{quote_line(name).replace('`', chr(39))}`"


def list_corpus() -> list[CorpusQuestion]:
    """List the questions of the corpus: 25 on what code does, 7 on dependencies, 7 on the project (Q-10)."""
    corpus = _read("question_corpus.json")
    return [CorpusQuestion(TYPES[kind], text) for kind in TYPES for text in corpus[kind]]


def draw_question(random: Random) -> CorpusQuestion:
    """Draw a type, each as likely as another, and then a question of it (Q-10)."""
    kind = random.choice(list(TYPES.values()))
    return random.choice([each for each in list_corpus() if each.type == kind])
