"""The CoSQA development questions, as people typed them into a search engine, over its corpus of 6,267 functions."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

from question_sets import Question, QuestionSet
from shared_data import COSQA, COSQA_QUESTIONS, find_files


def read_cosqa_questions(data: Path) -> QuestionSet:
    """Give the questions; a right answer is a row of the corpus, whose docstrings stay in."""
    (corpus,) = find_files(data, COSQA)
    questions, answers = find_files(data, COSQA_QUESTIONS)
    gold: dict[str, list[str]] = defaultdict(list)
    for line in answers.read_text(encoding="utf-8").splitlines()[1:]:
        question, row, score = line.split("\t")
        if int(score):
            gold[question].append(row)
    rows = map(json.loads, questions.read_text(encoding="utf-8").splitlines())
    asked = tuple(Question(row["text"], tuple(gold[row["_id"]])) for row in rows)
    return QuestionSet("cosqa", corpus, "function", asked)
