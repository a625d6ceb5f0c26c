"""The fields of each row decide how it is rated; invalid rows are reported."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pkg.errors import InputError, PathError
from pkg.lab.rating.rated_items import Mode, RatedItem, read_rated_file

PAIR = {"id": "p", "question": "Why?", "answer": "So."}
TWO = {"id": "t", "question": "Why?", "answer": "ref", "answers": {"x": "1", "y": "2"}}
THREE = {"id": "u", "question": "Why?", "reference": "ref", "answers": {"x": "1", "y": "2", "z": "3"}}
ONE = {"id": "v", "instruction": "Do", "responses": [{"model": "x", "response": "1"}]}


def read_items(folder: Path, *rows: Any, mode: Mode | None = None) -> list[RatedItem]:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return read_rated_file(path, mode).items


@pytest.mark.parametrize(
    ("row", "mode", "expected"),
    [
        (PAIR, None, [("pair", [""])]),
        (TWO, None, [("pairwise", ["x", "y"])]),
        (TWO, "rate", [("pair", [""])]),
        (ONE, None, [("grade", ["x"])]),
        (THREE, "pairwise", [("pairwise", ["x", "y"]), ("pairwise", ["x", "z"]), ("pairwise", ["y", "z"])]),
        (PAIR, "create", [("create", [""])]),
    ],
)
def test_the_fields_of_a_row_decide_how_it_is_rated(tmp_path: Path, row: Any, mode: Mode | None, expected: Any) -> None:
    assert [(item.kind, item.systems) for item in read_items(tmp_path, row, mode=mode)] == expected


def test_three_answers_are_graded_one_by_one_in_a_drawn_order(tmp_path: Path) -> None:
    orders = [[item.systems[0] for item in read_items(tmp_path, {**THREE, "id": f"u{number}"})] for number in range(20)]
    assert {tuple(sorted(order)) for order in orders} == {("x", "y", "z")}
    assert len({tuple(order) for order in orders}) > 1


def test_a_pair_shows_its_place(tmp_path: Path) -> None:
    spyder = {"file_name": "w.py", "module": "spyder.plugins", "start_line": 7.0, "end_line": 9.0}
    lineless = {**spyder, "start_line": float("nan"), "end_line": float("nan")}
    rows = [{**PAIR, "id": "1", "meta_data": spyder}, {**PAIR, "id": "2", "meta_data": lineless}]
    rows += [{**PAIR, "id": "3", "meta_data": spyder, "path": "a/w.py"}]
    places = [item.place for item in read_items(tmp_path, *rows)]
    assert places == ["spyder.plugins w.py:7-9", "spyder.plugins w.py", "a/w.py:7-9"]


def test_invalid_rows_are_reported_and_the_others_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    lines = [
        b"\xef\xbb\xbf" + json.dumps(PAIR).encode(), b"nonsense", b"[1]", b"", b'{"question": "q"}', b'{"answer": "a"}',
        b'{"question": "q", "answers": {"x": 3}}', b'{"question": "q", "answers": {}, "answer": "\xff"}',
        b'{"bad_code": true, "question": "", "answer": ""}', b"[" * 100_000,
    ]  # fmt: skip
    path.write_bytes(b"\r\n".join(lines))
    file = read_rated_file(path)
    assert [item.texts[""] for item in file.items] == ["So.", "\ufffd"]
    assert [skip.path for skip in file.skipped] == [f"line {number}" for number in (2, 3, 5, 6, 7, 9, 10)]
    assert "found: question" in file.skipped[2].reason
    assert "without a question" in file.skipped[5].reason


def test_the_last_row_of_an_id_counts(tmp_path: Path) -> None:
    read_items(tmp_path, PAIR, {**PAIR, "answer": "New."})
    file = read_rated_file(tmp_path / "rows.jsonl")
    assert ([item.texts[""] for item in file.items], file.replaced) == (["New."], 1)


def test_the_computed_id_of_a_row_does_not_depend_on_other_rows(tmp_path: Path) -> None:
    row = {"question": "Why?", "answer": "So."}
    (alone,) = read_items(tmp_path, row)
    assert read_items(tmp_path, PAIR, row)[1].id == alone.id


@pytest.mark.parametrize(
    ("content", "message"), [(b"", "it is empty"), (b"x\n", "the first of 1: line 1: invalid JSON")]
)
def test_a_file_without_items_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "rows.jsonl").write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_rated_file(tmp_path / "rows.jsonl")


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(PathError, match="expected a file of JSON lines"):
        read_rated_file(tmp_path / "none.jsonl")


def test_a_later_change_of_the_file_is_detected(tmp_path: Path) -> None:
    read_items(tmp_path, PAIR)
    file = read_rated_file(tmp_path / "rows.jsonl")
    assert not file.has_changed()
    os.utime(file.path, (1, 1))
    assert file.has_changed()
    file.path.unlink()
    assert file.has_changed()


def test_lone_surrogates_and_nan_do_not_reach_the_page(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": "a\\ud800", "content": "x\\uDFFF\\ud83d\\ude00", "meta_data": {"start_line": NaN}}\n')
    (item,) = read_rated_file(path, "create").items
    assert (item.id, item.texts[""], item.origin["meta_data"]) == ("a?", "x?\U0001f600", {"start_line": None})
