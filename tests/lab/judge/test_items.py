"""Items are read from both row formats; an invalid row is reported and the others are read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pkg.lab.judge.items import Excerpt, parse_item, read_items

ROW: dict[str, Any] = {"id": "q1", "question": "Why?", "reference": "So.", "answers": {"a": "Because.", "b": ""}}


def test_all_fields_of_a_row_are_read() -> None:
    place = {"path": "shop/cart.py", "start_line": 3, "end_line": 5, "content": "def total(): ..."}
    item = parse_item(ROW | {"tests": "assert total() == 1", "type": "syntax", "evidence": [place]})
    assert (item.id, item.question, item.reference, item.type) == ("q1", "Why?", "So.", "syntax")
    assert list(item.answers.items()) == [("a", "Because."), ("b", "")]
    assert item.tests == ("assert total() == 1",)
    assert item.evidence == (Excerpt("shop/cart.py", 3, 5, "def total(): ..."),)


def test_an_annotation_record_is_read() -> None:
    responses = [{"model": "one", "response": "x", "is_cut": True}, {"model": "two", "response": "y", "is_cut": False}]
    item = parse_item({"instruction": "Sort.", "preference": "readability", "responses": responses})
    assert (item.question, item.preference) == ("Sort.", "readability")
    assert item.answers == {"one": "x", "two": "y"}
    assert item.truncated == {"one"}


def test_the_answer_of_a_dataset_row_is_the_reference_and_its_id_a_hash() -> None:
    row = {"question": "What?", "answer": "That.", "type": "meta"}
    assert parse_item(row).reference == "That."
    assert parse_item(row).id == parse_item(dict(row)).id != parse_item(row | {"question": "Which?"}).id


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[1]", "not an object but [1]"),
        ("{", "Expecting property name"),
        ('{"answers": {"a": "x"}}', "no question"),
        ('{"question": 3}', "'question' is 3"),
        ('{"question": "Q", "id": []}', "the id is []"),
        ('{"question": "Q", "answers": {"a": null}}', '"a" answers null'),
        ('{"question": "Q", "answers": ["x"]}', "'answers' is"),
        ('{"question": "Q", "responses": ["x"]}', "a response is"),
        ('{"question": "Q", "answers": {"a": "x"}, "responses": [{"model": "a", "response": "y"}]}', "answers twice"),
        ('{"question": "Q", "tests": [1]}', "'tests' is"),
        ('{"question": "Q", "evidence": [{"path": "a.py"}]}', "evidence is"),
        ('{"question": "Q", "evidence": "a.py"}', "'evidence' is"),
    ],
)
def test_an_invalid_row_is_returned_with_its_reason_and_the_next_is_read(line: str, reason: str) -> None:
    found = read_items([line, "", json.dumps(ROW)])
    assert [item.id for item in found.items] == ["q1"]
    ((path, told),) = [(each.path, each.reason) for each in found.bad]
    assert path == "line 1"
    assert reason in told


def test_a_repeated_id_is_invalid() -> None:
    found = read_items([json.dumps(ROW), json.dumps(ROW)])
    assert [item.id for item in found.items] == ["q1"]
    assert "'q1' occurs twice" in found.bad[0].reason
