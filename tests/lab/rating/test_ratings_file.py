"""A ratings file is append-only and survives crashes and damage; its summary has means, decisions and choices."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pkg.errors import InputError, PathError
from pkg.lab.rating.ratings_file import RatingsFile, make_key, summarise_ratings


def rate(item: str, value: int, **more: object) -> dict[str, object]:
    return {"id": item, "rater": "ana", "kind": "pair", "ratings": {"answer": value}, **more}


def test_the_last_rating_counts_and_the_history_is_kept(tmp_path: Path) -> None:
    file = RatingsFile(tmp_path / "out.jsonl")
    for item, value in (("a", 1), ("b", 2), ("a", 9)):
        file.append(rate(item, value))
    assert [row["ratings"] for row in file.read_latest().values()] == [{"answer": 9}, {"answer": 2}]
    assert len((tmp_path / "out.jsonl").read_bytes().splitlines()) == 3


def test_rows_appended_by_another_process_are_read(tmp_path: Path) -> None:
    file, other = RatingsFile(tmp_path / "out.jsonl"), RatingsFile(tmp_path / "out.jsonl")
    file.append(rate("a", 1))
    assert len(file.read_latest()) == 1
    other.append(rate("b", 1))
    assert len(file.read_latest()) == 2


def test_an_incomplete_line_affects_no_other_line(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    file = RatingsFile(path)
    file.append(rate("a", 1))
    path.write_bytes(path.read_bytes() + b'{"id": "b", "rat')
    file.append(rate("c", 3))
    assert [row["id"] for row in file.read_latest().values()] == ["a", "c"]
    assert [skip.path for skip in file.unreadable] == ["line 2"]


def test_the_key_does_not_depend_on_the_sides() -> None:
    row = {"id": "a", "rater": "ana", "kind": "pairwise"}
    keys = {make_key({**row, "systems": [one, other]}) for one, other in (("x", "y"), ("y", "x"))}
    assert len(keys) == 1
    assert make_key({**row, "systems": ["x", "z"]}) not in keys


def test_any_text_can_be_saved_and_read_back(tmp_path: Path) -> None:
    file = RatingsFile(tmp_path / "out.jsonl")
    file.append(rate("a", 1, comment="\0\x1b[31m\u2028 </script> \U0001f600 \ud800"))
    (row,) = file.read_latest().values()
    assert row["comment"] == "\0\x1b[31m\u2028 </script> \U0001f600 ?"


@pytest.mark.skipif(os.name != "posix", reason="a device that is always full")
def test_a_full_disk_is_reported_as_not_saved() -> None:
    with pytest.raises(InputError, match="not saved: cannot write /dev/full"):
        RatingsFile(Path("/dev/full")).append(rate("a", 1))


def test_a_folder_in_place_of_the_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(PathError, match="expected a file of ratings"):
        RatingsFile(tmp_path).read_latest()


def test_a_deleted_file_has_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    file = RatingsFile(path)
    file.append(rate("a", 1))
    assert file.read_latest()
    path.unlink()
    assert file.read_latest() == {}
    file.append(rate("b", 1))
    assert json.loads(path.read_text())["id"] == "b"


def rate_pair(item: str, question: int, answer: int, rater: str = "ana", **more: object) -> dict[str, Any]:
    ratings = {"question": question, "answer": answer}
    return {"id": item, "rater": rater, "kind": "pair", "ratings": ratings, "seconds": 30, **more}


@pytest.mark.parametrize(
    ("ratings", "decision"),
    [
        ([(3, 2)], "drop"), ([(3, 3)], "curate"), ([(5, 5)], "curate"), ([(5, 6)], "keep"), ([(0, 10)], "curate"),
        ([(10, 10), (0, 0)], "curate"), ([(2, 2), (2, 3), (2, 2)], "drop"),
    ],
)  # fmt: skip
def test_pairs_are_decided_by_the_mean_of_all_raters(ratings: list[tuple[int, int]], decision: str) -> None:
    rows = [rate_pair("a", *given, rater=f"r{n}") for n, given in enumerate(ratings)]
    assert list(summarise_ratings(rows))[-1]["decision"] == decision


def test_one_bad_code_mark_drops_the_pair() -> None:
    bad = {"id": "a", "rater": "ben", "kind": "pair", "ratings": {}, "bad_code": True, "seconds": 1}
    head, pair = summarise_ratings([rate_pair("a", 10, 10), bad])
    assert (pair["decision"], pair["score"], pair["raters"]) == ("drop", 10, 2)
    assert (head["bad_code"], head["means"], head["minutes"]) == (1, {"answer": 10, "question": 10}, 0.5)


def test_choices_are_counted_by_system_and_by_side() -> None:
    given = [("A", "x", "y"), ("A", "y", "x"), ("B", "y", "x"), ("C", "x", "y"), ("D", "x", "y")]
    rows = [
        {"id": str(n), "rater": "ana", "kind": "pairwise", "verdict": verdict, "systems": [left, right]}
        for n, (verdict, left, right) in enumerate(given)
    ]
    line = list(summarise_ratings(rows))[1]
    assert line["chosen"] == {"x": 2, "y": 1}
    assert (line["ties"], line["both_wrong"], line["left"], line["ratings"]) == (1, 1, 2, 5)


def test_grades_are_summarised_by_system() -> None:
    rows = [
        {"id": "a", "rater": "ana", "kind": "grade", "system": system, "ratings": {"overall": value}}
        for system, value in (("x", 2), ("x", 5), ("y", 9))
    ]
    assert [(line["system"], line["overall"]) for line in list(summarise_ratings(rows))[1:]] == [("x", 3.5), ("y", 9)]


def test_no_ratings_and_invalid_values_are_summarised() -> None:
    assert next(iter(summarise_ratings([])))["ratings"] == 0
    odd = {"id": "a", "rater": "ana", "kind": "pair", "ratings": {"answer": "nine", "question": float("nan")}}
    assert list(summarise_ratings([odd]))[-1]["decision"] == "drop"
