"""Sets of questions with known answers: their types, their halves, and their cached folders."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path

DEVELOPMENT, TEST = "development", "test"


@dataclass(frozen=True, slots=True)
class Question:
    """One question, and its right answers, each a place; equal places are equal texts.

    A place is a path, path::qualname of a function, or path::qualname::place of a block inside its function.
    """

    text: str
    gold: tuple[str, ...]
    lines: tuple[int, int] | None = None  # first and last line of the answer, if known

    @property
    def half(self) -> str:
        """Return the half of the question, fixed by its text: one is for tuning, the other for reporting."""
        return TEST if hash_text(self.text, "half") % 2 else DEVELOPMENT


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions about one folder or corpus of code."""

    name: str
    code: Path  # the input of the graph
    mode: str  # of the search: function or block
    questions: tuple[Question, ...]
    is_of_units: bool = False  # a right answer is any function of a file or row

    def choose_half(self, half: str) -> tuple[Question, ...]:
        """Return the questions of one half."""
        return tuple(question for question in self.questions if question.half == half)


def hash_text(text: str, salt: str) -> int:
    """Hash a text to 64 bits, the same on every machine; the salt separates independent choices."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8, salt=salt.encode())
    return int.from_bytes(digest.digest(), "big")


def take_lowest(keys: Iterable[str], count: int, salt: str) -> list[str]:
    """Draw keys without replacement: those of the lowest hash, the same on every machine."""
    return sorted(keys, key=lambda key: (hash_text(key, salt), key))[:count]


def keep_set(name: str, cache: Path, mode: str, make: Callable[[Path], Iterable[Question]]) -> QuestionSet:
    """Generate a set in the cache, or read the existing one; a folder is put in place only when complete."""
    folder = cache / f"questions-{name}"
    if not folder.is_dir():
        work = cache / f"{folder.name}.{os.getpid()}.tmp"
        shutil.rmtree(work, ignore_errors=True)
        (work / "code").mkdir(parents=True)
        lines = [json.dumps(asdict(question)) + "\n" for question in make(work / "code")]
        (work / "questions.jsonl").write_text("".join(lines), encoding="utf-8")
        try:
            work.rename(folder)
        except OSError:  # another process was faster
            if not folder.is_dir():
                raise
            shutil.rmtree(work)
    with open(folder / "questions.jsonl", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    questions = tuple(Question(row["text"], tuple(row["gold"])) for row in rows)
    return QuestionSet(name, folder / "code", mode, questions)
