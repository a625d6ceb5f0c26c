"""Raters see items without names of systems; each rating is saved once, with rater, time and duration."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from pkg.errors import InputError
from pkg.lab.rating.rated_items import Mode, read_rated_file
from pkg.lab.rating.rating_task import RatedMeanwhileError, RatingOptions, RatingTask, name_participant
from pkg.lab.rating.ratings_file import RatingsFile

PAIRS = [{"id": f"p{n}", "question": f"q{n}", "answer": f"a{n}"} for n in range(4)]
ANSWERS = [{"id": f"c{n}", "question": "q", "answers": {"secret-one": "1", "secret-two": "2"}} for n in range(40)]


def make_task(folder: Path, rows: list[Any], mode: Mode | None = None, **options: Any) -> RatingTask:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return RatingTask(read_rated_file(path, mode), RatingsFile(folder / "out.jsonl"), RatingOptions(**options))


def rate(question: int, answer: int, **more: object) -> dict[str, Any]:
    return {"ratings": {"question": question, "answer": answer}, "seconds": 3.21, **more}


def read_lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]


def test_a_rating_is_saved_with_rater_time_and_duration(tmp_path: Path) -> None:
    task = make_task(tmp_path, PAIRS)
    task.save("ana", 1, rate(3, 8, comment="short"))
    (row,) = read_lines(tmp_path)
    when = datetime.fromisoformat(row.pop("when").replace("Z", "+00:00"))
    assert abs((datetime.now(when.tzinfo) - when).total_seconds()) < 60
    assert row == {
        "id": "p1", "rater": "ana", "kind": "pair", "ratings": {"question": 3, "answer": 8}, "comment": "short",
        "seconds": 3.2,
    }  # fmt: skip
    assert task.list_done("ana") == [False, True, False, False]
    assert task.list_done("ben") == [False] * 4


def test_an_unchanged_rating_is_written_once(tmp_path: Path) -> None:
    task = make_task(tmp_path, PAIRS)
    first = task.save("ana", 0, rate(3, 8))
    assert task.save("ana", 0, rate(3, 8)) == first
    assert len(read_lines(tmp_path)) == 1


def test_a_new_rating_replaces_a_seen_one_and_the_history_is_kept(tmp_path: Path) -> None:
    task = make_task(tmp_path, PAIRS)
    first = task.save("ana", 0, rate(3, 8, comment="mistake"))
    task.save("ana", 0, rate(3, 8, seen=first["when"]))
    assert [row.get("comment") for row in read_lines(tmp_path)] == ["mistake", None]
    assert task.read_item("ana", 0)["rated"]["ratings"] == {"question": 3, "answer": 8}
    assert [row.get("comment") for row in task.list_rows()] == [None]


def test_a_tab_does_not_replace_an_unseen_rating(tmp_path: Path) -> None:
    task = make_task(tmp_path, PAIRS)
    first = task.save("ana", 0, rate(3, 8))
    with pytest.raises(RatedMeanwhileError) as found:
        task.save("ana", 0, rate(1, 1, seen=None))
    assert found.value.row == first
    assert len(read_lines(tmp_path)) == 1


def test_sides_are_shown_without_names_and_saved_with_them(tmp_path: Path) -> None:
    task = make_task(tmp_path, ANSWERS)
    for number in range(len(ANSWERS)):
        shown = task.read_item("ana", number)
        assert "secret" not in json.dumps(shown)
        task.save("ana", number, {"verdict": "A" if shown["texts"][0] == "1" else "B", "seconds": 1})
    rows = read_lines(tmp_path)
    assert {row["systems"]["AB".index(row["verdict"])] for row in rows} == {"secret-one"}
    assert 10 < sum(row["verdict"] == "A" for row in rows) < 30
    again = make_task(tmp_path, ANSWERS)
    assert [again.read_item("ana", number)["texts"] for number in range(40)] == [
        ["1", "2"] if row["verdict"] == "A" else ["2", "1"] for row in rows
    ]


def test_two_raters_write_two_questions_about_one_snippet(tmp_path: Path) -> None:
    rows = [{"id": "s", "content": "x = 1", "path": "a.py", "type": "snippet", "meta_data": {"start_line": 1}}]
    task = make_task(tmp_path, rows, "create")
    for rater in ("ana", "ben"):
        task.save(rater, 0, {"question": f"{rater}?", "answer": "x.", "seconds": 1})
    written = read_lines(tmp_path)
    assert len({row["id"] for row in written}) == 2
    assert all(row["snippet"] == "s" and row["path"] == "a.py" and row["type"] == "syntax" for row in written)
    pairs = read_rated_file(tmp_path / "out.jsonl").items
    assert [(pair.question, pair.code) for pair in pairs] == [("ana?", "x = 1"), ("ben?", "x = 1")]


def test_the_task_is_done_when_every_rater_has_rated_their_items(tmp_path: Path) -> None:
    task = make_task(tmp_path, PAIRS, raters=("ana", "ben"), overlap=1)
    assert [len(task.list_items(rater)) for rater in ("ana", "ben", "eve")] == [2, 2, 0]
    for rater in ("ana", "ben"):
        for number in range(2):
            assert not task.is_done()
            task.save(rater, number, rate(1, 1))
    assert task.is_done()


def test_ratings_of_other_items_do_not_count(tmp_path: Path) -> None:
    RatingsFile(tmp_path / "out.jsonl").append(
        {"id": "other", "rater": "ana", "kind": "pair", "ratings": {"answer": 1}}
    )
    task = make_task(tmp_path, PAIRS)
    task.save("ana", 0, rate(1, 2))
    assert [row["id"] for row in task.list_rows()] == ["p0"]


def test_an_unknown_item_is_reported(tmp_path: Path) -> None:
    task = make_task(tmp_path, PAIRS)
    with pytest.raises(InputError, match="no item 5 for 'ana'; expected 1 to 4"):
        task.save("ana", 4, rate(1, 1))


def test_participants_are_stored_separately_without_names(tmp_path: Path) -> None:
    path = tmp_path / "people.jsonl"
    task = make_task(tmp_path, PAIRS, participants=path)
    assert task.lacks_participant("ana")
    task.save_participant("ana", {"degree": "master", "field": "biology"})
    assert not task.lacks_participant("ana")
    row = json.loads(path.read_text())
    assert (row["participant"], row["degree"], row["field"]) == (name_participant("ana"), "master", "biology")
    assert "ana" not in path.read_text()
    assert path.stat().st_mode & 0o077 == 0
    with pytest.raises(InputError, match="participants are not recorded"):
        make_task(tmp_path, PAIRS).save_participant("ana", {})
