"""Questions in everyday words about functions and constants of the training packages, written by a language model.

Each piece of code was shown with its docstring, and the questions are those of somebody who has never seen it: three
for a function, two for a constant, in other words than its name.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("asked_questions.jsonl.gz")


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question, and the place of what it asks for."""

    package: str
    path: str
    qualname: str
    is_constant: bool
    text: str


def read_asked_questions() -> Iterator[AskedQuestion]:
    """Read all questions, in the order of packages and paths."""
    with gzip.open(FILE, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            for text in row["questions"]:
                yield AskedQuestion(row["package"], row["path"], row["qualname"], row["kind"] == "constant", text)
