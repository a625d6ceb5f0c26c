"""Collect what is excluded from training: every function and every text of the evaluation sets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

from comment_questions import read_comment_questions
from cosqa_questions import read_cosqa_questions
from docstring_questions import read_docstring_questions
from evaluation_code import read_files
from exclusions import Exclusions, normalise_text
from mining import mine_file
from shared_data import QUESTIONS, SPYDER_QUESTIONS, find_files, read_questions, read_rows

from pkg.terms.words import COMPOUNDS_FILE
from pkg.trained import WEIGHTS, read_weights


def read_exclusions(cache: Path, data: Path, work: Path) -> Exclusions:
    """Collect the exclusions, once for each list of words; they are stored in the work folder."""
    target = work / f"exclusions-{blake2b(read_weights(WEIGHTS, COMPOUNDS_FILE), digest_size=6).hexdigest()}.json"
    if not target.exists():
        keys, texts = set[str](), {normalise_text(text) for text in _list_questions(cache, data)}
        for path, text in (*read_files(cache), *_list_rows(data)):
            for each in mine_file(path, text):
                keys.add(each.key)
                texts.update(map(normalise_text, each.paragraphs[:1]))
        unfinished = target.with_suffix(".tmp")
        unfinished.write_text(json.dumps([sorted(keys), sorted(texts - {""})]), encoding="utf-8")
        unfinished.rename(target)
    found_keys, found_texts = json.loads(target.read_text("utf-8"))
    return Exclusions(frozenset(found_keys), frozenset(found_texts))


def _list_questions(cache: Path, data: Path) -> Iterator[str]:
    """Yield the questions of all sets: docstrings, comments, CoSQA, HumanEval, MBPP, SpyderCodeQA."""
    for found in (read_docstring_questions(cache), read_comment_questions(cache), read_cosqa_questions(data)):
        yield from (question.text for question in found.questions)
    yield from read_questions(data)
    (spyder,) = find_files(data, SPYDER_QUESTIONS)
    yield from (json.loads(line)["question"] for line in spyder.read_text("utf-8").splitlines())


def _list_rows(data: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the code of the rows of CoSQA, HumanEval and MBPP."""
    for row in read_rows(read_cosqa_questions(data).code):
        yield "", row["code"].encode()
    humaneval, mbpp = find_files(data, QUESTIONS)
    for row in read_rows(humaneval):
        yield "", (row["prompt"] + row["canonical_solution"]).encode()
    for row in read_rows(mbpp):
        yield "", row["code"].encode()
