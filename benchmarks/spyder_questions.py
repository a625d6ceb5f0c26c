"""The SpyderCodeQA questions (Q-01) about Python files, over the sources of spyder that contain those files."""

from __future__ import annotations

import json
from pathlib import Path

from packages import SPYDER, fetch_package
from question_sets import Question, QuestionSet
from shared_data import SPYDER_QUESTIONS, find_files


def read_spyder_questions(data: Path, cache: Path) -> QuestionSet:
    """Return the questions; a right answer is in the file that the question is about.

    Questions about README and other files without Python are left out, because the graph has no code of them.
    """
    (questions,) = find_files(data, SPYDER_QUESTIONS)
    rows = map(json.loads, questions.read_text(encoding="utf-8").splitlines())
    asked = (
        Question(row["question"], (row["path"],), _read_lines(row["meta_data"]))
        for row in rows
        if (row["path"] or "").endswith(".py")
    )
    return QuestionSet("spyder", fetch_package(SPYDER, cache), "function", tuple(asked), is_of_units=True)


def _read_lines(about: dict[str, float | None]) -> tuple[int, int] | None:
    first, last = about["start_line"], about["end_line"]
    return None if first is None or last is None else (int(first), int(last))
