"""A ratings file is append-only: the last rating counts, and saved rows survive crashes and damage."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pkg.errors import InputError, PathError
from pkg.lab.rating.ratings_file import RatingsFile, make_key


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
