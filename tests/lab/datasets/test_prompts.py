"""The prompts and the question corpus are complete, versioned, and safe against the quoted texts."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from pkg.lab.datasets.prompts import draw_question, list_corpus, name_prompt, render_prompt

WORDS = {
    "explain": ("file_name", "module", "start_line", "end_line", "contains_class", "contains_function", "file_imports",
                "question", "content"),
    "questions": ("file_name", "module", "start_line", "end_line", "content", "explanation"),
    "curate": ("file_name", "start_line", "end_line", "content", "question", "answer"),
    "dependencies": ("path", "table"),
    "meta": ("path", "heading", "content"),
}  # fmt: skip


def test_the_corpus_has_39_different_questions() -> None:
    corpus = list_corpus()
    assert Counter(each.type for each in corpus) == {"syntax": 25, "dependencies": 7, "meta": 7}
    assert len({each.text for each in corpus}) == 39


def test_types_are_drawn_equally_often_and_each_question_can_be_drawn() -> None:
    random = Random(0)
    drawn = Counter(draw_question(random) for _ in range(6000))
    types = Counter[str]()
    for each, times in drawn.items():
        types[each.type] += times
    assert set(drawn) == set(list_corpus())
    assert all(1850 < times < 2150 for times in types.values())


@pytest.mark.parametrize("step", WORDS)
def test_a_prompt_contains_the_inserted_texts_unchanged(step: str) -> None:
    words = {name: f"<{name}> {{braces}} %s {{0}}" for name in WORDS[step]}
    system, user = render_prompt(step, words).messages
    assert (system.role, user.role) == ("system", "user")
    assert all(word in user.content for word in words.values())
    assert name_prompt(step) == f"{step}/2"
