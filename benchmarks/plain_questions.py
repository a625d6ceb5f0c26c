"""Sixty plain questions on rich, flask and httpx, whose answers were written down before the first of them was asked.

Nothing is tuned on them. Several functions may be right: a method and the function that stands for it, say.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from packages import FLASK, HTTPX, RICH, fetch_package
from question_sets import Question, QuestionSet

_QUESTIONS = Path(__file__).with_name("data") / "questions.json"


def read_plain_questions(cache: Path) -> Iterator[QuestionSet]:
    """Give the questions on each package in turn."""
    rows = json.loads(_QUESTIONS.read_text(encoding="utf-8"))
    for package in (RICH, FLASK, HTTPX):
        asked = tuple(Question(row["text"], tuple(row["gold"])) for row in rows[package.name])
        yield QuestionSet(package.name, fetch_package(package, cache), "function", asked)
