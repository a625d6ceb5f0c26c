"""Rows of both tasks are read, split by question, and left out with a reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.errors import InputError, PathError
from pkg.lab.tuning.recipes import Task, read_recipe
from pkg.lab.tuning.tuning_rows import Example, TuningRows, read_tuning_rows, split_examples

TINY = read_recipe("tiny")


def read(folder: Path, task: Task, *rows: Any, recipe: Any = TINY) -> TuningRows:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return read_tuning_rows([str(path)], task, recipe)


def list_all(rows: TuningRows) -> list[Example]:
    return sorted([*rows.train, *rows.held_out], key=lambda each: each.answers)


def test_answers_are_read_under_all_their_names(tmp_path: Path) -> None:
    rows = read(
        tmp_path,
        "sft",
        {"question": "q1", "answer": "a1"},
        {"instruction": "q2", "output": "a2", "input": "more"},
        {"instruction": "q3", "response": "a3"},
    )
    assert [(each.prompt[-1]["content"], *each.answers) for each in list_all(rows)] == [
        ("q1", "a1"),
        ("q2\n\nmore", "a2"),
        ("q3", "a3"),
    ]


def test_pairs_are_read_as_texts_and_as_messages(tmp_path: Path) -> None:
    def turn(role: str, text: str) -> list[dict[str, str]]:
        return [{"role": role, "content": text}]

    rows = read(
        tmp_path,
        "dpo",
        {"prompt": "q1", "chosen": "a", "rejected": "b"},
        {"prompt": turn("user", "q2"), "chosen": turn("assistant", "c"), "rejected": turn("assistant", "d")},
    )
    assert [each.answers for each in list_all(rows)] == [("a", "b"), ("c", "d")]
    record = list_all(rows)[1].make_record()
    assert record == {
        "prompt": turn("user", "q2"),
        "chosen": turn("assistant", "c"),
        "rejected": turn("assistant", "d"),
    }


def test_unusable_rows_are_counted_by_reason(tmp_path: Path) -> None:
    good = {"prompt": "q", "chosen": "a", "rejected": "b"}
    rows = read(
        tmp_path,
        "dpo",
        good,
        {**good, "prompt": "other"},
        good,
        {**good, "rejected": "a"},
        {**good, "rejected": ""},
        {"prompt": "q", "chosen": "a"},
        {**good, "prompt": " "},
        {**good, "prompt": "rated", "ratings": [3, 3]},
        {**good, "prompt": "rated", "ratings": {"chosen": 4, "rejected": 4}},
        {**good, "prompt": "cut", "finish": "length"},
    )
    assert rows.left_out == {
        "same as an earlier row": 1,
        "equal answers": 1,
        "one answer alone": 2,
        "no question": 1,
        "equal ratings": 2,
        "cut answer": 1,
    }
    assert len(list_all(rows)) == 2


def test_a_system_message_of_the_recipe_comes_first(tmp_path: Path) -> None:
    recipe = read_recipe("tiny", ["system=Be brief."])
    (row, *_) = read(tmp_path, "sft", {"question": "q", "answer": "a"}, recipe=recipe).train
    assert [turn["role"] for turn in row.list_turns(0)] == ["system", "user", "assistant"]


@pytest.mark.parametrize(
    ("task", "line", "message"),
    [
        ("sft", "{", "line 1: '{' is no JSON object; expected rows with question and answer"),
        ("sft", "[1]", "is no JSON object"),
        ("sft", '{"text": "a"}', "row 1 has text; expected rows with question and answer"),
        ("dpo", '{"question": "q", "answer": "a"}', "row 1 has answer, question; expected rows with prompt, chosen"),
        ("dpo", '{"prompt": "q", "chosen": 1, "rejected": "b"}', "expected rows with prompt, chosen"),
        ("sft", "", "no rows to train on"),
    ],
)
def test_rows_of_another_kind_are_an_error(tmp_path: Path, task: Task, line: str, message: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(line)
    with pytest.raises(InputError) as raised:
        read_tuning_rows([str(path)], task, TINY)
    assert message in str(raised.value)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PathError, match=r"cannot read .*none"):
        read_tuning_rows([str(tmp_path / "none")], "sft", TINY)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.integers(0, 3), st.sampled_from([0.0, 0.05, 0.5]))
def test_a_question_is_on_one_side_whatever_the_order(numbers: list[int], seed: int, share: float) -> None:
    examples = [
        Example(({"role": "user", "content": str(number)},), (str(place),)) for place, number in enumerate(numbers)
    ]
    train, held = split_examples(examples, share, seed)
    questions = [{each.prompt[0]["content"] for each in part} for part in (train, held)]
    assert questions[0].isdisjoint(questions[1])
    assert len(train) + len(held) == len(examples)
    assert train
    different = len({*numbers})
    assert len(questions[1]) == (min(max(1, round(share * different)), different - 1) if share else 0)
    assert split_examples(examples[::-1], share, seed)[1] == held[::-1]
