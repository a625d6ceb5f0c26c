"""Pairs are of the highest and the lowest rating, and what is held out once is never trained on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from pkg.errors import InputError
from pkg.lab.datasets.dataset_rows import Row, StepCounts
from pkg.lab.datasets.preference_pairs import (
    CUT,
    DUPLICATE,
    EQUAL,
    HELD_OUT,
    ONE_ANSWER,
    SAME_TEXT,
    UNREAD,
    AnnotatedRecord,
    choose_bench,
    list_held_out,
    make_pairs,
    read_bench,
    read_records,
)


def make_record(
    name: object, ratings: dict[str, Any], preference: str = "style", cut: Sequence[str] = (), text: str = ""
) -> Row:
    return {
        "id": str(name),
        "instruction": f"Write {name}.",
        "preference": preference,
        "models": list(ratings),
        "responses": [
            {"model": model, "response": text or f"{model} writes {name}", "is_cut": model in cut} for model in ratings
        ],
        "annotations": [{"model": model, "rating": rating, "rationale": ""} for model, rating in ratings.items()],
    }


def read(*rows: Row) -> tuple[AnnotatedRecord, ...]:
    found = read_records(map(json.dumps, rows))
    assert found.bad == ()
    return found.items


def pair(*rows: Row, seed: int = 0) -> tuple[list[Row], StepCounts]:
    counts = StepCounts("pairs")
    return list(make_pairs(read(*rows), (), seed, counts)), counts


def test_the_highest_and_the_lowest_rating_form_a_conversation_each() -> None:
    (row,), counts = pair(make_record("f", {"a": 3, "b": 5, "c": 1, "d": "2"}))
    assert row["prompt"] == [{"role": "user", "content": "Write f."}]
    assert row["chosen"] == [{"role": "assistant", "content": "b writes f"}]
    assert row["rejected"] == [{"role": "assistant", "content": "c writes f"}]
    assert (row["models"], row["ratings"]) == ({"chosen": "b", "rejected": "c"}, {"chosen": 5, "rejected": 1})
    assert (row["preference"], row["source"], counts.written) == ("style", "f", 1)


def test_ties_are_drawn_by_the_seed() -> None:
    rows = [make_record(number, {"a": 5, "b": 5, "c": 1, "d": 1}) for number in range(60)]
    drawn = Counter((row["models"]["chosen"], row["models"]["rejected"]) for row in pair(*rows)[0])
    assert set(drawn) == {("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")}
    assert pair(*rows)[0] == pair(*rows)[0] != pair(*rows, seed=1)[0]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (make_record("f", {"a": 3, "b": 3}), EQUAL),
        (make_record("f", {"a": 3, "b": None}), UNREAD),
        (make_record("f", {"a": 3}), ONE_ANSWER),
        (make_record("f", {"a": 3, "b": 5}, cut=("b",)), CUT),
        (make_record("f", {"a": 3, "b": 5}, text="pass"), SAME_TEXT),
    ],
)
def test_a_record_without_a_pair_is_counted_by_its_reason(row: Row, reason: str) -> None:
    rows, counts = pair(row)
    assert (rows, counts.dropped, counts.taken) == ([], {reason: 1}, 1)


def test_a_cut_or_unread_answer_leaves_the_pair_to_the_others() -> None:
    (row,), _ = pair(make_record("f", {"a": 5, "b": 4, "c": None, "d": 2}, cut=("a",)))
    assert row["models"] == {"chosen": "b", "rejected": "d"}


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"instruction": "x", "preference": "style"}, "expected a list of model and rating"),
        (make_record("f", {"a": 3, "b": 5}, preference="speed"), 'the preference is "speed"'),
        (make_record("f", {"a": 3, "b": 9}), "a rating is 9"),
    ],
)
def test_a_row_that_is_no_record_is_named(row: Row, told: str) -> None:
    (bad,) = read_records([json.dumps(row)]).bad
    assert told in str(bad)


def test_a_pair_of_two_equal_records_is_written_once() -> None:
    row = make_record("f", {"a": 5, "b": 1})
    rows, counts = pair(row, {**row, "id": "again"})
    assert (len(rows), counts.dropped) == (1, {DUPLICATE: 1})


RECORDS = read(
    *(
        make_record(f"{name}{number}", {"a": 5, "b": 1}, name)
        for name in ("style", "readability")
        for number in range(9)
    )
)


def hold(records: Sequence[AnnotatedRecord], count: int, known: Sequence[Row] = ()) -> set[str]:
    return list_held_out(choose_bench(records, count, known))


def test_the_bench_has_as_many_instructions_of_each_preference_and_no_pair_has_one() -> None:
    rows = choose_bench(RECORDS, 3)
    assert Counter(row["preference"] for row in rows) == {"style": 3, "readability": 3}
    counts = StepCounts("pairs")
    pairs = list(make_pairs(RECORDS, list_held_out(rows), 0, counts))
    assert (len(pairs), counts.dropped) == (12, {HELD_OUT: 6})
    assert {row["source"] for row in rows}.isdisjoint(row["source"] for row in pairs)
    assert read_bench(map(json.dumps, rows), "bench") == rows


def test_the_bench_does_not_depend_on_the_order_of_the_records_or_on_spaces() -> None:
    assert choose_bench(RECORDS[::-1], 3) == choose_bench(RECORDS, 3)
    spaced = read(make_record("f ", {"a": 5, "b": 1}))[0]
    assert spaced.instruction_hash == read(make_record("f  ", {"a": 5, "b": 1}))[0].instruction_hash


def test_a_training_instruction_never_enters_the_bench_and_a_held_out_one_never_leaves_it() -> None:
    some, every = RECORDS[:5] + RECORDS[9:14], RECORDS
    first = hold(some, 3)
    trained = {record.instruction_hash for record in some} - first
    assert hold(every, 3).isdisjoint(trained)
    known = choose_bench(some, 3)
    assert choose_bench(every, 3, known) == known
    assert hold(every, 5, known) > first
    assert choose_bench(every, 0, known) == known


def test_a_broken_bench_is_an_error_because_its_instructions_would_be_trained_on() -> None:
    with pytest.raises(InputError, match="line 2"):
        read_bench([json.dumps(choose_bench(RECORDS, 1)[0]), '{"instruction": "x"}'], "bench")
