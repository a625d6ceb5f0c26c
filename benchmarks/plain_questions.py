"""Plain questions on many packages, twenty on each, whose answers were written before the first of them was asked.

Several functions may be right, such as a method and the function that delegates to it. A package is asked about as
installed and, if its source distribution contains tests, also as that, with tests and examples beside the code.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from packages import FLASK, HTTPX, LIBROSA, PLAIN, RICH, SOURCES, Package, fetch_package
from question_sets import Question, QuestionSet

_QUESTIONS = Path(__file__).with_name("data") / "questions.json"
_DECLARATIONS = _QUESTIONS.with_name("declaration_lessons.json")
_LIBROSA = Path("plain_questions") / "librosa.jsonl"  # in the folder of shared data


def read_plain_questions(cache: Path) -> Iterator[QuestionSet]:
    """Yield the questions on rich, flask and httpx."""
    rows = _read_rows()
    for package in (RICH, FLASK, HTTPX):
        yield QuestionSet(package.name, fetch_package(package, cache), "function", rows[package.name])


def read_package_questions(data: Path, cache: Path) -> Iterator[tuple[Package, QuestionSet]]:
    """Yield the questions on every package: first on all wheels, then on the source distributions."""
    rows = _read_rows() | {LIBROSA.name: _read_librosa(data)}
    for package in (*PLAIN, *SOURCES):
        form = "source" if package.is_source else "wheel"
        code = fetch_package(package, cache)
        yield package, QuestionSet(f"{package.name}-{form}", code, "function", rows[package.name])


def read_declaration_questions(cache: Path) -> Iterator[tuple[Package, QuestionSet]]:
    """Yield questions whose answer is a constant, field or class, on wheels: a ranker may train on all of them."""
    rows = _read_rows(_DECLARATIONS)
    for package in PLAIN:
        if package.name in rows:
            code = fetch_package(package, cache)
            yield package, QuestionSet(f"{package.name}-wheel", code, "function", rows[package.name])


def _read_rows(file: Path = _QUESTIONS) -> dict[str, tuple[Question, ...]]:
    rows = json.loads(file.read_text(encoding="utf-8"))
    return {name: tuple(Question(row["text"], tuple(row["gold"])) for row in asked) for name, asked in rows.items()}


def _read_librosa(data: Path) -> tuple[Question, ...]:
    lines = (data / _LIBROSA).read_text(encoding="utf-8").splitlines()
    rows = map(json.loads, lines)
    return tuple(Question(row["question"], tuple(f"librosa/{gold}" for gold in row["gold"])) for row in rows)
