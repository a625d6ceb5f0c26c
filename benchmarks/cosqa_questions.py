"""The CoSQA development questions, typed by users of a search engine, over its corpus of 6,267 functions (U-05)."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

from question_sets import Question, QuestionSet
from shared_data import COSQA, COSQA_QUESTIONS, find_files, read_rows


def read_cosqa_questions(data: Path) -> QuestionSet:
    """Return the questions; right answers are a row of the corpus, docstrings included, and the rows equal to it."""
    (corpus,) = find_files(data, COSQA)
    questions, judgements = find_files(data, COSQA_QUESTIONS)
    gold: dict[str, list[str]] = defaultdict(list)
    for line in judgements.read_text(encoding="utf-8").splitlines()[1:]:
        question, answer, score = line.split("\t")
        if int(score):
            gold[question].append(answer)
    equals: dict[str, list[str]] = defaultdict(list)
    for row in read_rows(corpus):
        equals[row["code"]].append(row["_id"])
    same = {row: rows for rows in equals.values() for row in rows}
    rows = map(json.loads, questions.read_text(encoding="utf-8").splitlines())
    right = {question: tuple(each for row in answers for each in same[row]) for question, answers in gold.items()}
    asked = tuple(Question(row["text"], right[row["_id"]]) for row in rows)
    return QuestionSet("cosqa", corpus, "function", asked, is_of_units=True)
